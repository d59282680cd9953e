/* Deadlocks: what the search finds and the provers decide, on the golden traces and on small ones. */
#include "lib/analysis/analysis.h"
#include "tests/unit/golden.h"
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

/* Are the anomaly's events those of the list, in any order? */
static bool same_set(const struct model *m, const struct anomaly *d, const json_t *set)
{
	size_t i;
	json_t *number;
	bool same = json_array_size(set) == d->event_count;
	json_array_foreach(set, i, number)
	{
		bool there = false;
		for (uint32_t k = 0; k < d->event_count; k++)
			there |= m->events[d->events[k]].number == json_integer_value(number);
		same &= there;
	}
	return same;
}

static void check_golden(struct rt_trace *trace, const json_t *golden, const char *path, void *total)
{
	const json_t *expected = json_object_get(golden, "deadlocks");
	struct analysis *a = analyze(trace, true);
	size_t proved = 0, i;
	for (size_t k = 0; k < a->anomalies.count; k++) {
		const struct anomaly *d = &a->anomalies.items[k];
		ck_assert_msg(d->verdict != VERDICT_PREDICTED, "%s: undecided", path);
		json_t *set;
		bool found = false;
		json_array_foreach(expected, i, set) found |= same_set(a->model, d, set);
		ck_assert_msg(found == (d->verdict == VERDICT_PROVED), "%s: (%u, %u) is %s", path,
		              a->model->events[d->events[0]].number, a->model->events[d->events[1]].number,
		              verdict_name(d->verdict));
		proved += found;
	}
	ck_assert_msg(proved == json_array_size(expected), "%s: %zu deadlocks of %zu", path, proved,
	              json_array_size(expected));
	*(size_t *)total += proved;
	analysis_free(a);
}

START_TEST(every_deadlock_of_the_golden_traces_is_proved_and_nothing_else)
{
	static const char *const folders[] = {"hand", "random"};
	size_t total = 0;
	golden_each(folders[_i], check_golden, &total);
	ck_assert_uint_gt(total, 0);
}
END_TEST

/* Small traces, a line an event: thread, what it does, the object (and a wait's mutex). Lines are source positions. */
struct step {
	unsigned thread, op;
	uint64_t object, arg;
	uint8_t flags;
};

enum { A = 1, B, C, D, G, COND, STEPS_MAX = 64 };

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

#define ACQ(t, l)                                                                                                      \
	{                                                                                                              \
		t, RT_OP_ACQUIRE, l, 0, 0                                                                              \
	}
#define TRY(t, l)                                                                                                      \
	{                                                                                                              \
		t, RT_OP_ACQUIRE, l, 0, RT_F_TIMED                                                                     \
	}
#define SHA(t, l)                                                                                                      \
	{                                                                                                              \
		t, RT_OP_ACQUIRE_SHARED, l, 0, 0                                                                       \
	}
#define REL(t, l)                                                                                                      \
	{                                                                                                              \
		t, RT_OP_RELEASE, l, 0, 0                                                                              \
	}
#define FORK(t, u)                                                                                                     \
	{                                                                                                              \
		t, RT_OP_FORK, u, 0, 0                                                                                 \
	}
#define JOIN(t, u, flags)                                                                                              \
	{                                                                                                              \
		t, RT_OP_JOIN, u, 0, flags                                                                             \
	}
#define MAKE(t, s, value)                                                                                              \
	{                                                                                                              \
		t, RT_OP_SEM_INIT, s, value, 0                                                                         \
	}
#define WAIT(t, s)                                                                                                     \
	{                                                                                                              \
		t, RT_OP_SEM_WAIT, s, 0, 0                                                                             \
	}
#define POST(t, s)                                                                                                     \
	{                                                                                                              \
		t, RT_OP_SEM_POST, s, 0, 0                                                                             \
	}
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

START_TEST(two_threads_that_lock_in_opposite_orders_may_deadlock)
{
	struct fixture f;
	CHECK_DEADLOCKS(&f, 1, NESTED(0, A, B), NESTED(1, B, A));
	ck_assert_int_eq(first_of(&f)->verdict, VERDICT_PROVED);
	ck_assert_str_eq(first_of(&f)->pattern, "cycle-2");
	ck_assert_uint_eq(f.a->model->events[first_of(&f)->events[0]].number, 2);
	ck_assert_uint_eq(f.a->model->events[first_of(&f)->events[1]].number, 6);
	fixture_release(&f);
}
END_TEST

