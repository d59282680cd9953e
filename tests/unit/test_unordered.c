/*
 * Races by C11 on small random traces against the oracle, which tries every order: what is observed or proved is a race
 * in some correct reordering, whose happens-before leaves the two unordered. And most of those whose events can never
 * stand side by side are found.
 */
#include "lib/search/analysis.h"
#include "tests/unit/random_trace.h"

#include <check.h>

static const unsigned mixes[] = {
    ORACLE_LOCKS,   ORACLE_LOCKS | ORACLE_FORKS,   ORACLE_LOCKS | ORACLE_READERS | ORACLE_HALF_ACCESSES,
    ORACLE_ATOMICS, ORACLE_LOCKS | ORACLE_ATOMICS,
};
enum { TRACES = 10000, MIXES = sizeof mixes / sizeof *mixes, STATES = 20000 };

START_TEST(races_are_races_of_some_run)
{
	static struct oracle_trace t;
	uint64_t apart = 0, found = 0;
	for (uint64_t seed = 1; seed <= random_seeds(TRACES, MIXES); seed++) {
		struct memory_trace memory;
		struct analysis *a;
		struct rt_error err = {0};
		struct analysis_options options = {.every = true, .kinds = 1u << ANOMALY_RACE};
		oracle_random(&t, seed * 77 + (uint64_t)_i, mixes[_i], 12 + (int)(seed % 12));
		struct rt_trace *trace = random_trace(&memory, &t);
		trace->info.model = RT_MODEL_C11;
		ck_assert_msg(analysis_run(trace, &options, &a, &err) == RT_OK, "%s", err.message);
		ck_assert_uint_eq(a->proofs.rejected, 0);
		for (size_t i = 0; i < a->anomalies.count; i++) {
			const struct anomaly *r = &a->anomalies.items[i];
			int e1 = (int)a->model->events[r->events[0]].number - 1;
			int e2 = (int)a->model->events[r->events[1]].number - 1, pair[] = {e1, e2};
			bool shown = r->verdict >= VERDICT_PROVED, cut;
			bool exists = oracle_unordered(&t, e1, e2, STATES, &cut);
			if (shown && !exists && !cut)
				ck_abort_msg("(%d, %d) is %s, and a race of no run, in\n%s", e1 + 1, e2 + 1,
				             verdict_name(r->verdict), random_text(&t));
			if (exists && r->verdict != VERDICT_OBSERVED && !oracle_reaches(&t, false, pair, 2)) {
				apart++;
				found += shown;
				if (!shown && getenv("RT_MISSED"))
					printf("missed (%d, %d) in\n%s", e1 + 1, e2 + 1, random_text(&t));
			}
		}
		analysis_free(a);
	}
	printf("unordered, mix %d: %lu of %lu races whose events never stand side by side\n", _i, (unsigned long)found,
	       (unsigned long)apart);
	ck_assert(getenv("RT_RANDOM_TRACES") || (found > 0 && found * 2 > apart));
}
END_TEST

Suite *unordered_suite(void)
{
	Suite *s = suite_create("unordered");
	TCase *c = tcase_create("random traces");
	tcase_set_timeout(c, 300);
	tcase_add_loop_test(c, races_are_races_of_some_run, 0, MIXES);
	suite_add_tcase(s, c);
	return s;
}
