/*
 * The analysis against the oracle (tests/oracle): on thousands of small random traces with every kind of
 * synchronisation, hybrid, hb and shb are what the definitions say, and the laws between them and what reorderings
 * enable hold.
 */
#include "lib/search/analysis.h"
#include "tests/oracle/oracle.h"
#include "tests/unit/memory_trace.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

static char *text_of(const struct oracle_trace *t)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	for (int i = 0; i < t->count; i++) {
		const struct rt_event *e = &t->events[i];
		fprintf(out, "%d: T%u %s %llx %llu order %u flags %u\n", i + 1, e->thread, rt_op_name(e->op),
		        (unsigned long long)e->addr, (unsigned long long)e->arg, e->order, e->flags);
	}
	fclose(out);
	return text;
}

/* Spreads the threads over `stretch` times as many indices: with more than 16, clocks are trees. */
static void stretch_threads(struct oracle_trace *t, uint32_t stretch)
{
	for (int i = 0; i < t->count; i++) {
		t->events[i].thread *= stretch;
		if (t->events[i].op == RT_OP_FORK || t->events[i].op == RT_OP_JOIN)
			t->events[i].addr *= stretch;
	}
}

static struct analysis *analyze(const struct oracle_trace *original, struct memory_trace *memory, bool every)
{
	static struct oracle_trace stretched;
	struct analysis *a = NULL;
	uint32_t stretch = original->count % 2 ? 21 : 1;
	const struct oracle_trace *t = &stretched;
	stretched = *original;
	stretch_threads(&stretched, stretch);
	struct analysis_options options = {.every = every, .all = true, .unproved = true, .kinds = 1u << ANOMALY_RACE};
	struct rt_error err = {0};
	struct rt_trace *trace = memory_trace(memory, t->events, (size_t)t->count, (uint32_t)t->threads * stretch);
	if (analysis_run(trace, &options, &a, &err))
		ck_abort_msg("%s", err.message);
	return a;
}

/* The pairs that the order leaves unordered, found by the analysis; each pair once. */
static void pairs_of(const struct analysis *a, const char *name, oracle_pairs pairs)
{
	int order = order_find(name);
	memset(pairs, 0, sizeof(oracle_pairs));
	for (size_t i = 0; i < a->anomalies.count; i++) {
		const struct anomaly *r = &a->anomalies.items[i];
		uint32_t n1 = a->model->events[r->events[0]].number, n2 = a->model->events[r->events[1]].number;
		if (!(r->orders_unordered >> order & 1))
			continue;
		ck_assert_uint_lt(n1, n2);
		ck_assert_msg(!pairs[n1 - 1][n2 - 1], "(%u, %u) is there twice", n1, n2);
		pairs[n1 - 1][n2 - 1] = true;
	}
}

static void check_equal(const struct oracle_trace *t, const struct analysis *a, const char *name, oracle_pairs expected)
{
	static oracle_pairs found;
	pairs_of(a, name, found);
	for (int i = 0; i < t->count; i++)
		for (int j = i + 1; j < t->count; j++)
			if (found[i][j] != expected[i][j])
				ck_abort_msg("%s %s (%d, %d) of\n%s", name, found[i][j] ? "has" : "misses", i + 1,
				             j + 1, text_of(t));
}

static void check_within(const struct oracle_trace *t, const char *law, oracle_pairs small, oracle_pairs large)
{
	for (int i = 0; i < t->count; i++)
		for (int j = i + 1; j < t->count; j++)
			if (small[i][j] && !large[i][j])
				ck_abort_msg("not %s: (%d, %d) of\n%s", law, i + 1, j + 1, text_of(t));
}

