/*
 * The closure prover alone, asked about every conflicting pair: what it refutes no reordering has, what it builds the
 * judge accepts, and it decides most. On the golden traces, and on random ones against the oracle.
 */
#include "lib/witness/search.h"
#include "lib/witness/verify.h"
#include "tests/oracle/oracle.h"
#include "tests/unit/memory_trace.h"
#include "tests/unit/scratch.h"

#include <check.h>
#include <jansson.h>

struct subject {
	struct model *m;
	struct trf trf;
	struct judge *judge;
	struct search *search;
};

static void subject_init(struct subject *s, struct rt_trace *trace)
{
	struct rt_error err = {0};
	struct model_options options = {REGIONS_LOCKS};
	ck_assert_msg(model_load(trace, &options, &s->m, &err) == RT_OK, "%s", err.message);
	ck_assert_msg(trf_compute(s->m, NULL, &s->trf, &err) == RT_OK, "%s", err.message);
	s->judge = judge_create(s->m);
	s->search = search_create(s->m, &s->trf, NULL, NULL);
	ck_assert(s->judge && s->search);
}

static void subject_release(struct subject *s)
{
	search_free(s->search);
	judge_free(s->judge);
	trf_release(&s->trf);
	model_free(s->m);
}

struct tally {
	int proved, refuted, unknown_predictable, unknown_other;
};

static void ask(struct subject *s, uint32_t e1, uint32_t e2, bool predictable, struct tally *tally)
{
	struct goal goal = {GOAL_RACE, 2, {e1, e2}};
	struct schedule schedule = {0};
	struct verdict_of_judge v;
	uint64_t spent;
	enum search_answer answer = search_closure(s->search, &goal, 1000000, &schedule, &spent);
	uint32_t n1 = s->m->events[e1].number, n2 = s->m->events[e2].number;
	ck_assert_int_ne(answer, SEARCH_NO_MEMORY);
	if (answer == SEARCH_FOUND) {
		judge_verify(s->judge, &schedule, &goal, &v);
		ck_assert_msg(v.fault == VERIFY_NONE, "(%u, %u): %s", n1, n2, verify_fault_text(v.fault));
		ck_assert(predictable);
	}
	ck_assert_msg(answer != SEARCH_NONE || !predictable, "(%u, %u) is refuted", n1, n2);
	tally->proved += answer == SEARCH_FOUND;
	tally->refuted += answer == SEARCH_NONE;
	tally->unknown_predictable += answer == SEARCH_GAVE_UP && predictable;
	tally->unknown_other += answer == SEARCH_GAVE_UP && !predictable;
	schedule_release(&schedule);
}

static bool share_cell(const struct model *m, uint32_t a, uint32_t b)
{
	return m->events[a].object < m->events[b].object + m->sites[m->events[b].site].cells &&
	       m->events[b].object < m->events[a].object + m->sites[m->events[a].site].cells;
}

/* Asks about all conflicting pairs without a common lock; those of the list, or of the matrix, are predictable. */
static void ask_all(struct rt_trace *trace, const json_t *list, oracle_pairs matrix, struct tally *tally)
{
	struct subject s;
	subject_init(&s, trace);
	const struct model *m = s.m;
	for (uint32_t a = 0; a < m->event_count; a++)
		for (uint32_t b = a + 1; b < m->event_count; b++) {
			uint32_t n1 = m->events[a].number, n2 = m->events[b].number;
			if (!rt_op_is_access(model_op(m, a)) || !rt_op_is_access(model_op(m, b)) ||
			    !share_cell(m, a, b) || !model_conflict(m, a, b) ||
			    model_locksets_exclude(m, model_lockset_of(m, a), model_lockset_of(m, b)))
				continue;
			bool predictable = matrix && matrix[n1 - 1][n2 - 1];
			size_t i;
			json_t *pair;
			json_array_foreach(list, i, pair) predictable |=
			    json_integer_value(json_array_get(pair, 0)) == n1 &&
			    json_integer_value(json_array_get(pair, 1)) == n2;
			ask(&s, a, b, predictable, tally);
		}
	subject_release(&s);
}

