/*
 * The analysis against the oracle (tests/oracle): on thousands of small random traces with every kind of
 * synchronisation, each order is what its definition says, the laws between them and what reorderings enable hold, and
 * so do the verdicts.
 */
#include "lib/analysis/analysis.h"
#include "lib/judge/verify.h"
#include "tests/unit/random_trace.h"
#include "tests/unit/suite.h"

#include <check.h>

/* Spreads the threads over `stretch` times as many indices: with more than 16, clocks are trees. */
static void stretch_threads(struct oracle_trace *t, uint32_t stretch)
{
	for (int i = 0; i < t->count; i++) {
		t->events[i].thread *= stretch;
		if (t->events[i].op == RT_OP_FORK || t->events[i].op == RT_OP_JOIN)
			t->events[i].addr *= stretch;
	}
}

static enum rt_memory_model model = RT_MODEL_SC; /* of what is analyzed */
static uint64_t follow;                          /* races observed that shb orders */

static struct analysis *analyze(const struct oracle_trace *original, struct memory_trace *memory, bool every,
                                bool prove)
{
	static struct oracle_trace stretched;
	struct analysis *a = NULL;
	uint32_t stretch = original->count % 2 ? 21 : 1;
	const struct oracle_trace *t = &stretched;
	stretched = *original;
	stretch_threads(&stretched, stretch);
	struct analysis_options options = {.every = every, .unproved = !prove, .kinds = 1u << ANOMALY_RACE};
	struct rt_error err = {0};
	struct rt_trace *trace = memory_trace(memory, t->events, (size_t)t->count, (uint32_t)t->threads * stretch);
	trace->info.model = model;
	if (analysis_run(trace, &options, &a, &err))
		ck_abort_msg("%s", err.message);
	return a;
}

/* Events of the model as places in the oracle's trace. */
static int place(const struct model *m, uint32_t e)
{
	return (int)m->events[e].number - 1;
}

/* The pairs that hybrid leaves unordered, found by the analysis; each pair once. */
static void check_found(const struct oracle_trace *t, const struct analysis *a, oracle_pairs hybrid)
{
	static oracle_pairs found;
	memset(found, 0, sizeof found);
	for (size_t i = 0; i < a->anomalies.count; i++) {
		const struct anomaly *r = &a->anomalies.items[i];
		int e1 = place(a->model, r->events[0]), e2 = place(a->model, r->events[1]);
		ck_assert_int_lt(e1, e2);
		ck_assert_msg(!found[e1][e2], "(%d, %d) is there twice", e1 + 1, e2 + 1);
		found[e1][e2] = true;
	}
	for (int i = 0; i < t->count; i++)
		for (int j = i + 1; j < t->count; j++)
			if (found[i][j] != hybrid[i][j])
				ck_abort_msg("%s (%d, %d) of\n%s", found[i][j] ? "finds" : "does not find", i + 1,
				             j + 1, random_text(t));
}

/* What the order says of every conflicting pair, whether it is a candidate or not. */
static void check_order(const struct oracle_trace *t, struct facts *f, const char *name, oracle_pairs expected)
{
	const struct model *m = f->m;
	const struct order *order = &orders[order_find(name)];
	struct order_result *result;
	struct rt_error err = {0};
	ck_assert_msg(order->compute(f, &result, &err) == RT_OK, "%s", err.message);
	for (uint32_t e1 = 0; e1 < m->event_count; e1++)
		for (uint32_t e2 = e1 + 1; e2 < m->event_count; e2++) {
			int i = place(m, e1), j = place(m, e2);
			if (!oracle_conflict(t, i, j))
				continue;
			bool unordered = order->unordered(result, e1, e2);
			if (unordered != expected[i][j])
				ck_abort_msg("%s %s (%d, %d) of\n%s", name, unordered ? "has" : "misses", i + 1, j + 1,
				             random_text(t));
		}
	order->free(result);
}

static void check_within(const struct oracle_trace *t, const char *law, oracle_pairs small, oracle_pairs large)
{
	for (int i = 0; i < t->count; i++)
		for (int j = i + 1; j < t->count; j++)
			if (small[i][j] && !large[i][j])
				ck_abort_msg("not %s: (%d, %d) of\n%s", law, i + 1, j + 1, random_text(t));
}

/* Pairs by source positions and pattern: the counts of the anomalies that are not `every` pair. */
static void check_counts(const struct oracle_trace *t, oracle_pairs hybrid)
{
	struct memory_trace memory;
	struct analysis *a = analyze(t, &memory, false, false);
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
			             (int)r->count, (int)count, random_text(t));
		counted += r->count;
	}
	ck_assert_uint_eq(counted, total);
	analysis_free(a);
}

static void check_laws(const struct oracle_trace *t, struct oracle *o)
{
	check_within(t, "hb within cp", o->hb, o->cp);
	check_within(t, "cp within wcp", o->cp, o->wcp);
	check_within(t, "shb within syncp", o->shb, o->syncp);
	check_within(t, "syncp within predictable", o->syncp, o->predictable);
	check_within(t, "predictable within hybrid", o->predictable, o->hybrid);
	check_within(t, "hb within hybrid", o->hb, o->hybrid);
}

