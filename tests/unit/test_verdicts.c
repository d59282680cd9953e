/*
 * Verdicts on atomicity violations, ASVs and deadlocks of small random traces with every kind of synchronisation are
 * those of the oracle, which tries every reordering: what one shows is observed or proved, and nothing else is. Races:
 * test_oracle.c.
 */
#include "lib/search/analysis.h"
#include "tests/oracle/oracle.h"
#include "tests/unit/memory_trace.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

static const unsigned mixes[] = {
    ORACLE_LOCKS,
    ORACLE_LOCKS | ORACLE_FORKS,
    ORACLE_LOCKS | ORACLE_READERS,
    ORACLE_LOCKS | ORACLE_CONDITIONS | ORACLE_FORKS,
    ORACLE_LOCKS | ORACLE_BARRIERS | ORACLE_SEMAPHORES | ORACLE_ONCES | ORACLE_ANNOTATIONS,
    ORACLE_LOCKS | ORACLE_ATOMICS | ORACLE_HALF_ACCESSES,
    ORACLE_LOCKS | ORACLE_VALUES,
    2047,
};
enum { TRACES = 20000, MIXES = sizeof mixes / sizeof *mixes, TUPLES = 60 /* of one trace */ };

/* How many traces a mix; RT_RANDOM_TRACES says otherwise for all. */
static uint64_t seeds(void)
{
	const char *wanted = getenv("RT_RANDOM_TRACES");
	return (wanted ? strtoull(wanted, NULL, 10) : TRACES) / MIXES + 1;
}

static void say_trace(const struct oracle_trace *t)
{
	for (int i = 0; i < t->count; i++) {
		const struct rt_event *e = &t->events[i];
		fprintf(stderr, "%d: T%u %s %llx %llu order %u flags %u value %llx\n", i + 1, e->thread,
		        rt_op_name(e->op), (unsigned long long)e->addr, (unsigned long long)e->arg, e->order, e->flags,
		        (unsigned long long)e->value);
	}
}

static void say(const struct oracle_trace *t, const struct anomaly *a, const int *events)
{
	say_trace(t);
	fprintf(stderr, "%s %s %s:", anomaly_kind_name(a->kind), a->pattern, verdict_name(a->verdict));
	for (uint32_t i = 0; i < a->event_count; i++)
		fprintf(stderr, " %d", events[i] + 1);
	fputc('\n', stderr);
}

/*
 * The trace without the events that the model leaves out, since nobody else sees what they do: a thread's next event is
 * its next one that somebody may see.
 */
static void reduce(const struct oracle_trace *t, const struct model *m, struct oracle_trace *out)
{
	*out = *t;
	out->count = 0;
	for (uint32_t e = 0; e < m->event_count; e++)
		out->events[out->count++] = t->events[m->events[e].number - 1];
}

struct tally {
	uint64_t shown, refuted, predicted;
};

static void check_anomaly(const struct oracle_trace *t, const struct anomaly *x, struct tally *tally)
{
	int events[ANOMALY_EVENTS_MAX];
	for (uint32_t i = 0; i < x->event_count; i++)
		events[i] = (int)x->events[i];
	bool possible = oracle_reaches(t, x->kind != ANOMALY_DEADLOCK, events, (int)x->event_count);
	bool shown = x->verdict >= VERDICT_PROVED;
	if (shown != possible)
		say(t, x, events);
	ck_assert_msg(shown == possible, "what is %s is %spossible", verdict_name(x->verdict), possible ? "" : "im");
	tally->shown += shown;
	tally->refuted += x->verdict == VERDICT_REFUTED;
	tally->predicted += x->verdict == VERDICT_PREDICTED;
}

START_TEST(what_some_reordering_shows_is_proved_and_nothing_else)
{
	static struct oracle_trace t, reduced;
	struct tally tally = {0, 0, 0};
	for (uint64_t seed = 1; seed <= seeds(); seed++) {
		struct memory_trace memory;
		struct analysis *a;
		struct rt_error err = {0};
		struct analysis_options options = {.every = true,
		                                   .all = true,
		                                   .kinds = 1u << ANOMALY_ATOMICITY | 1u << ANOMALY_ASV |
		                                            1u << ANOMALY_DEADLOCK};
		oracle_random(&t, seed * 77 + (uint64_t)_i * 1000003, mixes[_i], 10 + (int)(seed % 16));
		struct rt_trace *trace = memory_trace(&memory, t.events, (size_t)t.count, (uint32_t)t.threads);
		trace->info.zeroed = t.zeroed;
		ck_assert_msg(analysis_run(trace, &options, &a, &err) == RT_OK, "%s", err.message);
		if (a->proofs.rejected)
			say_trace(&t);
		ck_assert_msg(!a->proofs.rejected, "the judge refuses what a prover promised");
		reduce(&t, a->model, &reduced);
		for (size_t i = 0; i < a->anomalies.count && i < TUPLES; i++)
			check_anomaly(&reduced, &a->anomalies.items[i], &tally);
		analysis_free(a);
	}
	ck_assert_uint_gt(tally.shown, 0);
	ck_assert_uint_gt(tally.refuted, 0);
}
END_TEST

Suite *verdicts_suite(void)
{
	Suite *s = suite_create("verdicts");
	TCase *c = tcase_create("random traces");
	tcase_set_timeout(c, 120);
	tcase_add_loop_test(c, what_some_reordering_shows_is_proved_and_nothing_else, 0, MIXES);
	suite_add_tcase(s, c);
	return s;
}