START_TEST(a_cycle_of_three_threads_is_one_deadlock)
{
	struct fixture f;
	CHECK_DEADLOCKS(&f, 1, NESTED(0, A, B), NESTED(1, B, C), NESTED(2, C, A));
	ck_assert_int_eq(first_of(&f)->verdict, VERDICT_PROVED);
	ck_assert_str_eq(first_of(&f)->pattern, "cycle-3");
	fixture_release(&f);
}
END_TEST

START_TEST(one_thread_alone_does_not_deadlock)
{
	struct fixture f;
	CHECK_DEADLOCKS(&f, 0, NESTED(0, A, B), NESTED(0, B, A), ACQ(1, A), REL(1, A));
	fixture_release(&f);
}
END_TEST

START_TEST(a_guard_lock_prevents_a_deadlock)
{
	struct fixture f;
	CHECK_DEADLOCKS(&f, 0, ACQ(0, G), NESTED(0, A, B), REL(0, G), ACQ(1, G), NESTED(1, B, A), REL(1, G));
	fixture_release(&f);
}
END_TEST

START_TEST(a_guard_held_by_readers_prevents_nothing)
{
	struct fixture f;
	CHECK_DEADLOCKS(&f, 1, SHA(0, G), NESTED(0, A, B), REL(0, G), SHA(1, G), NESTED(1, B, A), REL(1, G));
	ck_assert_int_eq(first_of(&f)->verdict, VERDICT_PROVED);
	fixture_release(&f);
}
END_TEST

START_TEST(readers_do_not_wait_for_readers)
{
	struct fixture f;
	CHECK_DEADLOCKS(&f, 0, SHA(0, A), ACQ(0, B), REL(0, B), REL(0, A), ACQ(1, B), SHA(1, A), REL(1, A), REL(1, B));
	fixture_release(&f);
	CHECK_DEADLOCKS(&f, 1, SHA(0, A), ACQ(0, B), REL(0, B), REL(0, A), ACQ(1, B), ACQ(1, A), REL(1, A), REL(1, B));
	ck_assert_int_eq(first_of(&f)->verdict, VERDICT_PROVED);
	fixture_release(&f);
}
END_TEST

START_TEST(a_lock_that_is_only_tried_is_not_waited_for)
{
	struct fixture f;
	CHECK_DEADLOCKS(&f, 0, ACQ(0, A), TRY(0, B), REL(0, B), REL(0, A), NESTED(1, B, A));
	fixture_release(&f);
	CHECK_DEADLOCKS(&f, 1, TRY(0, A), ACQ(0, B), REL(0, B), REL(0, A), NESTED(1, B, A));
	fixture_release(&f);
}
END_TEST

START_TEST(what_fork_and_join_order_does_not_deadlock)
{
	struct fixture f;
	CHECK_DEADLOCKS(&f, 0, NESTED(0, A, B), {0, RT_OP_FORK, 1, 0, 0}, NESTED(1, B, A), {0, RT_OP_JOIN, 1, 0, 0},
	                NESTED(0, A, B));
	fixture_release(&f);
}
END_TEST

START_TEST(a_join_with_a_lock_that_the_thread_takes_may_deadlock)
{
	struct fixture f;
	CHECK_DEADLOCKS(&f, 1, FORK(0, 1), ACQ(1, A), REL(1, A), ACQ(0, A), JOIN(0, 1, 0), REL(0, A));
	ck_assert_int_eq(first_of(&f)->verdict, VERDICT_PROVED);
	ck_assert_str_eq(first_of(&f)->pattern, "cycle-2");
	ck_assert_uint_eq(f.a->model->events[first_of(&f)->events[0]].number, 2);
	ck_assert_uint_eq(f.a->model->events[first_of(&f)->events[1]].number, 5);
	fixture_release(&f);
}
END_TEST

START_TEST(joins_and_locks_may_be_in_one_cycle)
{
	struct fixture f;
	CHECK_DEADLOCKS(&f, 1, FORK(0, 1), FORK(1, 2), ACQ(2, A), REL(2, A), JOIN(1, 2, 0), ACQ(0, A), JOIN(0, 1, 0),
	                REL(0, A));
	ck_assert_int_eq(first_of(&f)->verdict, VERDICT_PROVED);
	ck_assert_str_eq(first_of(&f)->pattern, "cycle-3");
	fixture_release(&f);
	/* The thread that is joined waits for a third one's lock, which waits for the joiner's. */
	CHECK_DEADLOCKS(&f, 1, FORK(0, 1), FORK(0, 2), ACQ(1, B), REL(1, B), NESTED(2, B, A), ACQ(0, A), JOIN(0, 1, 0),
	                REL(0, A), JOIN(0, 2, 0));
	ck_assert_int_eq(first_of(&f)->verdict, VERDICT_PROVED);
	ck_assert_str_eq(first_of(&f)->pattern, "cycle-3");
	fixture_release(&f);
}
END_TEST

