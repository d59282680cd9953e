/* The chain of provers: what each of them builds, and that every injected race is proved. */
#include "lib/analysis/analysis.h"
#include "lib/judge/verify.h"
#include "lib/prove/pecan.h"
#include "lib/prove/search.h"
#include "lib/search/search.h"
#include "tests/unit/golden.h"
#include "tests/unit/random_trace.h"
#include "tests/unit/suite.h"

static struct analysis *analyze(struct rt_trace *trace, uint32_t kinds, bool every)
{
	struct rt_error err = {0};
	struct analysis *a = NULL;
	struct analysis_options options = {.kinds = kinds, .every = every};
	ck_assert_msg(analysis_run(trace, &options, &a, &err) == RT_OK, "%s", err.message);
	return a;
}

struct injected {
	int proved_by[WITNESS_KINDS], refuted;
};

static void check_injected(struct rt_trace *trace, const uint32_t numbers[2], const char *path, void *data)
{
	struct injected *sum = data;
	struct analysis *a = analyze(trace, 1u << ANOMALY_RACE, true);
	enum verdict verdict = VERDICT_REFUTED;
	for (size_t i = 0; i < a->anomalies.count; i++) {
		const struct anomaly *r = &a->anomalies.items[i];
		sum->proved_by[r->witness]++;
		sum->refuted += r->verdict == VERDICT_REFUTED;
		if (a->model->events[r->events[0]].number == numbers[0] &&
		    a->model->events[r->events[1]].number == numbers[1])
			verdict = r->verdict;
	}
	ck_assert_msg(verdict >= VERDICT_PROVED, "%s: (%u, %u) is %s", path, numbers[0], numbers[1],
	              verdict_name(verdict));
	ck_assert_uint_eq(a->proofs.undecided, 0);
	ck_assert_uint_eq(a->proofs.rejected, 0);
	analysis_free(a);
}

START_TEST(every_injected_race_is_proved_and_no_candidate_left_undecided)
{
	struct injected sum = {0};
	golden_injected(check_injected, &sum);
	for (int k = WITNESS_RECORDED; k < WITNESS_KINDS; k++)
		printf("raceinjector: %d pairs proved by %s\n", sum.proved_by[k], witness_name((enum witness_kind)k));
	printf("raceinjector: %d pairs refuted\n", sum.refuted);
}
END_TEST

/* Of the tuples that are predictable, how many does PECAN's schedule show? */
struct tally {
	uint64_t predictable, shown, unpredictable;
};

/* Every candidate of the trace: PECAN's schedule before the judge, against the exhaustive search. */
static void compare_pecan(struct rt_trace *trace, struct tally tallies[ANOMALY_KINDS])
{
	struct rt_error err = {0};
	struct analysis_options options = {
	    .kinds = 1u << ANOMALY_RACE | 1u << ANOMALY_ATOMICITY | 1u << ANOMALY_ASV, .every = true, .unproved = true};
	struct analysis *a = NULL;
	ck_assert_msg(analysis_run(trace, &options, &a, &err) == RT_OK, "%s", err.message);
	struct judge *judge = judge_create(a->model);
	struct search *search = search_create(&a->facts, facts_trf(&a->facts), false, NULL);
	ck_assert(judge && search);
	for (size_t i = 0; i < a->anomalies.count; i++) {
		struct goal goal = goal_of(&a->anomalies.items[i]);
		struct tally *tally = &tallies[a->anomalies.items[i].kind];
		struct schedule schedule = {0}, other = {0};
		struct verdict_of_judge v;
		uint64_t spent;
		bool predictable = search_goal(search, &goal, 1000000, &other, &spent) == SEARCH_FOUND;
		uint64_t built;
		ck_assert(pecan_schedule(facts_por(&a->facts), &goal, UINT64_MAX, &schedule, &built) == SEARCH_FOUND);
		judge_verify(judge, &schedule, &goal, &v);
		ck_assert_msg(v.fault != VERIFY_NONE || predictable, "PECAN shows what the search misses");
		tally->predictable += predictable;
		tally->shown += v.fault == VERIFY_NONE;
		tally->unpredictable += !predictable;
		schedule_release(&schedule);
		schedule_release(&other);
	}
	judge_free(judge);
	search_free(search);
	analysis_free(a);
}

