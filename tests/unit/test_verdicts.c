/*
 * Verdicts on atomicity violations, ASVs and deadlocks of small random traces with every kind of synchronisation are
 * those of the oracle, which tries every reordering: what one shows is observed or proved, and nothing else is; and the
 * atomicity violations and deadlocks of two threads that are possible are all found. Races: test_oracle.c.
 */
#include "lib/analysis/analysis.h"
#include "lib/search/pattern_file.h"
#include "tests/unit/random_trace.h"
#include "tests/unit/suite.h"

#include <check.h>

static const unsigned mixes[] = {
    ORACLE_LOCKS,
    ORACLE_LOCKS | ORACLE_FORKS,
    ORACLE_LOCKS | ORACLE_READERS,
    ORACLE_LOCKS | ORACLE_CONDITIONS | ORACLE_FORKS,
    ORACLE_LOCKS | ORACLE_BARRIERS | ORACLE_SEMAPHORES | ORACLE_ONCES | ORACLE_ANNOTATIONS,
    ORACLE_LOCKS | ORACLE_ATOMICS | ORACLE_HALF_ACCESSES,
    ORACLE_LOCKS | ORACLE_VALUES,
    ORACLE_ALL,
    ORACLE_LOCKS | ORACLE_STRAYS,
    ORACLE_LOCKS | ORACLE_READERS | ORACLE_CONDITIONS | ORACLE_FORKS | ORACLE_STRAYS,
    ORACLE_LOCKS | ORACLE_FORKS | ORACLE_DENSE,
    ORACLE_LOCKS | ORACLE_READERS | ORACLE_FORKS | ORACLE_CONDITIONS | ORACLE_DENSE,
    ORACLE_BINARY | ORACLE_DENSE,
    ORACLE_LOCKS | ORACLE_SEMAPHORES | ORACLE_DENSE,
    ORACLE_LOCKS | ORACLE_ONCES | ORACLE_FORKS | ORACLE_DENSE,
    ORACLE_LOCKS | ORACLE_BARRIERS | ORACLE_DENSE,
    ORACLE_LOCKS | ORACLE_BARRIERS | ORACLE_SEMAPHORES | ORACLE_ONCES | ORACLE_FORKS | ORACLE_DENSE,
    ORACLE_LOCKS | ORACLE_CONDITIONS | ORACLE_DENSE,
    ORACLE_BINARY | ORACLE_LOCKS | ORACLE_FORKS | ORACLE_VALUES,
};
/* With these, and without a cut of the region, what comes between may have to: no violation. */
enum { ORDERING = ORACLE_BARRIERS | ORACLE_SEMAPHORES | ORACLE_ONCES | ORACLE_ANNOTATIONS | ORACLE_ATOMICS };
enum { TRACES = 20000, MIXES = sizeof mixes / sizeof *mixes, TUPLES = 60 /* of one trace */ };

/*
 * The trace without the events that the model leaves out, since no other thread sees them: a thread's next event is
 * its next one that another thread may see.
 */
struct reduced {
	struct oracle_trace t;
	int place[ORACLE_EVENTS]; /* in t, by place in the whole trace */
};

static void reduce(const struct oracle_trace *t, const struct model *m, struct reduced *out)
{
	out->t = *t;
	out->t.count = 0;
	for (uint32_t e = 0; e < m->event_count; e++) {
		if (e && m->events[e].number == m->events[e - 1].number)
			continue; /* one that the model has as several */
		out->place[m->events[e].number - 1] = out->t.count;
		out->t.events[out->t.count++] = t->events[m->events[e].number - 1];
	}
}

/* The place of an event of the model. */
static int place(const struct reduced *r, const struct model *m, uint32_t e)
{
	return r->place[m->events[e].number - 1];
}

struct tally {
	uint64_t shown, conditional, refuted, predicted, own_reads;
};

/* Predicted, as its own read sees another write right before its thread's next event: of a program that proves nothing,
 * and of the same trace elsewhere it would. */
static bool is_of_own_read(const struct reduced *r, const struct anomaly *x, const int *events)
{
	static struct oracle_trace elsewhere;
	if (!r->t.program || x->verdict != VERDICT_PREDICTED)
		return false;
	elsewhere = r->t;
	elsewhere.program = false;
	return oracle_reaches(&elsewhere, true, events, (int)x->event_count);
}

