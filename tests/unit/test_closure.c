/*
 * The closure prover alone, asked about every conflicting pair: what it refutes no reordering has, what it builds the
 * judge accepts, and it decides most. On the golden traces, and on random ones against the oracle.
 */
#include "tests/unit/golden.h"
#include "tests/unit/random_trace.h"
#include "tests/unit/subject.h"
#include "tests/unit/suite.h"

struct tally {
	int proved, refuted, unknown_predictable, unknown_other;
};

static void ask(struct subject *s, uint32_t e1, uint32_t e2, bool predictable, struct tally *tally)
{
	struct goal goal = {.kind = GOAL_RACE, .count = 2, .events = {e1, e2}};
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

/* Asks about all conflicting pairs without a common lock; those of the list, or of the matrix, are predictable. */
static void ask_all(struct rt_trace *trace, const json_t *list, oracle_pairs matrix, struct tally *tally)
{
	struct subject s;
	subject_init(&s, trace);
	const struct model *m = s.m;
	for (uint32_t a = 0; a < m->event_count; a++)
		for (uint32_t b = a + 1; b < m->event_count; b++) {
			if (!subject_conflict(m, a, b) ||
			    model_locksets_exclude(m, model_lockset_of(m, a), model_lockset_of(m, b)))
				continue;
			bool predictable = matrix ? matrix[m->events[a].number - 1][m->events[b].number - 1]
			                          : golden_has(list, m, (uint32_t[]){a, b}, 2);
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

static void ask_golden(struct rt_trace *trace, const json_t *golden, const char *path, void *tally)
{
	(void)path;
	ask_all(trace, json_object_get(golden, "predictable"), NULL, tally);
}

START_TEST(closure_decides_nearly_every_pair_of_the_golden_traces)
{
	struct tally tally = {0};
	golden_each("hand", ask_golden, &tally);
	golden_each("random", ask_golden, &tally);
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
    ORACLE_ALL & ~ORACLE_VALUES,
};
enum { TRACES = 10000, MIXES = sizeof mixes / sizeof *mixes };

START_TEST(what_closure_refutes_no_reordering_has)
{
	static struct oracle_trace t;
	static oracle_pairs predictable;
	struct tally tally = {0};
	for (uint64_t seed = 1; seed <= random_seeds(TRACES, MIXES); seed++) {
		struct memory_trace memory;
		oracle_random(&t, seed * 100 + (uint64_t)_i, mixes[_i], 12 + (int)(seed % 24));
		memset(predictable, 0, sizeof predictable);
		oracle_reorder(&t, false, predictable);
		ask_all(random_trace(&memory, &t), NULL, predictable, &tally);
	}
	say("random traces", &tally);
	assert_enough(tally.proved - 20 * tally.unknown_predictable, 1, TRACES);
	assert_enough(tally.refuted - tally.unknown_other, 1, TRACES);
}
END_TEST

SUITE(closure)
{
	Suite *s = suite_create("closure");
	TCase *c = tcase_create("pairs");
	tcase_add_test(c, closure_decides_nearly_every_pair_of_the_golden_traces);
	tcase_add_loop_test(c, what_closure_refutes_no_reordering_has, 0, MIXES);
	suite_add_tcase(s, c);
	return s;
}