/* Pairs by source positions and pattern: the counts of the anomalies that are not `every` pair. */
static void check_counts(const struct oracle_trace *t, oracle_pairs hybrid)
{
	struct memory_trace memory;
	struct analysis *a = analyze(t, &memory, false);
	uint64_t total = 0, counted = 0;
	for (int i = 0; i < t->count; i++)
		for (int j = i + 1; j < t->count; j++)
			total += hybrid[i][j];
	for (size_t k = 0; k < a->anomalies.count; k++) {
		const struct anomaly *r = &a->anomalies.items[k];
		uint64_t pc1 = t->events[a->model->events[r->events[0]].number - 1].pc;
		uint64_t pc2 = t->events[a->model->events[r->events[1]].number - 1].pc, count = 0;
		for (int i = 0; i < t->count; i++)
			for (int j = i + 1; j < t->count; j++) {
				const struct rt_event *e1 = &t->events[i], *e2 = &t->events[j];
				count += hybrid[i][j] && (rt_op_writes(e1->op) ? 'w' : 'r') == r->pattern[0] &&
				         (rt_op_writes(e2->op) ? 'w' : 'r') == r->pattern[2] &&
				         ((e1->pc == pc1 && e2->pc == pc2) || (e1->pc == pc2 && e2->pc == pc1));
			}
		if (count != r->count)
			ck_abort_msg("%s at %d and %d: %d pairs, not %d, of\n%s", r->pattern, (int)pc1, (int)pc2,
			             (int)r->count, (int)count, text_of(t));
		counted += r->count;
	}
	ck_assert_uint_eq(counted, total);
	analysis_free(a);
}

/* Returns how many pairs there were, so that a test that looks at nothing fails. */
static int check_trace(const struct oracle_trace *t)
{
	static struct oracle o;
	static oracle_pairs syncp;
	struct memory_trace memory;
	int pairs = 0;
	oracle_run(t, &o);
	struct analysis *a = analyze(t, &memory, true);
	check_equal(t, a, "hybrid", o.hybrid);
	check_equal(t, a, "hb", o.hb);
	check_equal(t, a, "shb", o.shb);
	pairs_of(a, "syncp", syncp);
	analysis_free(a);
	check_within(t, "shb within syncp", o.shb, syncp);
	check_within(t, "syncp within predictable", syncp, o.predictable);
	check_within(t, "shb within predictable", o.shb, o.predictable);
	check_within(t, "predictable within hybrid", o.predictable, o.hybrid);
	check_within(t, "hb within hybrid", o.hb, o.hybrid);
	check_counts(t, o.hybrid);
	for (int i = 0; i < t->count; i++)
		for (int j = i + 1; j < t->count; j++)
			pairs += o.shb[i][j] + o.predictable[i][j] + o.hybrid[i][j];
	return pairs;
}

static const unsigned mixes[] = {
    0,
    ORACLE_LOCKS,
    ORACLE_LOCKS | ORACLE_FORKS,
    ORACLE_LOCKS | ORACLE_READERS,
    ORACLE_CONDITIONS,
    ORACLE_LOCKS | ORACLE_CONDITIONS,
    ORACLE_LOCKS | ORACLE_CONDITIONS | ORACLE_FORKS,
    ORACLE_BARRIERS | ORACLE_LOCKS,
    ORACLE_SEMAPHORES | ORACLE_LOCKS,
    ORACLE_ONCES | ORACLE_ANNOTATIONS,
    ORACLE_ATOMICS,
    ORACLE_ATOMICS | ORACLE_HALF_ACCESSES,
    ORACLE_ATOMICS | ORACLE_LOCKS | ORACLE_FORKS,
    ORACLE_HALF_ACCESSES | ORACLE_LOCKS | ORACLE_FORKS,
    1023,
};
enum { TRACES = 20000, MIXES = sizeof mixes / sizeof *mixes };

/* How many traces in all; RT_RANDOM_TRACES says otherwise. */
static uint64_t seeds(void)
{
	const char *wanted = getenv("RT_RANDOM_TRACES");
	uint64_t traces = wanted ? strtoull(wanted, NULL, 10) : TRACES;
	return traces / MIXES + 1;
}

START_TEST(orders_are_what_their_definitions_say_and_the_laws_hold)
{
	static struct oracle_trace t;
	int pairs = 0;
	for (uint64_t seed = 1; seed <= seeds(); seed++) {
		oracle_random(&t, seed * 100 + (uint64_t)_i, mixes[_i], 8 + (int)(seed % 24));
		pairs += check_trace(&t);
	}
	ck_assert_int_gt(pairs, 0);
}
END_TEST

Suite *oracle_suite(void)
{
	Suite *s = suite_create("oracle");
	TCase *c = tcase_create("random traces");
	tcase_set_timeout(c, 120);
	tcase_add_loop_test(c, orders_are_what_their_definitions_say_and_the_laws_hold, 0,
	                    (int)(sizeof mixes / sizeof *mixes));
	suite_add_tcase(s, c);
	return s;
}