static void check_anomaly(const struct reduced *r, const struct model *m, const struct anomaly *x, struct tally *tally)
{
	const struct oracle_trace *t = &r->t;
	int events[ANOMALY_EVENTS_MAX];
	for (uint32_t i = 0; i < x->event_count; i++)
		events[i] = place(r, m, x->events[i]);
	bool possible = oracle_reaches(t, x->kind != ANOMALY_DEADLOCK, events, (int)x->event_count);
	bool shown = x->verdict >= VERDICT_PROVED;
	/* What is no unit of work is possible all the same; only predicted it may be, in a program, or where an access
	 * is atomic. */
	bool may_be = t->program;
	for (uint32_t i = 0; i < x->event_count; i++)
		may_be |= rt_op_is_atomic(t->events[events[i]].op);
	if (may_be && x->verdict == VERDICT_PREDICTED && reasons_has(&x->reasons, REASON_UNGUARDED))
		return;
	if (reasons_has(&x->reasons, REASON_OWN_READ)) {
		ck_assert_msg(is_of_own_read(r, x, events), "no own read decides in\n%s", random_text(t));
		tally->own_reads++;
	}
	if (shown != possible)
		ck_abort_msg("%s %s %d %d %d %d is %s but %spossible in\n%s", anomaly_kind_name(x->kind), x->pattern,
		             events[0] + 1, events[1] + 1, x->event_count > 2 ? events[2] + 1 : 0,
		             x->event_count > 3 ? events[3] + 1 : 0, verdict_name(x->verdict), possible ? "" : "im",
		             random_text(t));
	bool free[ORACLE_EVENTS] = {false}, conditional = x->verdict == VERDICT_CONDITIONAL;
	for (uint32_t i = 0; i < x->need_count; i++)
		free[place(r, m, x->needs[i])] = true;
	if (x->verdict <= VERDICT_CONDITIONAL &&
	    conditional != oracle_reaches_free(t, x->kind != ANOMALY_DEADLOCK, events, (int)x->event_count,
	                                       conditional ? free : NULL))
		ck_abort_msg("%s %s %d %d %d %d is %s in\n%s", anomaly_kind_name(x->kind), x->pattern, events[0] + 1,
		             events[1] + 1, x->event_count > 2 ? events[2] + 1 : 0,
		             x->event_count > 3 ? events[3] + 1 : 0, verdict_name(x->verdict), random_text(t));
	tally->shown += shown;
	tally->conditional += conditional;
	tally->refuted += x->verdict == VERDICT_REFUTED;
	tally->predicted += x->verdict == VERDICT_PREDICTED;
}

/* Is the tuple of places (a deadlock's in any order) one of the anomalies? */
static bool listed(const struct reduced *r, const struct analysis *a, enum anomaly_kind kind, const int *events,
                   uint32_t count)
{
	for (size_t i = 0; i < a->anomalies.count; i++) {
		const struct anomaly *x = &a->anomalies.items[i];
		uint32_t same = 0;
		for (uint32_t k = 0; x->kind == kind && x->event_count == count && k < count; k++)
			for (uint32_t n = 0; n < count; n++)
				same += place(r, a->model, x->events[k]) == events[n] &&
				        (n == k || kind == ANOMALY_DEADLOCK);
		if (same == count)
			return true;
	}
	return false;
}

/* Returns whether it is possible, so that it had to be. */
static bool must_list(const struct reduced *r, const struct analysis *a, enum anomaly_kind kind, const int *events,
                      uint32_t count)
{
	const struct oracle_trace *t = &r->t;
	if (!oracle_reaches(t, kind != ANOMALY_DEADLOCK, events, (int)count))
		return false;
	if (!listed(r, a, kind, events, count))
		ck_abort_msg("%s not listed: %d %d %d in\n%s", anomaly_kind_name(kind), events[0] + 1, events[1] + 1,
		             count > 2 ? events[2] + 1 : 0, random_text(t));
	return true;
}