/* An order of events that is being made: what the model leaves out, since no other thread sees it, is put in where it
 * is due.
 */
struct order_of_events {
	int items[ORACLE_EVENTS], count;
	bool there[ORACLE_EVENTS];
};

/* Appends the thread's events before place `end` that are not there yet; before a join what its thread has left. */
static void append(const struct oracle_trace *t, struct order_of_events *o, uint32_t thread, int end)
{
	for (int i = 0; i < end; i++) {
		const struct rt_event *e = &t->events[i];
		if (e->thread != thread || o->there[i])
			continue;
		if (e->op == RT_OP_JOIN)
			append(t, o, (uint32_t)e->addr, t->count);
		o->there[i] = true;
		o->items[o->count++] = i;
	}
}

/* Is what the model has as several events, e among them, to go on with one that others need not wait for? */
static bool run_in_part(const struct model *m, uint32_t e)
{
	uint32_t next = model_next(m, model_thread_of(m, e), m->events[e].pos + 1);
	return next != MODEL_NONE && m->events[next].number == m->events[e].number &&
	       model_op(m, next) != RT_OP_RELEASE && model_op(m, next) != RT_OP_HB_BEFORE;
}

/* Is the anomaly's schedule a witness, by the oracle? */
static bool accepted(const struct oracle_trace *t, const struct model *m, const struct anomaly *r)
{
	int e1 = place(m, r->events[0]), e2 = place(m, r->events[1]);
	struct order_of_events o = {.count = 0};
	for (uint32_t i = 0; i < r->schedule->count; i++) {
		const struct schedule_step *s = &r->schedule->steps[i];
		for (uint32_t pos = s->from; pos <= s->to; pos++) {
			uint32_t event = m->threads[s->thread].events[pos];
			int e = place(m, event);
			append(t, &o, t->events[e].thread, e + !run_in_part(m, event));
		}
	}
	append(t, &o, t->events[e1].thread, e1);
	append(t, &o, t->events[e2].thread, e2);
	return oracle_accepts(t, o.items, o.count, e1, e2);
}

/* What is refuted is impossible whatever reads see; what is conditional is possible if its needs, and no others, do. */
static void check_conditional(const struct oracle_trace *t, const struct model *m, const struct anomaly *r)
{
	int events[] = {place(m, r->events[0]), place(m, r->events[1])};
	bool free[ORACLE_EVENTS] = {false};
	for (uint32_t i = 0; i < r->need_count; i++)
		free[place(m, r->needs[i])] = true;
	ck_assert_uint_eq(r->need_count, r->need_total);
	bool conditional = r->verdict == VERDICT_CONDITIONAL;
	if (conditional != oracle_reaches_free(t, false, events, 2, conditional ? free : NULL))
		ck_abort_msg("(%d, %d) is %s in\n%s", events[0] + 1, events[1] + 1, verdict_name(r->verdict),
		             random_text(t));
}

/* Verdicts are true, and the schedules of what is proved are correct reorderings, by the oracle too. */
static void check_verdicts(const struct oracle_trace *t, struct oracle *o)
{
	struct memory_trace memory;
	struct analysis *a = analyze(t, &memory, true, true);
	const struct model *m = a->model;
	struct judge *judge = judge_create(m);
	ck_assert_ptr_nonnull(judge);
	ck_assert_msg(a->proofs.rejected == 0, "the judge refuses what a prover promised in\n%s", random_text(t));
	for (size_t i = 0; i < a->anomalies.count; i++) {
		const struct anomaly *r = &a->anomalies.items[i];
		int e1 = place(m, r->events[0]), e2 = place(m, r->events[1]);
		bool possible = o->predictable[e1][e2];
		if (r->verdict >= VERDICT_PROVED ? !possible : r->verdict <= VERDICT_CONDITIONAL && possible)
			ck_abort_msg("(%d, %d) is %s in\n%s", e1 + 1, e2 + 1, verdict_name(r->verdict), random_text(t));
		if (r->verdict <= VERDICT_CONDITIONAL)
			check_conditional(t, m, r);
		ck_assert_msg(r->verdict != VERDICT_PREDICTED || r->reasons.set, "predicted, and nothing says why");
		if (r->verdict < VERDICT_PROVED)
			continue;
		struct goal goal = goal_of(r);
		struct verdict_of_judge v;
		judge_verify(judge, r->schedule, &goal, &v);
		ck_assert_int_eq(v.fault, VERIFY_NONE);
		if (!accepted(t, m, r))
			ck_abort_msg("(%d, %d): a wrong witness in\n%s", e1 + 1, e2 + 1, random_text(t));
	}
	judge_free(judge);
	analysis_free(a);
}