/* Prints; what it proves is that the schedules are good for something and that the judge is needed. */
static void say(const char *what, const struct tally tallies[ANOMALY_KINDS])
{
	for (int kind = ANOMALY_RACE; kind <= ANOMALY_ASV; kind++) {
		const struct tally *t = &tallies[kind];
		printf("PECAN's schedules, %s, %s: of %lu predictable candidates the judge refuses %lu (%.0f %%)\n",
		       what, anomaly_kind_name((enum anomaly_kind)kind), (unsigned long)t->predictable,
		       (unsigned long)(t->predictable - t->shown),
		       100.0 * (double)(t->predictable - t->shown) / (double)t->predictable);
		ck_assert_uint_gt(t->shown, t->predictable / 3);
		ck_assert_uint_lt(t->shown, t->predictable);
	}
}

static void compare_golden(struct rt_trace *trace, const json_t *golden, const char *path, void *tallies)
{
	(void)golden;
	(void)path;
	compare_pecan(trace, tallies);
}

START_TEST(schedules_of_pecan_are_judged_like_any_other)
{
	struct tally golden[ANOMALY_KINDS] = {0};
	golden_each("hand", compare_golden, golden);
	golden_each("random", compare_golden, golden);
	say("golden traces", golden);
}
END_TEST

START_TEST(schedules_of_pecan_on_random_traces)
{
	static struct oracle_trace t;
	struct tally random[ANOMALY_KINDS] = {0};
	for (uint64_t seed = 1; seed <= 10000; seed++) {
		struct memory_trace memory;
		oracle_random(&t, seed * 7, ORACLE_LOCKS | (seed % 2 ? ORACLE_FORKS : 0), 12 + (int)(seed % 24));
		compare_pecan(random_trace(&memory, &t), random);
	}
	say("10,000 random traces", random);
}
END_TEST

/* What the provers decide of random traces with every kind of synchronisation. */
START_TEST(no_prover_that_promises_a_witness_is_refused)
{
	static struct oracle_trace t;
	struct prove_counts all = {0};
	for (uint64_t seed = 1; seed <= 3000; seed++) {
		struct memory_trace memory;
		oracle_random(&t, seed * 11, seed % 3 ? ORACLE_LOCKS | ORACLE_READERS : ORACLE_ALL & ~ORACLE_VALUES,
		              12 + (int)(seed % 24));
		struct analysis *a =
		    analyze(random_trace(&memory, &t),
		            1u << ANOMALY_RACE | 1u << ANOMALY_DEADLOCK | 1u << ANOMALY_ATOMICITY, true);
		ck_assert_uint_eq(a->proofs.rejected, 0);
		for (int k = 0; k < WITNESS_KINDS; k++) {
			all.built[k] += a->proofs.built[k];
			all.refused[k] += a->proofs.refused[k];
		}
		analysis_free(a);
	}
	for (int k = WITNESS_RECORDED; k < WITNESS_KINDS; k++)
		printf("%s: %lu schedules, %lu refused\n", witness_name((enum witness_kind)k),
		       (unsigned long)all.built[k], (unsigned long)all.refused[k]);
	ck_assert_uint_gt(all.built[WITNESS_RECORDED], 0);
	ck_assert_uint_gt(all.built[WITNESS_PECAN], 0);
	ck_assert_uint_gt(all.built[WITNESS_SYNCP], 0);
	ck_assert_uint_gt(all.built[WITNESS_EXHAUSTIVE], 0);
	/* Hardly anything that can be proved is left to the search. */
	ck_assert_uint_gt(all.built[WITNESS_CLOSURE], 10 * all.built[WITNESS_EXHAUSTIVE]);
}
END_TEST

/* Threads that write x in turns: each next write is a race, and the run up to it a schedule. */
START_TEST(schedules_of_what_is_observed_have_a_budget)
{
	enum { WRITES = 60 };
	static struct rt_event events[WRITES];
	struct memory_trace memory;
	struct rt_error err = {0};
	uint64_t steps[2] = {0}, without[2] = {0};
	for (uint32_t i = 0; i < WRITES; i++)
		events[i] = (struct rt_event){
		    .number = i + 1, .op = RT_OP_WRITE, .addr = 4096, .arg = 8, .thread = i % 2, .pc = i + 1};
	for (int small = 0; small < 2; small++) {
		struct analysis_options options = {.kinds = 1u << ANOMALY_RACE,
		                                   .limits.of = {[LIMIT_SEARCH_EVENTS_TOTAL] = small ? 400 : 0}};
		struct analysis *a;
		ck_assert_msg(!analysis_run(memory_trace(&memory, events, WRITES, 2), &options, &a, &err), "%s",
		              err.message);
		for (size_t i = 0; i < a->anomalies.count; i++) {
			const struct anomaly *x = &a->anomalies.items[i];
			if (x->verdict != VERDICT_OBSERVED)
				continue;
			ck_assert_int_eq(!x->schedule, x->left_out != 0);
			steps[small] += x->schedule ? x->schedule->count : 0;
			without[small] += !x->schedule;
		}
		ck_assert_int_eq(a->proofs.observed_exhausted, small);
		analysis_free(a);
	}
	ck_assert_uint_eq(without[0], 0);
	ck_assert_uint_gt(without[1], 0);
	ck_assert_uint_gt(steps[1], 0);
	ck_assert_uint_le(steps[1], 200);
	ck_assert_uint_gt(steps[0], 200);
}
END_TEST