/* By place: the outermost critical section that it is in, cut at fork, join, wait and notify; 0: none. */
static void find_regions(const struct oracle_trace *t, int *regions)
{
	int held[ORACLE_THREADS] = {0}, now[ORACLE_THREADS] = {0}, count = 0;
	for (int i = 0; i < t->count; i++) {
		const struct rt_event *e = &t->events[i];
		int *mine = &held[e->thread], was = *mine;
		bool cut = e->op == RT_OP_FORK || e->op == RT_OP_JOIN || e->op == RT_OP_WAIT_BEGIN ||
		           e->op == RT_OP_WAIT_END || e->op == RT_OP_SIGNAL || e->op == RT_OP_BROADCAST;
		*mine += oracle_holds(e) - oracle_releases(e);
		if (*mine && (!was || cut))
			now[e->thread] = ++count;
		regions[i] = *mine ? now[e->thread] : 0;
	}
}

/* The four unserializable triples of one cell, all of whole variables. Returns how many there had to be. */
static uint64_t check_triples(const struct reduced *r, const struct analysis *a)
{
	const struct oracle_trace *t = &r->t;
	uint64_t possible = 0;
	int regions[ORACLE_EVENTS];
	find_regions(t, regions);
	for (int e1 = 0; e1 < t->count; e1++) {
		const struct rt_event *x = &t->events[e1], *y = NULL;
		int e3 = e1 + 1;
		for (; rt_op_is_access(x->op) && regions[e1] && e3 < t->count && !y; e3++)
			if (t->events[e3].thread == x->thread && oracle_halves(&t->events[e3]) == oracle_halves(x))
				y = &t->events[e3];
		e3--;
		for (int e2 = 0; y && regions[e3] == regions[e1] && e2 < t->count; e2++) {
			const struct rt_event *z = &t->events[e2];
			bool w1 = rt_op_writes(x->op), w2 = rt_op_writes(z->op), w3 = rt_op_writes(y->op);
			if (z->thread != x->thread && oracle_halves(z) == oracle_halves(x) &&
			    ((!w1 && w2) || (w1 && w2 && !w3) || (w1 && !w2 && w3)))
				possible += must_list(r, a, ANOMALY_ATOMICITY, (int[]){e1, e2, e3}, 3);
		}
	}
	return possible;
}

/* Does the thread of event i hold the lock there so that the acquire is kept out? */
static bool keeps_out(const struct oracle_trace *t, int i, const struct rt_event *acquire)
{
	bool held = false, shared = false;
	for (int k = 0; k < i; k++) {
		const struct rt_event *e = &t->events[k];
		if (e->thread != t->events[i].thread || !(oracle_holds(e) || oracle_releases(e)) ||
		    oracle_lock(e) != oracle_lock(acquire))
			continue;
		held = oracle_holds(e);
		shared = e->op == RT_OP_ACQUIRE_SHARED;
	}
	return held && !(shared && acquire->op == RT_OP_ACQUIRE_SHARED);
}

/* Is it certain who may end such a wait? Of a semaphore one thread alone that posts, another alone that waits; of a
 * condition one thread alone that signals; of a barrier as many threads as are parties. */
static bool certain(const struct oracle_trace *t, const struct rt_event *e)
{
	unsigned givers = 0, takers = 0, first = RT_OP_NONE;
	for (int i = 0; i < t->count; i++) {
		const struct rt_event *x = &t->events[i];
		if (x->addr != e->addr || rt_op_group(x->op) != rt_op_group(e->op))
			continue;
		first = first == RT_OP_NONE ? x->op : first;
		givers |= x->op == RT_OP_SEM_POST || x->op == RT_OP_BARRIER_ARRIVE || rt_op_has(x->op, RT_WAKES)
		              ? 1u << x->thread
		              : 0;
		takers |= x->op == RT_OP_SEM_WAIT ? 1u << x->thread : 0;
	}
	if (e->op == RT_OP_BARRIER_LEAVE)
		return (uint64_t)__builtin_popcount(givers) == oracle_parties(t);
	if (e->op == RT_OP_WAIT_END)
		return __builtin_popcount(givers) == 1;
	return first == RT_OP_SEM_INIT && __builtin_popcount(givers) == 1 && __builtin_popcount(takers) == 1 &&
	       !(givers & takers);
}

