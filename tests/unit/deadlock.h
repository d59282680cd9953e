/* Small traces with deadlocks, written as steps, and their analysis. */
#ifndef TESTS_UNIT_DEADLOCK_H
#define TESTS_UNIT_DEADLOCK_H

#include "lib/analysis/analysis.h"
#include "tests/unit/memory_trace.h"
#include "tests/unit/suite.h"

static struct analysis *analyze(struct rt_trace *trace, bool every)
{
	struct rt_error err = {0};
	struct analysis *a = NULL;
	struct analysis_options options = {.kinds = 1u << ANOMALY_DEADLOCK, .every = every};
	ck_assert_msg(analysis_run(trace, &options, &a, &err) == RT_OK, "%s", err.message);
	return a;
}

/* Small traces, a line an event: thread, what it does, the object (and a wait's mutex). Lines are source positions. */
struct step {
	unsigned thread, op;
	uint64_t object, arg;
	uint8_t flags;
};

enum { A = 1, B, C, D, G, COND, STEPS_MAX = 72 };

struct fixture {
	struct memory_trace memory;
	struct rt_event events[STEPS_MAX];
	struct analysis *a;
};

/* Positions begin anew with each event of a thread if same_positions; else they are the events' numbers. */
static void fixture_init(struct fixture *f, const struct step *steps, size_t count, bool same_positions)
{
	memset(f, 0, sizeof *f);
	for (size_t i = 0; i < count; i++) {
		uint64_t pc = same_positions ? steps[i].object * 64 + steps[i].op : i + 1;
		f->events[i] = (struct rt_event){.number = i + 1,
		                                 .addr = steps[i].object,
		                                 .arg = steps[i].arg,
		                                 .pc = pc,
		                                 .thread = steps[i].thread,
		                                 .order = rt_op_is_atomic(steps[i].op) ? __ATOMIC_SEQ_CST : 0,
		                                 .op = (uint8_t)steps[i].op,
		                                 .flags = steps[i].flags};
	}
	f->a = analyze(memory_trace(&f->memory, f->events, count, 8), false);
}

static void fixture_release(struct fixture *f)
{
	analysis_free(f->a);
}

#define STEP(...)                                                                                                      \
	{                                                                                                              \
		__VA_ARGS__                                                                                            \
	}
#define ACQ(t, l) STEP(t, RT_OP_ACQUIRE, l, 0, 0)
#define TRY(t, l) STEP(t, RT_OP_ACQUIRE, l, 0, RT_F_TIMED)
#define SHA(t, l) STEP(t, RT_OP_ACQUIRE_SHARED, l, 0, 0)
#define REL(t, l) STEP(t, RT_OP_RELEASE, l, 0, 0)
#define FORK(t, u) STEP(t, RT_OP_FORK, u, 0, 0)
#define JOIN(t, u, flags) STEP(t, RT_OP_JOIN, u, 0, flags)
#define MAKE(t, s, value) STEP(t, RT_OP_SEM_INIT, s, value, 0)
#define WAIT(t, s) STEP(t, RT_OP_SEM_WAIT, s, 0, 0)
#define POST(t, s) STEP(t, RT_OP_SEM_POST, s, 0, 0)
#define TAKEN(t, s, k) WAIT(t, s), WAIT(t, k), POST(t, k), POST(t, s)
#define NESTED(t, l, k) ACQ(t, l), ACQ(t, k), REL(t, k), REL(t, l)

/* Analyzes the steps; fails unless there are `count` deadlocks, and returns the first. */
#define CHECK_DEADLOCKS(f, n, ...)                                                                                     \
	do {                                                                                                           \
		static const struct step steps[] = {__VA_ARGS__};                                                      \
		fixture_init(f, steps, sizeof steps / sizeof *steps, false);                                           \
		ck_assert_uint_eq((f)->a->anomalies.count, n);                                                         \
	} while (0)

static const struct anomaly *first_of(const struct fixture *f)
{
	return &f->a->anomalies.items[0];
}

#endif
