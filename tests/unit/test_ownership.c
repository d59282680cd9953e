/*
 * Object race detection on random traces: what is left out has no race. Each race of the analysis by bytes that is
 * observed, proved or predicted is one of the analysis by objects, and nothing is proved there.
 */
#include "lib/analysis/analysis.h"
#include "lib/trace/ownership.h"
#include "tests/unit/random_trace.h"
#include "tests/unit/suite.h"

static const unsigned mixes[] = {
    ORACLE_LOCKS,
    ORACLE_LOCKS | ORACLE_FORKS,
    ORACLE_LOCKS | ORACLE_READERS | ORACLE_FORKS,
    ORACLE_LOCKS | ORACLE_CONDITIONS | ORACLE_FORKS,
    ORACLE_LOCKS | ORACLE_ATOMICS | ORACLE_HALF_ACCESSES,
    ORACLE_LOCKS | ORACLE_READERS | ORACLE_CONDITIONS | ORACLE_FORKS | ORACLE_STRAYS,
    ORACLE_ALL,
};
enum { TRACES = 20000, MIXES = sizeof mixes / sizeof *mixes };

/* The oracle's variables are next to each other: each becomes an object. */
static void spread(struct oracle_trace *t)
{
	for (int i = 0; i < t->count; i++) {
		struct rt_event *e = &t->events[i];
		if (rt_op_is_access(e->op) && e->op != RT_OP_FENCE)
			e->addr = e->addr / 8 * 128 + e->addr % 8;
	}
}

/* memory is the trace, which the analysis borrows. */
static struct analysis *analyze(struct memory_trace *memory, const struct oracle_trace *t, bool objects)
{
	struct analysis *a;
	struct rt_error err = {0};
	struct analysis_options options = {
	    .every = true, .kinds = 1u << ANOMALY_RACE | 1u << ANOMALY_DEADLOCK, .model.objects = objects};
	ck_assert_msg(analysis_run(random_trace(memory, t), &options, &a, &err) == RT_OK, "%s", err.message);
	return a;
}

static bool has_race(const struct analysis *a, uint32_t n1, uint32_t n2)
{
	for (size_t i = 0; i < a->anomalies.count; i++) {
		const struct anomaly *x = &a->anomalies.items[i];
		if (x->kind != ANOMALY_RACE || x->event_count != 2)
			continue;
		uint32_t m1 = a->model->events[x->events[0]].number, m2 = a->model->events[x->events[1]].number;
		if ((m1 == n1 && m2 == n2) || (m1 == n2 && m2 == n1))
			return true;
	}
	return false;
}

START_TEST(no_race_of_bytes_is_missed)
{
	static struct oracle_trace t;
	uint64_t races = 0, fewer = 0;
	for (uint64_t seed = 1; seed <= random_seeds(TRACES, MIXES); seed++) {
		static struct memory_trace memory[2];
		oracle_random(&t, seed * 131 + (uint64_t)_i * 7000003, mixes[_i], 10 + (int)(seed % 16));
		if (seed % 4)
			spread(&t);
		struct analysis *bytes = analyze(&memory[0], &t, false), *objects = analyze(&memory[1], &t, true);
		fewer += objects->model->event_count < bytes->model->event_count;
		for (size_t i = 0; i < bytes->anomalies.count; i++) {
			const struct anomaly *x = &bytes->anomalies.items[i];
			if (x->kind != ANOMALY_RACE || x->event_count != 2 || x->verdict < VERDICT_PREDICTED ||
			    anomaly_is_alloc_race(bytes->model, x))
				continue;
			uint32_t n1 = bytes->model->events[x->events[0]].number,
			         n2 = bytes->model->events[x->events[1]].number;
			races++;
			ck_assert_msg(has_race(objects, n1, n2), "events %u and %u are missed in\n%s", n1, n2,
			              random_text(&t));
		}
		for (size_t i = 0; i < objects->anomalies.count; i++)
			ck_assert_msg(objects->anomalies.items[i].verdict != VERDICT_PROVED, "proved in\n%s",
			              random_text(&t));
		analysis_free(bytes);
		analysis_free(objects);
	}
	assert_enough(races, 100, TRACES);
	if (mixes[_i] == ORACLE_LOCKS)
		assert_enough(fewer, 10, TRACES);
}
END_TEST