/* Does the event wait, for as long as it takes, for what only another thread's going on provides? */
static bool waits(const struct oracle_trace *t, const struct rt_event *e)
{
	if (e->flags & RT_F_TIMED)
		return false;
	if (e->op == RT_OP_BARRIER_LEAVE || e->op == RT_OP_WAIT_END || (e->op == RT_OP_SEM_WAIT && !oracle_acquires(e)))
		return certain(t, e);
	return oracle_acquires(e) || e->op == RT_OP_JOIN || e->op == RT_OP_ONCE_SEEN;
}

/* Number of events of the thread with this operation on the object before place i. */
static int count_before(const struct oracle_trace *t, uint32_t thread, unsigned op, uint64_t addr, int i)
{
	int n = 0;
	for (int k = 0; k < i; k++)
		n += t->events[k].thread == thread && t->events[k].op == op && t->events[k].addr == addr;
	return n;
}

/* Does the wait at i need more of this kind than the thread that is at k has given? */
static bool lacks(const struct oracle_trace *t, int i, int k)
{
	const struct rt_event *e = &t->events[i];
	uint32_t own = e->thread, other = t->events[k].thread;
	if (e->op == RT_OP_BARRIER_LEAVE)
		return count_before(t, other, RT_OP_BARRIER_ARRIVE, e->addr, k) <
		       count_before(t, own, RT_OP_BARRIER_ARRIVE, e->addr, i);
	int initial = 0;
	for (int n = 0; n < i; n++)
		initial =
		    t->events[n].op == RT_OP_SEM_INIT && t->events[n].addr == e->addr ? (int)t->events[n].arg : initial;
	/* The one that posts has posts left. */
	return count_before(t, other, RT_OP_SEM_POST, e->addr, t->count) >
	           count_before(t, other, RT_OP_SEM_POST, e->addr, k) &&
	       count_before(t, other, RT_OP_SEM_POST, e->addr, k) + initial <=
	           count_before(t, own, RT_OP_SEM_WAIT, e->addr, i);
}

/* Does the wait that i ends need a signal that the thread at k has still to give? */
static bool is_signalled_after(const struct oracle_trace *t, int i, int k)
{
	static oracle_pairs edges;
	const int begin = oracle_wait_begin(t, i);
	oracle_por_edges(t, edges);
	for (int s = k > begin ? k : begin + 1; s < i; s++)
		if (edges[s][i] && t->events[s].thread == t->events[k].thread && rt_op_has(t->events[s].op, RT_WAKES))
			return !keeps_out(t, k, &t->events[i]);
	return false;
}

/* Does event i, which waits, wait for the thread whose next event is the one at k? It does for the end of a thread that
 * has this event before its end. */
static bool waits_for(const struct oracle_trace *t, int i, int k)
{
	const struct rt_event *e = &t->events[i];
	if (e->op == RT_OP_JOIN)
		return e->addr == t->events[k].thread && k < i;
	if (e->thread == t->events[k].thread)
		return false;
	if (e->op == RT_OP_WAIT_END)
		return is_signalled_after(t, i, k);
	if (e->op == RT_OP_ONCE_SEEN)
		return count_before(t, t->events[k].thread, RT_OP_ONCE_BEGIN, e->addr, k) >
		       count_before(t, t->events[k].thread, RT_OP_ONCE_END, e->addr, k);
	if (e->op == RT_OP_BARRIER_LEAVE || (e->op == RT_OP_SEM_WAIT && !oracle_acquires(e)))
		return lacks(t, i, k);
	return keeps_out(t, k, e);
}

struct cycle {
	int events[3];
	uint32_t count;
};

/* Is it a ring of events that wait, each for the next one's thread, without a smaller ring in it? */
static bool is_ring(const struct oracle_trace *t, const struct cycle *c)
{
	for (uint32_t i = 0; i < c->count; i++) {
		int e = c->events[i], next = c->events[(i + 1) % c->count], before = c->events[(i + 2) % c->count];
		if (!waits_for(t, e, next))
			return false;
		if (c->count > 2 && (waits_for(t, next, e) || t->events[e].thread == t->events[before].thread))
			return false;
	}
	return true;
}

/* Threads that wait for one another, two or three of them. *joins: waits for a thread's end in them; *others: waits for
 * a post, at a barrier or for a once-routine. */