START_TEST(a_join_of_a_thread_that_has_taken_the_lock_before_does_not_deadlock)
{
	struct fixture f;
	/* It is created while the lock is held; or it takes the lock before what another join comes after. */
	CHECK_DEADLOCKS(&f, 0, ACQ(0, A), REL(0, A), FORK(0, 1), ACQ(1, A), REL(1, A), JOIN(0, 1, 0), ACQ(0, A),
	                REL(0, A));
	fixture_release(&f);
	CHECK_DEADLOCKS(&f, 0, FORK(0, 1), ACQ(1, A), REL(1, A), FORK(1, 2), JOIN(1, 2, 0),
	                {1, RT_OP_HB_BEFORE, D, 0, 0}, {0, RT_OP_HB_AFTER, D, 0, 0}, ACQ(0, A), JOIN(0, 1, 0),
	                REL(0, A));
	fixture_release(&f);
}
END_TEST

START_TEST(a_join_under_a_guard_deadlocks_at_the_guard_alone)
{
	struct fixture f;
	CHECK_DEADLOCKS(&f, 1, FORK(0, 1), ACQ(1, G), ACQ(1, A), REL(1, A), REL(1, G), ACQ(0, G), ACQ(0, A),
	                JOIN(0, 1, 0), REL(0, A), REL(0, G));
	ck_assert_int_eq(first_of(&f)->verdict, VERDICT_PROVED);
	ck_assert_uint_eq(f.a->model->events[first_of(&f)->events[0]].number, 2);
	fixture_release(&f);
}
END_TEST

START_TEST(a_join_that_may_give_up_does_not_deadlock)
{
	struct fixture f;
	CHECK_DEADLOCKS(&f, 0, FORK(0, 1), ACQ(1, A), REL(1, A), ACQ(0, A), JOIN(0, 1, RT_F_TIMED), REL(0, A));
	fixture_release(&f);
}
END_TEST

START_TEST(a_reader_that_joins_keeps_out_writers_alone)
{
	struct fixture f;
	CHECK_DEADLOCKS(&f, 0, FORK(0, 1), SHA(1, A), REL(1, A), SHA(0, A), JOIN(0, 1, 0), REL(0, A));
	fixture_release(&f);
	CHECK_DEADLOCKS(&f, 1, FORK(0, 1), ACQ(1, A), REL(1, A), SHA(0, A), JOIN(0, 1, 0), REL(0, A));
	ck_assert_int_eq(first_of(&f)->verdict, VERDICT_PROVED);
	fixture_release(&f);
}
END_TEST

START_TEST(a_wait_that_ends_takes_its_mutex_again)
{
	struct fixture f;
	/* Either the lock of B or the end of the wait with it may wait for the second thread. */
	CHECK_DEADLOCKS(&f, 2, ACQ(0, A), ACQ(0, B), {0, RT_OP_WAIT_BEGIN, COND, B, 0}, ACQ(1, B),
	                {1, RT_OP_SIGNAL, COND, 0, 0}, REL(1, B), {0, RT_OP_WAIT_END, COND, B, 0}, REL(0, B), REL(0, A),
	                NESTED(1, B, A));
	ck_assert_uint_eq(f.a->summary[ANOMALY_DEADLOCK][VERDICT_PROVED], 2);
	ck_assert_uint_eq(f.a->model->events[f.a->anomalies.items[1].events[0]].number, 7);
	/* To be at the end of the wait, it must have been woken. */
	const struct schedule *s = f.a->anomalies.items[1].schedule;
	uint32_t done[2] = {0, 0};
	for (uint32_t i = 0; i < s->count; i++)
		done[s->steps[i].thread] = s->steps[i].to + 1;
	ck_assert_uint_ge(done[1], 2);
	fixture_release(&f);
}
END_TEST

#define SIGNAL(t)                                                                                                      \
	{                                                                                                              \
		t, RT_OP_SIGNAL, COND, 0, 0                                                                            \
	}

