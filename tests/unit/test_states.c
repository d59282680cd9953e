/*
 * Visiting every state: for all conflicting pairs of the golden traces at once, and of random ones against the oracle,
 * it meets what is predictable and nothing else; what it meets it shows with a schedule that the judge accepts.
 */
#include "lib/search/analysis.h"
#include "lib/witness/states.h"
#include "lib/witness/verify.h"
#include "tests/oracle/oracle.h"
#include "tests/unit/memory_trace.h"

#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

enum { GOALS = 100000 };

/* A loaded trace and goals to look for in it. */
struct subject {
	struct model *m;
	struct trf trf;
	struct judge *judge;
	struct states_goal *goals;
	uint32_t count;
};

static void subject_init(struct subject *s, struct rt_trace *trace)
{
	struct rt_error err = {0};
	struct model_options options = {REGIONS_LOCKS};
	ck_assert_msg(model_load(trace, &options, &s->m, &err) == RT_OK, "%s", err.message);
	ck_assert_msg(trf_compute(s->m, NULL, &s->trf, &err) == RT_OK, "%s", err.message);
	s->judge = judge_create(s->m);
	s->goals = calloc(GOALS, sizeof *s->goals);
	ck_assert(s->judge && s->goals);
	s->count = 0;
}

static void subject_release(struct subject *s)
{
	for (uint32_t i = 0; i < s->count; i++)
		schedule_release(&s->goals[i].schedule);
	free(s->goals);
	judge_free(s->judge);
	trf_release(&s->trf);
	model_free(s->m);
}

static void add_goal(struct subject *s, enum goal_kind kind, uint32_t e1, uint32_t e2)
{
	ck_assert_uint_lt(s->count, GOALS);
	s->goals[s->count++].goal = (struct goal){kind, 2, {e1, e2}};
}

static bool overlap(const struct model *m, uint32_t a, uint32_t b)
{
	uint32_t a_end = m->events[a].object + m->sites[m->events[a].site].cells,
	         b_end = m->events[b].object + m->sites[m->events[b].site].cells;
	return m->events[a].object < b_end && m->events[b].object < a_end;
}

/* All conflicting pairs, whatever orders them. */
static void add_races(struct subject *s)
{
	const struct model *m = s->m;
	for (uint32_t a = 0; a < m->event_count; a++)
		for (uint32_t b = a + 1; b < m->event_count; b++)
			if (rt_op_is_access(model_op(m, a)) && rt_op_is_access(model_op(m, b)) && overlap(m, a, b) &&
			    model_conflict(m, a, b))
				add_goal(s, GOAL_RACE, a, b);
}

static bool holds(const struct model *m, uint32_t before, uint32_t lock)
{
	uint32_t pred = model_pred(m, before);
	const struct model_lockset *set = &m->locksets[pred == MODEL_NONE ? 0 : model_lockset_of(m, pred)];
	for (uint32_t i = 0; i < set->count; i++)
		if (set->locks[i].object == lock)
			return true;
	return false;
}

/* All pairs of acquires, each of what the other one's thread holds. */
static void add_deadlocks(struct subject *s)
{
	const struct model *m = s->m;
	for (uint32_t a = 0; a < m->event_count; a++)
		for (uint32_t b = a + 1; b < m->event_count; b++)
			if (model_op(m, a) == RT_OP_ACQUIRE && model_op(m, b) == RT_OP_ACQUIRE &&
			    model_thread_of(m, a) != model_thread_of(m, b) && holds(m, a, m->events[b].object) &&
			    holds(m, b, m->events[a].object))
				add_goal(s, GOAL_DEADLOCK, a, b);
}

static enum search_answer visit(struct subject *s, struct states_count *counts)
{
	struct states_limits limits = {100000000, STATES_MAX};
	return states_visit(s->m, &s->trf, NULL, NULL, &limits, s->goals, s->count, counts);
}

/* Visits, and has the judge look at what was met. */
static void visit_all(struct subject *s)
{
	struct states_count counts;
	enum search_answer answer = visit(s, &counts);
	ck_assert(answer == SEARCH_FOUND || answer == SEARCH_NONE);
	for (uint32_t i = 0; i < s->count; i++) {
		struct verdict_of_judge v = {.fault = VERIFY_NONE};
		if (s->goals[i].met)
			judge_verify(s->judge, &s->goals[i].schedule, &s->goals[i].goal, &v);
		ck_assert_msg(v.fault == VERIFY_NONE, "%s", verify_fault_text(v.fault));
	}
}

static bool expected(const json_t *list, uint32_t n1, uint32_t n2)
{
	size_t i;
	json_t *pair;
	json_array_foreach(list, i, pair) if (json_array_size(pair) == 2 &&
	                                      json_integer_value(json_array_get(pair, 0)) == n1 &&
	                                      json_integer_value(json_array_get(pair, 1)) == n2) return true;
	return false;
}