static uint64_t check_deadlocks(const struct reduced *r, const struct analysis *a, uint64_t *joins, uint64_t *others)
{
	const struct oracle_trace *t = &r->t;
	int of[ORACLE_EVENTS], count = 0;
	uint64_t possible = 0;
	for (int i = 0; i < t->count; i++)
		if (waits(t, &t->events[i]))
			of[count++] = i;
	/* The first is the earliest event; without a third one, k is i. */
	for (int i = 0; i < count; i++)
		for (int j = i + 1; j < count; j++)
			for (int k = i; k < count; k++) {
				struct cycle c = {{of[i], of[j], of[k]}, k == i ? 2 : 3};
				if (!is_ring(t, &c) || !must_list(r, a, ANOMALY_DEADLOCK, c.events, c.count))
					continue;
				possible++;
				for (uint32_t n = 0; n < c.count; n++) {
					*joins += t->events[c.events[n]].op == RT_OP_JOIN;
					*others += t->events[c.events[n]].op != RT_OP_JOIN &&
					           (!oracle_acquires(&t->events[c.events[n]]) ||
					            t->events[c.events[n]].op == RT_OP_WAIT_END);
				}
			}
	return possible;
}

START_TEST(what_some_reordering_shows_is_proved_and_nothing_else)
{
	static struct oracle_trace t;
	static struct reduced reduced;
	struct tally tally = {0};
	uint64_t triples = 0, deadlocks = 0, joins = 0, others = 0;
	for (uint64_t seed = 1; seed <= random_seeds(TRACES, MIXES); seed++) {
		struct memory_trace memory;
		struct analysis *a;
		struct rt_error err = {0};
		struct analysis_options options = {
		    .every = true, .kinds = 1u << ANOMALY_ATOMICITY | 1u << ANOMALY_ASV | 1u << ANOMALY_DEADLOCK};
		oracle_random(&t, seed * 77 + (uint64_t)_i * 1000003, mixes[_i], 10 + (int)(seed % 16));
		t.program = seed % 3 == 0;
		ck_assert_msg(analysis_run(random_trace(&memory, &t), &options, &a, &err) == RT_OK, "%s", err.message);
		ck_assert_msg(!a->proofs.rejected, "the judge refuses what a prover promised in\n%s", random_text(&t));
		reduce(&t, a->model, &reduced);
		for (size_t i = 0; i < a->anomalies.count && i < TUPLES; i++)
			check_anomaly(&reduced, a->model, &a->anomalies.items[i], &tally);
		if (!(mixes[_i] & ORDERING))
			triples += check_triples(&reduced, a);
		if (!(mixes[_i] & (ORACLE_ANNOTATIONS | ORACLE_ATOMICS)))
			deadlocks += check_deadlocks(&reduced, a, &joins, &others);
		analysis_free(a);
	}
	assert_enough(tally.shown, 1, TRACES);
	/* These are for deadlocks, and have few accesses. */
	bool sparse = mixes[_i] & ORACLE_DENSE && mixes[_i] & ORDERING;
	if (!sparse)
		assert_enough(tally.conditional, 1, TRACES);
	if (mixes[_i] == ORACLE_LOCKS)
		assert_enough(tally.own_reads, 1, TRACES);
	printf("verdicts, mix %d: %lu shown, %lu conditional, %lu refuted, %lu predicted, %lu of them by own reads; "
	       "%lu deadlocks, %lu joins, %lu posts and the like in them\n",
	       _i, (unsigned long)tally.shown, (unsigned long)tally.conditional, (unsigned long)tally.refuted,
	       (unsigned long)tally.predicted, (unsigned long)tally.own_reads, (unsigned long)deadlocks,
	       (unsigned long)joins, (unsigned long)others);
	if (!(mixes[_i] & ORDERING)) {
		assert_enough(triples, 1, TRACES);
		if (mixes[_i] == ORACLE_LOCKS)
			assert_enough(deadlocks, 1, TRACES);
		if (mixes[_i] == (ORACLE_LOCKS | ORACLE_FORKS | ORACLE_DENSE))
			assert_enough(joins, 1, TRACES);
		if (mixes[_i] & ORACLE_BINARY)
			assert_enough(deadlocks, 1, TRACES);
		if (mixes[_i] == (ORACLE_LOCKS | ORACLE_CONDITIONS | ORACLE_DENSE))
			assert_enough(others, 1, TRACES);
	}
	if (sparse)
		assert_enough(others, 1, TRACES);
}
END_TEST