START_TEST(a_signal_behind_a_lock_that_the_waiting_thread_holds_may_deadlock)
{
	struct fixture f;
	/* A nested monitor: A is held while the thread waits with B. */
	CHECK_DEADLOCKS(&f, 1, ACQ(1, A), REL(1, A), ACQ(0, A), ACQ(0, B), {0, RT_OP_WAIT_BEGIN, COND, B, 0}, SIGNAL(1),
	                {0, RT_OP_WAIT_END, COND, B, 0}, REL(0, B), REL(0, A));
	ck_assert_int_eq(first_of(&f)->verdict, VERDICT_PROVED);
	ck_assert_uint_eq(f.a->model->events[first_of(&f)->events[0]].number, 1);
	ck_assert_uint_eq(f.a->model->events[first_of(&f)->events[1]].number, 7);
	fixture_release(&f);
	/* What the thread signalled before came before the wait. */
	CHECK_DEADLOCKS(&f, 1, SIGNAL(1), ACQ(1, A), REL(1, A), ACQ(0, A), ACQ(0, B), {0, RT_OP_WAIT_BEGIN, COND, B, 0},
	                SIGNAL(1), {0, RT_OP_WAIT_END, COND, B, 0}, REL(0, B), REL(0, A));
	ck_assert_int_eq(first_of(&f)->verdict, VERDICT_PROVED);
	fixture_release(&f);
	/* The signal comes before the lock; another thread may signal; the wait may give up. */
	CHECK_DEADLOCKS(&f, 0, ACQ(0, A), ACQ(0, B), {0, RT_OP_WAIT_BEGIN, COND, B, 0}, SIGNAL(1),
	                {0, RT_OP_WAIT_END, COND, B, 0}, REL(0, B), REL(0, A), ACQ(1, A), REL(1, A));
	fixture_release(&f);
	CHECK_DEADLOCKS(&f, 0, ACQ(1, A), REL(1, A), ACQ(0, A), ACQ(0, B), {0, RT_OP_WAIT_BEGIN, COND, B, 0}, SIGNAL(1),
	                {0, RT_OP_WAIT_END, COND, B, 0}, REL(0, B), REL(0, A), SIGNAL(2));
	fixture_release(&f);
	CHECK_DEADLOCKS(&f, 0, ACQ(1, A), REL(1, A), ACQ(0, A), ACQ(0, B), {0, RT_OP_WAIT_BEGIN, COND, B, 0}, SIGNAL(1),
	                {0, RT_OP_WAIT_END, COND, B, RT_F_TIMED}, REL(0, B), REL(0, A));
	fixture_release(&f);
	/* The lock is the one that the wait gives up. */
	CHECK_DEADLOCKS(&f, 0, ACQ(1, B), REL(1, B), ACQ(0, B), {0, RT_OP_WAIT_BEGIN, COND, B, 0}, SIGNAL(1),
	                {0, RT_OP_WAIT_END, COND, B, 0}, REL(0, B));
	fixture_release(&f);
}
END_TEST

START_TEST(semaphores_that_are_locks_may_deadlock)
{
	struct fixture f;
	CHECK_DEADLOCKS(&f, 1, MAKE(0, A, 1), MAKE(0, B, 1), TAKEN(0, A, B), TAKEN(1, B, A));
	ck_assert_int_eq(first_of(&f)->verdict, VERDICT_PROVED);
	ck_assert_uint_eq(f.a->model->events[first_of(&f)->events[0]].number, 4);
	ck_assert_uint_eq(f.a->model->events[first_of(&f)->events[1]].number, 8);
	fixture_release(&f);
	/* With a lock, which a third thread takes, too. */
	CHECK_DEADLOCKS(&f, 1, MAKE(0, A, 1), WAIT(0, A), ACQ(0, B), REL(0, B), POST(0, A), ACQ(1, B), WAIT(1, A),
	                POST(1, A), REL(1, B), WAIT(2, A), POST(2, A), ACQ(2, B), REL(2, B));
	ck_assert_int_eq(first_of(&f)->verdict, VERDICT_PROVED);
	fixture_release(&f);
	CHECK_DEADLOCKS(&f, 1, MAKE(0, A, 1), MAKE(0, B, 1), MAKE(0, C, 1), TAKEN(0, A, B), TAKEN(1, B, C),
	                TAKEN(2, C, A));
	ck_assert_int_eq(first_of(&f)->verdict, VERDICT_PROVED);
	ck_assert_str_eq(first_of(&f)->pattern, "cycle-3");
	fixture_release(&f);
}
END_TEST