/* Results that a thread leaves behind a flag, each under a lock of its own; the other thread reads each after it has
 * seen the flag and has set it again. finished: the value that the other thread sees and leaves. */
static const struct anomaly *handed_over(struct analysis **a, uint32_t results, uint64_t finished)
{
	static struct rt_event events[16 * 300];
	static struct memory_trace memory;
	uint32_t n = 0;
	for (uint32_t thread = 0; thread < 2; thread++)
		for (uint32_t i = 0; i < results; i++) {
			const uint64_t lock = 4096 + 64 * i, flag = lock + 8, result = lock + 16;
			const struct rt_event first[] = {{.op = RT_OP_ACQUIRE, .addr = lock},
			                                 {.op = RT_OP_WRITE, .addr = flag, .arg = 4, .value = 3},
			                                 {.op = RT_OP_WRITE, .addr = result, .arg = 8},
			                                 {.op = RT_OP_RELEASE, .addr = lock}};
			const struct rt_event second[] = {
			    {.op = RT_OP_ACQUIRE, .addr = lock},
			    {.op = RT_OP_READ, .addr = flag, .arg = 4, .value = 3},
			    {.op = RT_OP_WRITE, .addr = flag, .arg = 4, .value = finished},
			    {.op = RT_OP_RELEASE, .addr = lock},
			    {.op = RT_OP_READ, .addr = result, .arg = 8}};
			for (uint32_t k = 0; k < (thread ? 5u : 4u); k++, n++) {
				events[n] = thread ? second[k] : first[k];
				events[n].flags = events[n].value ? RT_F_VALUE : 0;
				events[n].number = n + 1;
				events[n].thread = thread;
				events[n].pc = 16 * thread + k + 1;
			}
		}
	/* There is no budget: what refutes them has to be cheap. */
	struct analysis_options options = {.kinds = 1u << ANOMALY_RACE, .limits.of = {[LIMIT_SEARCH_EVENTS] = 1}};
	struct rt_error err = {0};
	ck_assert_msg(!analysis_run(memory_trace(&memory, events, n, 2), &options, a, &err), "%s", err.message);
	ck_assert_uint_eq((*a)->anomalies.count, 1);
	return &(*a)->anomalies.items[0];
}

START_TEST(a_result_behind_a_flag_is_handed_over_though_its_reader_sets_the_flag_again)
{
	for (uint64_t finished = 3; finished < 5; finished++) {
		struct analysis *a;
		const struct anomaly *race = handed_over(&a, 100, finished);
		ck_assert_uint_eq(race->count, 100);
		ck_assert_str_eq(verdict_name(race->verdict), "conditional");
		analysis_free(a);
	}
}
END_TEST

/* More than are kept: nothing is known of the others, and that is said. */
START_TEST(of_many_instances_it_is_said_that_all_that_were_looked_at_are_refuted)
{
	struct analysis *a;
	const struct anomaly *race = handed_over(&a, 300, 3);
	ck_assert_uint_eq(race->count, 300);
	ck_assert_str_eq(verdict_name(race->verdict), "predicted");
	ck_assert(reasons_has(&race->reasons, REASON_INSTANCES));
	ck_assert(reasons_has(&race->reasons, REASON_OTHERS));
	ck_assert_uint_gt(race->reasons.looked, 200);
	analysis_free(a);
}
END_TEST

SUITE(prove)
{
	Suite *s = suite_create("prove");
	TCase *c = tcase_create("provers");
	tcase_add_test(c, every_injected_race_is_proved_and_no_candidate_left_undecided);
	tcase_add_test(c, schedules_of_pecan_are_judged_like_any_other);
	tcase_add_test(c, schedules_of_pecan_on_random_traces);
	tcase_add_test(c, schedules_of_what_is_observed_have_a_budget);
	tcase_add_test(c, no_prover_that_promises_a_witness_is_refused);
	tcase_add_test(c, a_result_behind_a_flag_is_handed_over_though_its_reader_sets_the_flag_again);
	tcase_add_test(c, of_many_instances_it_is_said_that_all_that_were_looked_at_are_refuted);
	suite_add_tcase(s, c);
	return s;
}
