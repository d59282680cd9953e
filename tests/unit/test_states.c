/*
 * Visiting every state: for all conflicting pairs of the golden traces at once, and of random ones against the oracle,
 * it meets what is predictable and nothing else; what it meets it shows with a schedule that the judge accepts.
 */
#include "lib/analysis/analysis.h"
#include "lib/prove/states.h"
#include "tests/unit/golden.h"
#include "tests/unit/random_trace.h"
#include "tests/unit/subject.h"
#include "tests/unit/suite.h"

enum { GOALS = 100000 };

/* A trace and goals to look for in it. */
struct visited {
	struct subject s;
	struct states_goal *goals;
	uint32_t count;
};

static void visited_init(struct visited *v, struct rt_trace *trace)
{
	subject_init(&v->s, trace);
	v->goals = calloc(GOALS, sizeof *v->goals);
	ck_assert_ptr_nonnull(v->goals);
	v->count = 0;
}

static void visited_release(struct visited *v)
{
	for (uint32_t i = 0; i < v->count; i++)
		schedule_release(&v->goals[i].schedule);
	free(v->goals);
	subject_release(&v->s);
}

static void add_goal(struct visited *v, enum goal_kind kind, uint32_t e1, uint32_t e2)
{
	ck_assert_uint_lt(v->count, GOALS);
	v->goals[v->count++].goal = (struct goal){.kind = kind, .count = 2, .events = {e1, e2}};
}

/* All conflicting pairs, whatever orders them. */
static void add_races(struct visited *v)
{
	const struct model *m = v->s.m;
	for (uint32_t a = 0; a < m->event_count; a++)
		for (uint32_t b = a + 1; b < m->event_count; b++)
			if (subject_conflict(m, a, b))
				add_goal(v, GOAL_RACE, a, b);
}

/* All pairs of acquires, each of what the other one's thread holds. */
static void add_deadlocks(struct visited *v)
{
	const struct model *m = v->s.m;
	for (uint32_t a = 0; a < m->event_count; a++)
		for (uint32_t b = a + 1; b < m->event_count; b++)
			if (subject_deadlock(m, a, b))
				add_goal(v, GOAL_DEADLOCK, a, b);
}

static enum search_answer visit(struct visited *v, const struct states_limits *limits)
{
	struct states_count counts;
	return states_visit(&v->s.facts, facts_trf(&v->s.facts), NULL, limits, v->goals, v->count, &counts);
}

/* Visits, and has the judge look at what was met. */
static void visit_all(struct visited *v)
{
	enum search_answer answer = visit(v, &(struct states_limits){100000000, STATES_MAX});
	ck_assert(answer == SEARCH_FOUND || answer == SEARCH_NONE);
	for (uint32_t i = 0; i < v->count; i++) {
		struct verdict_of_judge verdict = {.fault = VERIFY_NONE};
		if (v->goals[i].met)
			judge_verify(v->s.judge, &v->goals[i].schedule, &v->goals[i].goal, &verdict);
		ck_assert_msg(verdict.fault == VERIFY_NONE, "%s", verify_fault_text(verdict.fault));
	}
}

static void compare_met(struct rt_trace *trace, const json_t *golden, const char *path, void *data)
{
	struct visited v;
	(void)data;
	visited_init(&v, trace);
	add_races(&v);
	add_deadlocks(&v);
	visit_all(&v);
	for (uint32_t i = 0; i < v.count; i++) {
		const struct goal *g = &v.goals[i].goal;
		const char *list = g->kind == GOAL_RACE ? "predictable" : "deadlocks";
		ck_assert_msg(v.goals[i].met == golden_has(json_object_get(golden, list), v.s.m, g->events, 2),
		              "%s: %s (%u, %u)", path, v.goals[i].met ? "meets" : "misses",
		              v.s.m->events[g->events[0]].number, v.s.m->events[g->events[1]].number);
	}
	visited_release(&v);
}

START_TEST(the_states_meet_what_is_predictable_and_nothing_else)
{
	ck_assert_int_eq(golden_each("hand", compare_met, NULL), 54);
	ck_assert_int_eq(golden_each("random", compare_met, NULL), 200);
}
END_TEST