START_TEST(a_semaphore_that_is_no_lock_is_in_no_cycle_of_locks)
{
	struct fixture f;
	/* Two may take it; its first value is unknown; another thread posts it; one that posts did not take it. */
	CHECK_DEADLOCKS(&f, 0, MAKE(0, A, 2), MAKE(0, B, 1), TAKEN(0, A, B), TAKEN(1, B, A));
	fixture_release(&f);
	CHECK_DEADLOCKS(&f, 0, MAKE(0, B, 1), TAKEN(0, A, B), TAKEN(1, B, A));
	fixture_release(&f);
	CHECK_DEADLOCKS(&f, 0, MAKE(0, A, 1), MAKE(0, B, 1), TAKEN(0, A, B), TAKEN(1, B, A), WAIT(0, A), POST(1, A));
	fixture_release(&f);
	CHECK_DEADLOCKS(&f, 0, MAKE(0, A, 1), MAKE(0, B, 1), TAKEN(0, A, B), TAKEN(1, B, A), POST(1, A));
	fixture_release(&f);
	/* It may give up. */
	CHECK_DEADLOCKS(&f, 0, MAKE(0, A, 1), MAKE(0, B, 1), WAIT(0, A), {0, RT_OP_SEM_WAIT, B, 0, RT_F_TIMED},
	                POST(0, B), POST(0, A), TAKEN(1, B, A));
	fixture_release(&f);
}
END_TEST

#define OP(t, op, x, arg)                                                                                              \
	{                                                                                                              \
		t, RT_OP_##op, x, arg, 0                                                                               \
	}

START_TEST(a_once_routine_that_takes_a_lock_may_deadlock)
{
	struct fixture f;
	CHECK_DEADLOCKS(&f, 1, OP(1, ONCE_BEGIN, D, 0), ACQ(1, A), REL(1, A), OP(1, ONCE_END, D, 0), ACQ(0, A),
	                OP(0, ONCE_SEEN, D, 0), REL(0, A));
	ck_assert_int_eq(first_of(&f)->verdict, VERDICT_PROVED);
	ck_assert_uint_eq(f.a->model->events[first_of(&f)->events[0]].number, 2);
	ck_assert_uint_eq(f.a->model->events[first_of(&f)->events[1]].number, 6);
	fixture_release(&f);
	/* Before the routine, or behind it, the lock is nothing to those that wait for the routine. */
	CHECK_DEADLOCKS(&f, 0, ACQ(1, A), REL(1, A), OP(1, ONCE_BEGIN, D, 0), OP(1, ONCE_END, D, 0), ACQ(1, A),
	                REL(1, A), ACQ(0, A), OP(0, ONCE_SEEN, D, 0), REL(0, A));
	fixture_release(&f);
	/* Left by an exception, it is begun again. */
	CHECK_DEADLOCKS(&f, 0, OP(1, ONCE_BEGIN, D, 0), OP(1, HB_BEFORE, D, 0), ACQ(1, A), REL(1, A),
	                OP(1, ONCE_BEGIN, D, 0), OP(1, ONCE_END, D, 0), ACQ(0, A), OP(0, ONCE_SEEN, D, 0), REL(0, A));
	fixture_release(&f);
	/* Two routines that use one another. */
	CHECK_DEADLOCKS(&f, 1, OP(0, ONCE_BEGIN, C, 0), ACQ(0, A), REL(0, A), OP(0, ONCE_END, C, 0),
	                OP(1, ONCE_BEGIN, D, 0), ACQ(1, A), OP(1, ONCE_SEEN, C, 0), REL(1, A), OP(1, ONCE_END, D, 0));
	ck_assert_int_eq(first_of(&f)->verdict, VERDICT_PROVED);
	fixture_release(&f);
}
END_TEST

/* The library sets a guard's first byte, and callers look at that. */
#define INITIALISED(t, x) OP(t, ONCE_END, x, 0), OP(t, ATOMIC_STORE, x, 1)