/* By the language's model what is observed is what happens-before leaves unordered, proved or not. */
static uint64_t check_observed(const struct oracle_trace *t, struct oracle *o)
{
	struct memory_trace memory;
	uint64_t following = 0;
	model = RT_MODEL_C11;
	struct analysis *a = analyze(t, &memory, true, true);
	model = RT_MODEL_SC;
	for (size_t i = 0; i < a->anomalies.count; i++) {
		const struct anomaly *r = &a->anomalies.items[i];
		int e1 = place(a->model, r->events[0]), e2 = place(a->model, r->events[1]);
		if ((r->verdict == VERDICT_OBSERVED) != o->hb[e1][e2])
			ck_abort_msg("(%d, %d) is %s in\n%s", e1 + 1, e2 + 1, verdict_name(r->verdict), random_text(t));
		if (r->schedule && !r->need_count && !accepted(t, a->model, r))
			ck_abort_msg("(%d, %d): a wrong witness in\n%s", e1 + 1, e2 + 1, random_text(t));
		following += r->verdict == VERDICT_OBSERVED && !o->shb[e1][e2];
	}
	analysis_free(a);
	return following;
}

/* Is some pair of these source positions predictable? */
static bool some_predictable(const struct oracle_trace *t, const struct oracle *o, const struct anomaly *r,
                             uint64_t pc1, uint64_t pc2)
{
	for (int i = 0; i < t->count; i++)
		for (int j = i + 1; j < t->count; j++) {
			const struct rt_event *e1 = &t->events[i], *e2 = &t->events[j];
			if (o->predictable[i][j] && (rt_op_writes(e1->op) ? 'w' : 'r') == r->pattern[0] &&
			    (rt_op_writes(e2->op) ? 'w' : 'r') == r->pattern[2] &&
			    ((e1->pc == pc1 && e2->pc == pc2) || (e1->pc == pc2 && e2->pc == pc1)))
				return true;
		}
	return false;
}

/* What stands for many pairs is shown when one of them is possible, and refuted only when none is. */
static void check_folded_verdicts(const struct oracle_trace *t, const struct oracle *o)
{
	struct memory_trace memory;
	struct analysis *a = analyze(t, &memory, false, true);
	for (size_t i = 0; i < a->anomalies.count; i++) {
		const struct anomaly *r = &a->anomalies.items[i];
		int e1 = place(a->model, r->events[0]), e2 = place(a->model, r->events[1]);
		bool shown = r->verdict >= VERDICT_PROVED,
		     possible = some_predictable(t, o, r, t->events[e1].pc, t->events[e2].pc);
		if (shown != possible || (shown && !o->predictable[e1][e2]))
			ck_abort_msg("(%d, %d) and %d more are %s, but that is wrong of\n%s", e1 + 1, e2 + 1,
			             (int)r->count - 1, verdict_name(r->verdict), random_text(t));
	}
	analysis_free(a);
}

/* Returns how many pairs there were, so that a test that looks at nothing fails. */
static int check_trace(const struct oracle_trace *t)
{
	static struct oracle o;
	struct memory_trace memory;
	int pairs = 0;
	oracle_run(t, &o);
	struct analysis *a = analyze(t, &memory, true, false);
	check_found(t, a, o.hybrid);
	check_order(t, &a->facts, "hybrid", o.hybrid);
	check_order(t, &a->facts, "hb", o.hb);
	check_order(t, &a->facts, "shb", o.shb);
	check_order(t, &a->facts, "cp", o.cp);
	check_order(t, &a->facts, "wcp", o.wcp);
	check_order(t, &a->facts, "syncp", o.syncp);
	analysis_free(a);
	check_laws(t, &o);
	check_counts(t, o.hybrid);
	check_verdicts(t, &o);
	check_folded_verdicts(t, &o);
	follow += check_observed(t, &o);
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
    ORACLE_ALL & ~ORACLE_VALUES,
    ORACLE_LOCKS | ORACLE_STRAYS,
    ORACLE_LOCKS | ORACLE_READERS | ORACLE_CONDITIONS | ORACLE_FORKS | ORACLE_STRAYS,
    ORACLE_BINARY | ORACLE_LOCKS | ORACLE_FORKS,
};
enum { TRACES = 20000, MIXES = sizeof mixes / sizeof *mixes };

static uint64_t handed_over(const struct oracle_trace *t)
{
	uint64_t count = 0;
	for (int i = 0; i < t->count; i++)
		count += t->events[i].reserved == ORACLE_HOLD_GIVES;
	return count;
}

START_TEST(orders_are_what_their_definitions_say_and_the_laws_hold)
{
	static struct oracle_trace t;
	int pairs = 0;
	uint64_t handed = 0;
	for (uint64_t seed = 1; seed <= random_seeds(TRACES, MIXES); seed++) {
		oracle_random(&t, seed * 100 + (uint64_t)_i, mixes[_i], 8 + (int)(seed % 24));
		pairs += check_trace(&t);
		handed += handed_over(&t);
	}
	assert_enough(handed, mixes[_i] & ORACLE_STRAYS ? 50 : 0, TRACES);
	ck_assert_int_gt(pairs, 0);
	ck_assert_uint_gt(follow, 0);
}
END_TEST

SUITE(oracle)
{
	Suite *s = suite_create("oracle");
	TCase *c = tcase_create("random traces");
	tcase_set_timeout(c, 600);
	tcase_add_loop_test(c, orders_are_what_their_definitions_say_and_the_laws_hold, 0, MIXES);
	suite_add_tcase(s, c);
	return s;
}