static void say(const char *what, const struct tally *t)
{
	printf("closure, %s: proves %d of %d predictable pairs, refutes %d of %d others\n", what, t->proved,
	       t->proved + t->unknown_predictable, t->refuted, t->refuted + t->unknown_other);
	fflush(stdout);
}

START_TEST(closure_decides_nearly_every_pair_of_the_golden_traces)
{
	static const char *const folders[] = {"hand", "random"};
	struct tally tally = {0};
	char path[512], line[1 << 17];
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof path, "tests/golden/%s/expected.jsonl", folders[i]);
		FILE *in = fopen(path, "r");
		ck_assert_msg(in != NULL, "%s", path);
		while (fgets(line, sizeof line, in)) {
			json_t *entry = json_loads(line, 0, NULL);
			struct rt_error err = {0};
			struct rt_trace *trace;
			snprintf(path, sizeof path, "tests/golden/%s/%s", folders[i],
			         json_string_value(json_object_get(entry, "trace")));
			ck_assert_msg(rt_trace_open(path, &trace, &err) == RT_OK, "%s", err.message);
			ask_all(trace, json_object_get(entry, "predictable"), NULL, &tally);
			rt_trace_free(trace);
			json_decref(entry);
		}
		fclose(in);
	}
	say("golden traces", &tally);
	ck_assert_int_gt(tally.proved, 50 * tally.unknown_predictable);
	ck_assert_int_gt(tally.refuted, 20 * tally.unknown_other);
	ck_assert_int_gt(tally.proved, 1000);
}
END_TEST

static const unsigned mixes[] = {
    ORACLE_LOCKS,
    ORACLE_LOCKS | ORACLE_FORKS,
    ORACLE_LOCKS | ORACLE_READERS | ORACLE_HALF_ACCESSES,
    ORACLE_LOCKS | ORACLE_CONDITIONS,
    ORACLE_LOCKS | ORACLE_BARRIERS | ORACLE_SEMAPHORES,
    ORACLE_ATOMICS | ORACLE_LOCKS | ORACLE_FORKS,
    1023,
};
enum { TRACES = 10000, MIXES = sizeof mixes / sizeof *mixes };

START_TEST(what_closure_refutes_no_reordering_has)
{
	static struct oracle_trace t;
	static oracle_pairs predictable;
	const char *wanted = getenv("RT_RANDOM_TRACES");
	uint64_t seeds = (wanted ? strtoull(wanted, NULL, 10) : TRACES) / MIXES + 1;
	struct tally tally = {0};
	for (uint64_t seed = 1; seed <= seeds; seed++) {
		struct memory_trace memory;
		oracle_random(&t, seed * 100 + (uint64_t)_i, mixes[_i], 12 + (int)(seed % 24));
		memset(predictable, 0, sizeof predictable);
		oracle_reorder(&t, false, predictable);
		ask_all(memory_trace(&memory, t.events, (size_t)t.count, (uint32_t)t.threads), NULL, predictable,
		        &tally);
	}
	say("random traces", &tally);
	ck_assert_int_gt(tally.proved, 20 * tally.unknown_predictable);
	ck_assert_int_gt(tally.refuted, tally.unknown_other);
}
END_TEST

Suite *closure_suite(void);
Suite *closure_suite(void)
{
	Suite *s = suite_create("closure");
	TCase *c = tcase_create("pairs");
	tcase_set_timeout(c, 120);
	tcase_add_test(c, closure_decides_nearly_every_pair_of_the_golden_traces);
	tcase_add_loop_test(c, what_closure_refutes_no_reordering_has, 0, MIXES);
	suite_add_tcase(s, c);
	return s;
}