/* kinds: 0 for all. */
static struct analysis *analyze(struct rt_trace *trace, uint32_t kinds, bool every, bool exhaustive)
{
	struct rt_error err = {0};
	struct analysis *a = NULL;
	struct analysis_options options = {.kinds = kinds, .every = every, .exhaustive = exhaustive};
	ck_assert_msg(analysis_run(trace, &options, &a, &err) == RT_OK, "%s", err.message);
	return a;
}

/* Every verdict on a pair is the expected one, and the list has all that are predictable. */
static void compare_verdicts(struct rt_trace *trace, const json_t *golden, const char *path, void *data)
{
	(void)data;
	struct analysis *a = analyze(trace, 0, true, true);
	const json_t *predictable = json_object_get(golden, "predictable");
	size_t found = 0;
	ck_assert(!a->anomalies.count || (a->proofs.visited && a->proofs.all));
	ck_assert_uint_eq(a->proofs.rejected, 0);
	ck_assert_uint_eq(a->proofs.undecided, 0);
	for (size_t i = 0; i < a->anomalies.count; i++) {
		const struct anomaly *r = &a->anomalies.items[i];
		bool shown = r->verdict >= VERDICT_PROVED;
		if (r->kind != ANOMALY_RACE)
			continue;
		ck_assert(shown || r->verdict <= VERDICT_CONDITIONAL);
		ck_assert_msg(shown == golden_has(predictable, a->model, r->events, 2), "%s: (%u, %u) is %s", path,
		              a->model->events[r->events[0]].number, a->model->events[r->events[1]].number,
		              verdict_name(r->verdict));
		found += shown;
	}
	ck_assert_uint_eq(found, json_array_size(predictable));
	analysis_free(a);
}

START_TEST(analyze_exhaustive_decides_every_pair)
{
	ck_assert_int_eq(golden_each("hand", compare_verdicts, NULL), 54);
	ck_assert_int_eq(golden_each("random", compare_verdicts, NULL), 200);
}
END_TEST

/* By source positions there are as many anomalies of each verdict as without the option. */
static void compare_folded(struct rt_trace *trace, const json_t *golden, const char *path, void *data)
{
	(void)golden;
	(void)data;
	struct analysis *a = analyze(trace, 0, false, true), *b = analyze(trace, 0, false, false);
	ck_assert_msg(a->anomalies.count == b->anomalies.count, "%s: %zu anomalies, not %zu", path, a->anomalies.count,
	              b->anomalies.count);
	for (int kind = 0; kind < ANOMALY_KINDS; kind++)
		for (int v = 0; v < VERDICTS; v++)
			ck_assert_msg(a->summary[kind][v] == b->summary[kind][v], "%s: %lu %s %s, not %lu", path,
			              (unsigned long)a->summary[kind][v], anomaly_kind_name((enum anomaly_kind)kind),
			              verdict_name((enum verdict)v), (unsigned long)b->summary[kind][v]);
	uint64_t pairs[2] = {0, 0};
	for (size_t i = 0; i < a->anomalies.count; i++) {
		pairs[0] += a->anomalies.items[i].count;
		pairs[1] += b->anomalies.items[i].count;
	}
	ck_assert_uint_eq(pairs[0], pairs[1]);
	analysis_free(a);
	analysis_free(b);
}

START_TEST(races_of_the_same_source_positions_are_one_anomaly_all_the_same)
{
	golden_each("hand", compare_folded, NULL);
	golden_each("random", compare_folded, NULL);
}
END_TEST

/* Traces of 600 to 800 events and up to 27 threads are small enough; every fifth is taken. */
static void compare_injected(struct rt_trace *trace, const uint32_t numbers[2], const char *path, void *data)
{
	(void)numbers;
	if ((*(int *)data)++ % 5)
		return;
	struct analysis *a = analyze(trace, 1u << ANOMALY_RACE, true, true),
	                *b = analyze(trace, 1u << ANOMALY_RACE, true, false);
	ck_assert(a->proofs.all);
	ck_assert_uint_eq(a->anomalies.count, b->anomalies.count);
	for (size_t i = 0; i < a->anomalies.count; i++) {
		const struct anomaly *x = &a->anomalies.items[i], *y = &b->anomalies.items[i];
		ck_assert_msg(x->verdict == y->verdict && x->events[0] == y->events[0] && x->events[1] == y->events[1],
		              "%s: anomaly %zu is %s, not %s", path, i, verdict_name(x->verdict),
		              verdict_name(y->verdict));
	}
	analysis_free(a);
	analysis_free(b);
}