/* Runs each golden trace of a folder through f. */
static int each_trace(const char *folder, void (*f)(struct rt_trace *trace, const json_t *golden, const char *path))
{
	char path[512], line[1 << 17];
	int traces = 0;
	snprintf(path, sizeof path, "tests/golden/%s/expected.jsonl", folder);
	FILE *in = fopen(path, "r");
	ck_assert_msg(in != NULL, "%s", path);
	for (; fgets(line, sizeof line, in); traces++) {
		struct rt_trace *trace;
		struct rt_error err = {0};
		json_t *golden = json_loads(line, 0, NULL);
		ck_assert_ptr_nonnull(golden);
		snprintf(path, sizeof path, "tests/golden/%s/%s", folder,
		         json_string_value(json_object_get(golden, "trace")));
		ck_assert_msg(rt_trace_open(path, &trace, &err) == RT_OK, "%s", err.message);
		f(trace, golden, path);
		rt_trace_free(trace);
		json_decref(golden);
	}
	fclose(in);
	return traces;
}

static void compare_met(struct rt_trace *trace, const json_t *golden, const char *path)
{
	struct subject s;
	subject_init(&s, trace);
	add_races(&s);
	add_deadlocks(&s);
	visit_all(&s);
	for (uint32_t i = 0; i < s.count; i++) {
		const struct goal *g = &s.goals[i].goal;
		uint32_t n1 = s.m->events[g->events[0]].number, n2 = s.m->events[g->events[1]].number;
		const char *list = g->kind == GOAL_RACE ? "predictable" : "deadlocks";
		ck_assert_msg(s.goals[i].met == expected(json_object_get(golden, list), n1, n2), "%s: %s (%u, %u)",
		              path, s.goals[i].met ? "meets" : "misses", n1, n2);
	}
	subject_release(&s);
}

START_TEST(the_states_meet_what_is_predictable_and_nothing_else)
{
	ck_assert_int_eq(each_trace("hand", compare_met), 54);
	ck_assert_int_eq(each_trace("random", compare_met), 200);
}
END_TEST

static struct analysis *analyze(struct rt_trace *trace, bool every, bool exhaustive)
{
	struct rt_error err = {0};
	struct analysis *a = NULL;
	struct analysis_options options = {.every = every, .exhaustive = exhaustive};
	ck_assert_msg(analysis_run(trace, &options, &a, &err) == RT_OK, "%s", err.message);
	return a;
}

/* Races alone, every pair. */
static struct analysis *analyze_races(struct rt_trace *trace, bool exhaustive)
{
	struct rt_error err = {0};
	struct analysis *a = NULL;
	struct analysis_options options = {.every = true, .kinds = 1u << ANOMALY_RACE, .exhaustive = exhaustive};
	ck_assert_msg(analysis_run(trace, &options, &a, &err) == RT_OK, "%s", err.message);
	return a;
}

/* Every verdict on a pair is the expected one, and the list has all that are predictable. */
static void compare_verdicts(struct rt_trace *trace, const json_t *golden, const char *path)
{
	struct analysis *a = analyze(trace, true, true);
	const json_t *predictable = json_object_get(golden, "predictable");
	size_t found = 0;
	ck_assert(!a->anomalies.count || (a->proofs.visited && a->proofs.all));
	ck_assert_uint_eq(a->proofs.rejected, 0);
	ck_assert_uint_eq(a->proofs.undecided, 0);
	for (size_t i = 0; i < a->anomalies.count; i++) {
		const struct anomaly *r = &a->anomalies.items[i];
		uint32_t n1 = a->model->events[r->events[0]].number, n2 = a->model->events[r->events[1]].number;
		bool shown = r->verdict >= VERDICT_PROVED;
		if (r->kind != ANOMALY_RACE)
			continue;
		ck_assert(shown || r->verdict == VERDICT_REFUTED);
		ck_assert_msg(shown == expected(predictable, n1, n2), "%s: (%u, %u) is %s", path, n1, n2,
		              verdict_name(r->verdict));
		found += shown;
	}
	ck_assert_uint_eq(found, json_array_size(predictable));
	analysis_free(a);
}

START_TEST(analyze_exhaustive_decides_every_pair)
{
	ck_assert_int_eq(each_trace("hand", compare_verdicts), 54);
	ck_assert_int_eq(each_trace("random", compare_verdicts), 200);
}
END_TEST

/* By source positions there are as many anomalies of each verdict as without the option. */
static void compare_folded(struct rt_trace *trace, const json_t *golden, const char *path)
{
	(void)golden;
	struct analysis *a = analyze(trace, false, true), *b = analyze(trace, false, false);
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
	each_trace("hand", compare_folded);
	each_trace("random", compare_folded);
}
END_TEST