/* One block and its fields; x: another object. Threads 1 and 2 are forked by 0. */
static const struct {
	const char *what;
	bool fails;
	struct rt_event events[12];
} rules[] = {
    {"the owner's accesses before the creation do not count",
     false,
     {{.op = RT_OP_ALLOC, .addr = 4096, .arg = 32},
      {.op = RT_OP_WRITE, .addr = 4096, .arg = 4},
      {.op = RT_OP_FORK, .addr = 1},
      {.op = RT_OP_ACQUIRE, .thread = 1, .addr = 64},
      {.op = RT_OP_WRITE, .thread = 1, .addr = 4096, .arg = 4},
      {.op = RT_OP_RELEASE, .thread = 1, .addr = 64}}},
    {"those after it do",
     true,
     {{.op = RT_OP_FORK, .addr = 1},
      {.op = RT_OP_ALLOC, .addr = 4096, .arg = 32},
      {.op = RT_OP_WRITE, .addr = 4096, .arg = 4},
      {.op = RT_OP_ACQUIRE, .thread = 1, .addr = 64},
      {.op = RT_OP_WRITE, .thread = 1, .addr = 4096, .arg = 4},
      {.op = RT_OP_RELEASE, .thread = 1, .addr = 64}}},
    {"a thread that was created earlier may meet them",
     true,
     {{.op = RT_OP_FORK, .addr = 2},
      {.op = RT_OP_WRITE, .addr = 4096, .arg = 4},
      {.op = RT_OP_FORK, .addr = 1},
      {.op = RT_OP_ACQUIRE, .thread = 1, .addr = 64},
      {.op = RT_OP_WRITE, .thread = 1, .addr = 4096, .arg = 4},
      {.op = RT_OP_RELEASE, .thread = 1, .addr = 64},
      {.op = RT_OP_ACQUIRE, .thread = 2, .addr = 64},
      {.op = RT_OP_READ, .thread = 2, .addr = 4096, .arg = 4},
      {.op = RT_OP_RELEASE, .thread = 2, .addr = 64}}},
    {"two fields of one block are one object",
     true,
     {{.op = RT_OP_ALLOC, .addr = 4096, .arg = 512},
      {.op = RT_OP_FORK, .addr = 1},
      {.op = RT_OP_FORK, .addr = 2},
      {.op = RT_OP_WRITE, .thread = 1, .addr = 4096, .arg = 4},
      {.op = RT_OP_WRITE, .thread = 2, .addr = 4096 + 256, .arg = 4}}},
    {"two blocks are two",
     false,
     {{.op = RT_OP_ALLOC, .addr = 4096, .arg = 256},
      {.op = RT_OP_ALLOC, .addr = 4096 + 256, .arg = 256},
      {.op = RT_OP_FORK, .addr = 1},
      {.op = RT_OP_FORK, .addr = 2},
      {.op = RT_OP_WRITE, .thread = 1, .addr = 4096, .arg = 4},
      {.op = RT_OP_WRITE, .thread = 2, .addr = 4096 + 256, .arg = 4}}},
    {"who writes must not hold the lock as a reader",
     true,
     {{.op = RT_OP_FORK, .addr = 1},
      {.op = RT_OP_ACQUIRE_SHARED, .addr = 64},
      {.op = RT_OP_READ, .addr = 4096, .arg = 4},
      {.op = RT_OP_RELEASE, .addr = 64},
      {.op = RT_OP_ACQUIRE_SHARED, .thread = 1, .addr = 64},
      {.op = RT_OP_WRITE, .thread = 1, .addr = 4096, .arg = 4},
      {.op = RT_OP_RELEASE, .thread = 1, .addr = 64}}},
    {"memory that is mapped twice is one object",
     true,
     {{.op = RT_OP_ALIAS, .addr = 8192, .arg = 4096, .value = 4096, .flags = RT_F_VALUE},
      {.op = RT_OP_FORK, .addr = 1},
      {.op = RT_OP_FORK, .addr = 2},
      {.op = RT_OP_WRITE, .thread = 1, .addr = 4096, .arg = 4},
      {.op = RT_OP_WRITE, .thread = 2, .addr = 8192, .arg = 4}}},
    {"memory that is only read has no race",
     false,
     {{.op = RT_OP_WRITE, .addr = 4096, .arg = 4},
      {.op = RT_OP_FORK, .addr = 1},
      {.op = RT_OP_READ, .thread = 1, .addr = 4096, .arg = 4},
      {.op = RT_OP_READ, .addr = 4096, .arg = 4}}},
};

START_TEST(objects_keep_the_rule_or_fail)
{
	struct memory_trace memory;
	struct ownership *o;
	struct rt_error err = {0};
	static struct rt_event events[12];
	size_t n = 0;
	for (; n < 12 && rules[_i].events[n].op; n++) {
		events[n] = rules[_i].events[n];
		events[n].number = n + 1;
	}
	ck_assert_msg(ownership_create(memory_trace(&memory, events, n, 3), &o, &err) == RT_OK, "%s", err.message);
	ck_assert_msg(ownership_fails(o, 4096, 4) == rules[_i].fails, "%s", rules[_i].what);
	ck_assert(!ownership_fails(o, 1 << 20, 4));
	ownership_free(o);
}
END_TEST

SUITE(ownership)
{
	Suite *s = suite_create("ownership");
	TCase *t = tcase_create("objects");
	tcase_set_timeout(t, 600);
	tcase_add_loop_test(t, objects_keep_the_rule_or_fail, 0, sizeof rules / sizeof *rules);
	tcase_add_loop_test(t, no_race_of_bytes_is_missed, 0, MIXES);
	suite_add_tcase(s, t);
	return s;
}