static uint64_t pc_of(const struct analysis *a, const struct anomaly *x, uint32_t i)
{
	return a->model->sites[a->model->events[x->events[i]].site].pc;
}

/* The strongest verdict on a tuple, of those listed one by one, at the source positions of this anomaly. */
static enum verdict strongest(const struct analysis *every, const struct analysis *a, const struct anomaly *x)
{
	enum verdict best = VERDICT_REFUTED;
	for (size_t i = 0; i < every->anomalies.count; i++) {
		const struct anomaly *y = &every->anomalies.items[i];
		uint32_t same = 0;
		for (uint32_t k = 0; k < x->event_count && y->pattern == x->pattern; k++)
			same += pc_of(every, y, k) == pc_of(a, x, k);
		if (same == x->event_count && y->verdict > best)
			best = y->verdict;
	}
	return best;
}

/* One that is no built-in one: other accesses may come between a and c. */
static const char mine[] =
    "pattern mine\nE = a - b - c\nT = t - u - t\nSV = s - s - s\nAR = x - y - x\nAT = r - w - r\n";

/* Many instances share their source positions here. */
START_TEST(what_is_refuted_at_source_positions_is_refuted_of_each_tuple)
{
	static struct oracle_trace t;
	uint64_t refuted = 0, shown = 0;
	struct pattern_list user = {0};
	struct rt_error err = {0};
	ck_assert_msg(!pattern_list_parse(&user, mine, sizeof mine - 1, "mine", &err), "%s", err.message);
	for (uint64_t seed = 1; seed <= random_seeds(TRACES / 2, MIXES); seed++) {
		struct memory_trace memory;
		struct analysis *every, *folded;
		struct analysis_options options = {.kinds = 1u << ANOMALY_ATOMICITY | 1u << ANOMALY_ASV |
		                                            1u << ANOMALY_PATTERN,
		                                   .orders = 1,
		                                   .user = user.items};
		oracle_random(&t, seed * 77 + (uint64_t)_i * 1000003, mixes[_i], 12 + (int)(seed % 20));
		ck_assert_msg(analysis_run(random_trace(&memory, &t), &options, &folded, &err) == RT_OK, "%s",
		              err.message);
		options.every = true;
		ck_assert_msg(analysis_run(random_trace(&memory, &t), &options, &every, &err) == RT_OK, "%s",
		              err.message);
		for (size_t i = 0; i < folded->anomalies.count; i++) {
			const struct anomaly *x = &folded->anomalies.items[i];
			enum verdict best = strongest(every, folded, x);
			if (x->verdict <= VERDICT_CONDITIONAL && best > x->verdict)
				ck_abort_msg("%s %s %u %u %u is %s, but %s in\n%s", anomaly_kind_name(x->kind),
				             x->pattern, x->events[0] + 1, x->events[1] + 1, x->events[2] + 1,
				             verdict_name(x->verdict), verdict_name(best), random_text(&t));
			refuted += x->verdict <= VERDICT_CONDITIONAL;
			shown += x->verdict >= VERDICT_PROVED;
		}
		analysis_free(every);
		analysis_free(folded);
	}
	pattern_list_release(&user);
	if (!(mixes[_i] & ORACLE_DENSE && mixes[_i] & ORDERING)) {
		assert_enough(refuted, 1, TRACES / 2);
		assert_enough(shown, 1, TRACES / 2);
	}
}
END_TEST

SUITE(verdicts)
{
	Suite *s = suite_create("verdicts");
	TCase *c = tcase_create("random traces");
	tcase_set_timeout(c, 600);
	tcase_add_loop_test(c, what_some_reordering_shows_is_proved_and_nothing_else, 0, MIXES);
	tcase_add_loop_test(c, what_is_refuted_at_source_positions_is_refuted_of_each_tuple, 0, MIXES);
	suite_add_tcase(s, c);
	return s;
}