START_TEST(a_static_local_whose_initialisation_takes_a_lock_may_deadlock)
{
	struct fixture f;
	CHECK_DEADLOCKS(&f, 1, OP(1, ONCE_BEGIN, D, 0), ACQ(1, A), REL(1, A), INITIALISED(1, D), ACQ(0, A),
	                OP(0, ATOMIC_LOAD, D, 1), REL(0, A));
	ck_assert_int_eq(first_of(&f)->verdict, VERDICT_PROVED);
	ck_assert_uint_eq(f.a->model->events[first_of(&f)->events[0]].number, 2);
	ck_assert_uint_eq(f.a->model->events[first_of(&f)->events[1]].number, 7);
	fixture_release(&f);
	/* The thread that does not find it initialised calls, and waits there. It is looked at before the lock, or only
	 * another byte is. */
	CHECK_DEADLOCKS(&f, 1, OP(1, ONCE_BEGIN, D, 0), ACQ(1, A), REL(1, A), OP(1, ONCE_END, D, 0), ACQ(0, A),
	                OP(0, ATOMIC_LOAD, D, 1), OP(0, ONCE_SEEN, D, 0), OP(1, ATOMIC_STORE, D, 1), REL(0, A));
	ck_assert_uint_eq(f.a->model->events[first_of(&f)->events[1]].number, 7);
	fixture_release(&f);
	CHECK_DEADLOCKS(&f, 0, OP(1, ONCE_BEGIN, D, 0), ACQ(1, A), REL(1, A), INITIALISED(1, D),
	                OP(0, ATOMIC_LOAD, D, 1), ACQ(0, A), REL(0, A));
	fixture_release(&f);
	CHECK_DEADLOCKS(&f, 0, OP(1, ONCE_BEGIN, D, 0), ACQ(1, A), REL(1, A), INITIALISED(1, D), ACQ(0, A),
	                OP(0, ATOMIC_LOAD, 0x100, 1), REL(0, A), OP(1, ATOMIC_STORE, 0x100, 1));
	fixture_release(&f);
}
END_TEST

START_TEST(a_post_behind_a_lock_that_the_waiting_thread_holds_may_deadlock)
{
	struct fixture f;
	CHECK_DEADLOCKS(&f, 1, MAKE(0, C, 0), ACQ(1, A), REL(1, A), POST(1, C), ACQ(0, A), WAIT(0, C), REL(0, A));
	ck_assert_int_eq(first_of(&f)->verdict, VERDICT_PROVED);
	ck_assert_uint_eq(f.a->model->events[first_of(&f)->events[1]].number, 6);
	fixture_release(&f);
	/* The post is before the lock; another thread may post, or take what is posted; the first value is unknown, or
	 * it is enough; the wait may give up. */
	CHECK_DEADLOCKS(&f, 0, MAKE(0, C, 0), POST(1, C), ACQ(1, A), REL(1, A), ACQ(0, A), WAIT(0, C), REL(0, A));
	fixture_release(&f);
	CHECK_DEADLOCKS(&f, 0, MAKE(0, C, 0), ACQ(1, A), REL(1, A), POST(1, C), POST(2, C), ACQ(0, A), WAIT(0, C),
	                REL(0, A));
	fixture_release(&f);
	CHECK_DEADLOCKS(&f, 0, MAKE(0, C, 1), WAIT(2, C), ACQ(1, A), REL(1, A), POST(1, C), ACQ(0, A), WAIT(0, C),
	                REL(0, A));
	fixture_release(&f);
	CHECK_DEADLOCKS(&f, 0, ACQ(1, A), REL(1, A), POST(1, C), ACQ(0, A), WAIT(0, C), REL(0, A));
	fixture_release(&f);
	CHECK_DEADLOCKS(&f, 0, MAKE(0, C, 1), ACQ(1, A), REL(1, A), POST(1, C), ACQ(0, A), WAIT(0, C), REL(0, A));
	fixture_release(&f);
	CHECK_DEADLOCKS(&f, 0, MAKE(0, C, 0), ACQ(1, A), REL(1, A), POST(1, C), ACQ(0, A),
	                {0, RT_OP_SEM_WAIT, C, 0, RT_F_TIMED}, REL(0, A));
	fixture_release(&f);
}
END_TEST