/* Traces of 600 to 800 events and up to 27 threads are small enough. */
START_TEST(every_state_of_the_traces_with_injected_races_is_visited)
{
	FILE *f = fopen("tests/golden/raceinjector/expected.tsv", "r");
	char name[128], path[256];
	unsigned n1, n2;
	int traces = 0;
	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(fscanf(f, "%*[^\n]"), 0);
	for (; fscanf(f, "%127s %u,%u", name, &n1, &n2) == 3; traces++) {
		struct rt_trace *trace;
		struct rt_error err = {0};
		if (traces % 5)
			continue;
		snprintf(path, sizeof path, "tests/golden/raceinjector/%s", name);
		ck_assert_msg(rt_trace_open(path, &trace, &err) == RT_OK, "%s", err.message);
		struct analysis *a = analyze_races(trace, true), *b = analyze_races(trace, false);
		ck_assert(a->proofs.all);
		ck_assert_uint_eq(a->anomalies.count, b->anomalies.count);
		for (size_t i = 0; i < a->anomalies.count; i++) {
			const struct anomaly *x = &a->anomalies.items[i], *y = &b->anomalies.items[i];
			ck_assert_msg(x->verdict == y->verdict && x->events[0] == y->events[0] &&
			                  x->events[1] == y->events[1],
			              "%s: anomaly %zu is %s, not %s", path, i, verdict_name(x->verdict),
			              verdict_name(y->verdict));
		}
		analysis_free(a);
		analysis_free(b);
		rt_trace_free(trace);
	}
	fclose(f);
	ck_assert_int_eq(traces, 75);
}
END_TEST

static const unsigned mixes[] = {
    ORACLE_LOCKS | ORACLE_FORKS,
    ORACLE_LOCKS | ORACLE_READERS,
    ORACLE_LOCKS | ORACLE_CONDITIONS,
    ORACLE_BARRIERS | ORACLE_SEMAPHORES | ORACLE_ONCES | ORACLE_ANNOTATIONS | ORACLE_LOCKS,
    ORACLE_ATOMICS | ORACLE_HALF_ACCESSES | ORACLE_LOCKS,
    1023,
};

START_TEST(the_states_of_random_traces_meet_what_a_reordering_enables)
{
	static struct oracle_trace t;
	static struct oracle o;
	uint32_t met = 0, pairs = 0;
	for (uint64_t seed = 1; seed <= 600; seed++) {
		struct memory_trace memory;
		struct subject s;
		oracle_random(&t, seed * 1000 + (uint64_t)_i, mixes[_i], 8 + (int)(seed % 28));
		oracle_run(&t, &o);
		subject_init(&s, memory_trace(&memory, t.events, (size_t)t.count, (uint32_t)t.threads));
		add_races(&s);
		visit_all(&s);
		for (uint32_t i = 0; i < s.count; i++) {
			const uint32_t *e = s.goals[i].goal.events;
			uint32_t n1 = s.m->events[e[0]].number, n2 = s.m->events[e[1]].number;
			ck_assert_msg(s.goals[i].met == o.predictable[n1 - 1][n2 - 1], "seed %d, mix %d: %s (%u, %u)",
			              (int)seed, _i, s.goals[i].met ? "meets" : "misses", n1, n2);
			met += s.goals[i].met;
		}
		pairs += s.count;
		subject_release(&s);
	}
	ck_assert_uint_gt(met, 0);
	ck_assert_uint_lt(met, pairs);
}
END_TEST

static uint32_t count_met(const struct subject *s)
{
	uint32_t met = 0;
	for (uint32_t i = 0; i < s->count; i++)
		met += s->goals[i].met;
	return met;
}

START_TEST(what_the_limits_cut_off_stays_open)
{
	struct rt_trace *trace;
	struct rt_error err = {0};
	struct subject s;
	struct states_count counts;
	ck_assert_msg(rt_trace_open("tests/golden/hand/14_predictable_only.std", &trace, &err) == RT_OK, "%s",
	              err.message);
	subject_init(&s, trace);
	add_races(&s);
	ck_assert_uint_gt(s.count, 0);
	struct states_limits none[] = {{1, STATES_MAX}, {1000000, 1}};
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(states_visit(s.m, &s.trf, NULL, NULL, &none[i], s.goals, s.count, &counts),
		                 SEARCH_GAVE_UP);
		ck_assert_uint_eq(count_met(&s), 0);
	}
	visit_all(&s);
	ck_assert_uint_eq(count_met(&s), 1);
	subject_release(&s);
	rt_trace_free(trace);
}
END_TEST

Suite *states_suite(void)
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