START_TEST(every_state_of_the_traces_with_injected_races_is_visited)
{
	int traces = 0;
	golden_injected(compare_injected, &traces);
}
END_TEST

static const unsigned mixes[] = {
    ORACLE_LOCKS | ORACLE_FORKS,
    ORACLE_LOCKS | ORACLE_READERS,
    ORACLE_LOCKS | ORACLE_CONDITIONS,
    ORACLE_BARRIERS | ORACLE_SEMAPHORES | ORACLE_ONCES | ORACLE_ANNOTATIONS | ORACLE_LOCKS,
    ORACLE_ATOMICS | ORACLE_HALF_ACCESSES | ORACLE_LOCKS,
    ORACLE_ALL & ~ORACLE_VALUES,
};

START_TEST(the_states_of_random_traces_meet_what_a_reordering_enables)
{
	static struct oracle_trace t;
	static oracle_pairs predictable;
	uint32_t met = 0, pairs = 0;
	for (uint64_t seed = 1; seed <= 600; seed++) {
		struct memory_trace memory;
		struct visited v;
		oracle_random(&t, seed * 1000 + (uint64_t)_i, mixes[_i], 8 + (int)(seed % 28));
		memset(predictable, 0, sizeof predictable);
		oracle_reorder(&t, false, predictable);
		visited_init(&v, random_trace(&memory, &t));
		add_races(&v);
		visit_all(&v);
		for (uint32_t i = 0; i < v.count; i++) {
			const uint32_t *e = v.goals[i].goal.events;
			uint32_t n1 = v.s.m->events[e[0]].number, n2 = v.s.m->events[e[1]].number;
			ck_assert_msg(v.goals[i].met == predictable[n1 - 1][n2 - 1], "seed %d, mix %d: %s (%u, %u)",
			              (int)seed, _i, v.goals[i].met ? "meets" : "misses", n1, n2);
			met += v.goals[i].met;
		}
		pairs += v.count;
		visited_release(&v);
	}
	ck_assert_uint_gt(met, 0);
	ck_assert_uint_lt(met, pairs);
}
END_TEST

static uint32_t count_met(const struct visited *v)
{
	uint32_t met = 0;
	for (uint32_t i = 0; i < v->count; i++)
		met += v->goals[i].met;
	return met;
}

START_TEST(what_the_limits_cut_off_stays_open)
{
	struct rt_trace *trace = golden_open("tests/golden/hand/14_predictable_only.std");
	struct visited v;
	visited_init(&v, trace);
	add_races(&v);
	ck_assert_uint_gt(v.count, 0);
	struct states_limits none[] = {{1, STATES_MAX}, {1000000, 1}};
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(visit(&v, &none[i]), SEARCH_GAVE_UP);
		ck_assert_uint_eq(count_met(&v), 0);
	}
	visit_all(&v);
	ck_assert_uint_eq(count_met(&v), 1);
	visited_release(&v);
	rt_trace_free(trace);
}
END_TEST

SUITE(states)
{
	Suite *s = suite_create("states");
	TCase *c = tcase_create("states");
	tcase_set_timeout(c, 600);
	tcase_add_test(c, the_states_meet_what_is_predictable_and_nothing_else);
	tcase_add_test(c, analyze_exhaustive_decides_every_pair);
	tcase_add_test(c, races_of_the_same_source_positions_are_one_anomaly_all_the_same);
	tcase_add_test(c, every_state_of_the_traces_with_injected_races_is_visited);
	tcase_add_loop_test(c, the_states_of_random_traces_meet_what_a_reordering_enables, 0,
	                    (int)(sizeof mixes / sizeof *mixes));
	tcase_add_test(c, what_the_limits_cut_off_stays_open);
	suite_add_tcase(s, c);
	return s;
}