START_TEST(a_barrier_behind_a_lock_that_the_waiting_thread_holds_may_deadlock)
{
	struct fixture f;
	CHECK_DEADLOCKS(&f, 1, ACQ(1, A), REL(1, A), OP(1, BARRIER_ARRIVE, C, 2), ACQ(0, A),
	                OP(0, BARRIER_ARRIVE, C, 2), OP(0, BARRIER_LEAVE, C, 0), OP(1, BARRIER_LEAVE, C, 0), REL(0, A));
	ck_assert_int_eq(first_of(&f)->verdict, VERDICT_PROVED);
	fixture_release(&f);
	/* The lock is taken behind it; more threads come there than are parties. */
	CHECK_DEADLOCKS(&f, 0, OP(1, BARRIER_ARRIVE, C, 2), ACQ(0, A), OP(0, BARRIER_ARRIVE, C, 2),
	                OP(0, BARRIER_LEAVE, C, 0), OP(1, BARRIER_LEAVE, C, 0), REL(0, A), ACQ(1, A), REL(1, A));
	fixture_release(&f);
	CHECK_DEADLOCKS(&f, 0, ACQ(1, A), REL(1, A), OP(1, BARRIER_ARRIVE, C, 2), ACQ(0, A),
	                OP(0, BARRIER_ARRIVE, C, 2), OP(0, BARRIER_LEAVE, C, 0), OP(1, BARRIER_LEAVE, C, 0), REL(0, A),
	                OP(2, BARRIER_ARRIVE, C, 2), OP(1, BARRIER_ARRIVE, C, 2), OP(2, BARRIER_LEAVE, C, 0),
	                OP(1, BARRIER_LEAVE, C, 0));
	fixture_release(&f);
}
END_TEST

START_TEST(what_a_read_decides_is_conditional)
{
	/* The second thread locks the other way round only once it has read what the first wrote at the end. */
	struct fixture f;
	CHECK_DEADLOCKS(&f, 1, NESTED(0, A, B), ACQ(0, C), {0, RT_OP_WRITE, 4096, 8, 0}, REL(0, C), ACQ(1, C),
	                {1, RT_OP_READ, 4096, 8, 0}, REL(1, C), NESTED(1, B, A), ACQ(1, C),
	                {1, RT_OP_WRITE, 4096, 8, 0}, REL(1, C));
	ck_assert_int_eq(first_of(&f)->verdict, VERDICT_CONDITIONAL);
	fixture_release(&f);
}
END_TEST

START_TEST(deadlocks_of_the_same_positions_are_counted_together)
{
	static const struct step steps[] = {NESTED(0, A, B), NESTED(0, A, B), NESTED(1, B, A),
	                                    NESTED(1, B, A), NESTED(2, B, A), NESTED(0, A, B)};
	struct fixture f;
	fixture_init(&f, steps, sizeof steps / sizeof *steps, true);
	ck_assert_uint_eq(f.a->anomalies.count, 1);
	ck_assert_uint_eq(first_of(&f)->count, 9);
	ck_assert_int_eq(first_of(&f)->verdict, VERDICT_PROVED);
	fixture_release(&f);
}
END_TEST

enum { ROUNDS = 170, MANY_EVENTS = 2 * (2 * ROUNDS + 2) };

/* Thread t takes the first lock, and in it the second many times, each time somewhere else. */
static size_t add_rounds(struct rt_event *events, size_t n, uint32_t thread, uint64_t first, uint64_t second)
{
	events[n++] = (struct rt_event){.op = RT_OP_ACQUIRE, .addr = first, .thread = thread};
	for (uint64_t i = 0; i < ROUNDS; i++) {
		events[n++] = (struct rt_event){
		    .op = RT_OP_ACQUIRE, .addr = second, .thread = thread, .pc = 1000 * (thread + 1u) + i};
		events[n++] = (struct rt_event){.op = RT_OP_RELEASE, .addr = second, .thread = thread};
	}
	events[n++] = (struct rt_event){.op = RT_OP_RELEASE, .addr = first, .thread = thread};
	return n;
}

START_TEST(no_more_deadlocks_are_kept_than_other_anomalies)
{
	static struct rt_event events[MANY_EVENTS];
	struct memory_trace memory;
	struct analysis *a;
	struct rt_error err = {0};
	struct analysis_options options = {.kinds = 1u << ANOMALY_DEADLOCK, .unproved = true};
	size_t n = add_rounds(events, add_rounds(events, 0, 0, A, B), 1, B, A);
	for (size_t i = 0; i < n; i++)
		events[i].number = i + 1;
	ck_assert_msg(!analysis_run(memory_trace(&memory, events, n, 2), &options, &a, &err), "%s", err.message);
	ck_assert_uint_gt(ROUNDS * ROUNDS, limit_infos[LIMIT_ANOMALIES].value);
	ck_assert_uint_eq(a->anomalies.count, limit_infos[LIMIT_ANOMALIES].value);
	ck_assert(a->limits.hit >> LIMIT_ANOMALIES & 1);
	analysis_free(a);
}
END_TEST

START_TEST(a_cycle_of_too_many_instances_is_said_to_have_more)
{
	enum { THREADS = 6, PAIRS = 14, STEPS = 4 }; /* 14^6 tuples */
	static struct rt_event events[THREADS * PAIRS * STEPS];
	static struct memory_trace memory;
	static const enum rt_op ops[STEPS] = {RT_OP_ACQUIRE, RT_OP_ACQUIRE, RT_OP_RELEASE, RT_OP_RELEASE};
	struct analysis_options options = {.kinds = 1u << ANOMALY_DEADLOCK};
	struct rt_error err = {0};
	struct analysis *a = NULL;
	uint32_t n = 0;
	for (uint32_t t = 0; t < THREADS; t++)
		for (uint32_t i = 0; i < PAIRS * STEPS; i++, n++) {
			uint32_t step = i % STEPS;
			bool inner = step == 1 || step == 2;
			events[n] = (struct rt_event){.number = n + 1,
			                              .thread = t,
			                              .op = ops[step],
			                              .addr = 100 + (inner ? (t + 1) % THREADS : t),
			                              .pc = t * STEPS + step + 1};
		}
	ck_assert_msg(!analysis_run(memory_trace(&memory, events, n, THREADS), &options, &a, &err), "%s", err.message);
	ck_assert_uint_eq(a->anomalies.count, 1);
	ck_assert_uint_eq(a->anomalies.items[0].event_count, THREADS);
	ck_assert_uint_eq(a->anomalies.items[0].verdict, VERDICT_PROVED);
	ck_assert(a->anomalies.items[0].partial);
	analysis_free(a);
}
END_TEST

SUITE(deadlock)
{
	Suite *s = suite_create("deadlock");
	TCase *c = tcase_create("search");
	tcase_add_loop_test(c, every_deadlock_of_the_golden_traces_is_proved_and_nothing_else, 0, 2);
	tcase_add_test(c, two_threads_that_lock_in_opposite_orders_may_deadlock);
	tcase_add_test(c, a_cycle_of_three_threads_is_one_deadlock);
	tcase_add_test(c, one_thread_alone_does_not_deadlock);
	tcase_add_test(c, a_guard_lock_prevents_a_deadlock);
	tcase_add_test(c, a_guard_held_by_readers_prevents_nothing);
	tcase_add_test(c, readers_do_not_wait_for_readers);
	tcase_add_test(c, a_lock_that_is_only_tried_is_not_waited_for);
	tcase_add_test(c, what_fork_and_join_order_does_not_deadlock);
	tcase_add_test(c, a_join_with_a_lock_that_the_thread_takes_may_deadlock);
	tcase_add_test(c, joins_and_locks_may_be_in_one_cycle);
	tcase_add_test(c, a_join_of_a_thread_that_has_taken_the_lock_before_does_not_deadlock);
	tcase_add_test(c, a_join_under_a_guard_deadlocks_at_the_guard_alone);
	tcase_add_test(c, a_join_that_may_give_up_does_not_deadlock);
	tcase_add_test(c, a_reader_that_joins_keeps_out_writers_alone);
	tcase_add_test(c, a_wait_that_ends_takes_its_mutex_again);
	tcase_add_test(c, a_signal_behind_a_lock_that_the_waiting_thread_holds_may_deadlock);
	tcase_add_test(c, semaphores_that_are_locks_may_deadlock);
	tcase_add_test(c, a_semaphore_that_is_no_lock_is_in_no_cycle_of_locks);
	tcase_add_test(c, a_once_routine_that_takes_a_lock_may_deadlock);
	tcase_add_test(c, a_static_local_whose_initialisation_takes_a_lock_may_deadlock);
	tcase_add_test(c, a_post_behind_a_lock_that_the_waiting_thread_holds_may_deadlock);
	tcase_add_test(c, a_barrier_behind_a_lock_that_the_waiting_thread_holds_may_deadlock);
	tcase_add_test(c, what_a_read_decides_is_conditional);
	tcase_add_test(c, no_more_deadlocks_are_kept_than_other_anomalies);
	tcase_add_test(c, deadlocks_of_the_same_positions_are_counted_together);
	tcase_add_test(c, a_cycle_of_too_many_instances_is_said_to_have_more);
	suite_add_tcase(s, c);
	return s;
}
