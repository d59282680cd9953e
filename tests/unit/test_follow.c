/*
 * What races follow from, against the oracle: on small random traces with atomics of every memory order, an observed
 * race follows another exactly if SHB orders all pairs of its source positions; each cause is a race that follows no
 * other or a relaxed atomic, and without the causes' edges nothing orders the pair, or a predicted one only locks.
 */
#include "lib/analysis/analysis.h"
#include "tests/unit/random_trace.h"
#include "tests/unit/suite.h"

#include <check.h>

enum { TRACES = 8000, POSITIONS = 8 };

static const unsigned mixes[] = {
    0,
    ORACLE_LOCKS,
    ORACLE_LOCKS | ORACLE_FORKS,
    ORACLE_ATOMICS,
    ORACLE_ATOMICS | ORACLE_HALF_ACCESSES,
    ORACLE_ATOMICS | ORACLE_LOCKS | ORACLE_FORKS,
    ORACLE_SEMAPHORES | ORACLE_CONDITIONS | ORACLE_ATOMICS,
    ORACLE_ALL & ~ORACLE_VALUES,
};
enum { MIXES = sizeof mixes / sizeof *mixes };

static struct analysis *analyze(struct rt_trace *trace, bool proves)
{
	struct analysis *a = NULL;
	struct analysis_options options = {
	    .kinds = 1u << ANOMALY_RACE, .unproved = !proves, .set_memory_model = true, .memory_model = RT_MODEL_C11};
	struct rt_error err = {0};
	if (analysis_run(trace, &options, &a, &err))
		ck_abort_msg("%s", err.message);
	ck_assert(!a->causes.cut);
	return a;
}

/* ---- Random traces ---- */

/* Two positions, of races or of relaxed atomics. */
struct pair {
	uint64_t low, high;
	bool relaxed;
};

static struct pair pair_of(const struct oracle_trace *t, int i, int j)
{
	const struct rt_event *a = &t->events[i], *b = &t->events[j];
	return (struct pair){a->pc < b->pc ? a->pc : b->pc, a->pc < b->pc ? b->pc : a->pc,
	                     rt_op_is_atomic(a->op) && rt_op_is_atomic(b->op)};
}

static bool same_pair(struct pair a, struct pair b)
{
	return a.low == b.low && a.high == b.high && a.relaxed == b.relaxed;
}

/* Which edges count. */
struct counting {
	const struct oracle *o;
	struct pair without[64];
	int count;
};

/* Is there a pair at these positions? *first: the second event of the first one. */
static bool some_pair(const struct oracle_trace *t, const bool pairs[][ORACLE_EVENTS], struct pair p, int *first)
{
	for (int j = 0; j < t->count; j++)
		for (int i = 0; i < j; i++)
			if (pairs[i][j] && same_pair(pair_of(t, i, j), p)) {
				*first = j;
				return true;
			}
	return false;
}

/* Those of races that SHB does not order, and of relaxed atomics. */
static bool counts(const struct oracle_trace *t, int write, int read, const void *arg)
{
	const struct counting *c = arg;
	struct pair p = pair_of(t, write, read);
	int first;
	for (int i = 0; i < c->count; i++)
		if (same_pair(c->without[i], p))
			return false;
	return p.relaxed || some_pair(t, c->o->shb, p, &first);
}

static bool no_edge_counts(const struct oracle_trace *t, int write, int read, const void *arg)
{
	(void)t, (void)write, (void)read, (void)arg;
	return false;
}

static int place(const struct analysis *a, uint32_t e)
{
	return (int)a->model->events[e].number - 1;
}

static struct pair pair_of_cause(const struct oracle_trace *t, const struct analysis *a, const struct cause *cause)
{
	return pair_of(t, place(a, cause->write), place(a, cause->read));
}

/* The first pair of the anomaly's positions, among the anomalies there. */
static const struct anomaly *first_of(const struct oracle_trace *t, const struct analysis *a, struct pair p)
{
	const struct anomaly *first = NULL;
	for (size_t i = a->anomalies.count; i-- > 0;) {
		const struct anomaly *x = &a->anomalies.items[i];
		if (x->verdict == VERDICT_OBSERVED &&
		    same_pair(pair_of(t, place(a, x->events[0]), place(a, x->events[1])), p) &&
		    (!first || x->events[1] < first->events[1]))
			first = x;
	}
	return first;
}

/* Without the edges of all its causes the pair is not ordered, and each of them is needed: alone, or if no other is. */
static void check_needed(const struct oracle_trace *t, const struct analysis *a, const struct anomaly *x,
                         struct counting *c)
{
	int e1 = place(a, x->events[0]), e2 = place(a, x->events[1]), alone = 0, again = 0;
	const bool locks = x->verdict == VERDICT_OBSERVED;
	c->count = 0;
	if (!oracle_ordered(t, e1, e2, locks, counts, c))
		ck_abort_msg("(%d, %d) is said to be ordered in\n%s", e1 + 1, e2 + 1, random_text(t));
	for (uint32_t i = 0; i < x->cause_count; i++)
		c->without[c->count++] = pair_of_cause(t, a, &a->causes.items[x->causes[i]]);
	if (oracle_ordered(t, e1, e2, locks, counts, c))
		ck_abort_msg("(%d, %d) is ordered without its causes in\n%s", e1 + 1, e2 + 1, random_text(t));
	int count = c->count;
	for (int i = 0; i < count; i++) {
		struct counting one = {.o = c->o, .without = {c->without[i]}, .count = 1}, rest = *c;
		rest.without[i] = rest.without[--rest.count];
		alone += !oracle_ordered(t, e1, e2, locks, counts, &one);
		again += oracle_ordered(t, e1, e2, locks, counts, &rest);
	}
	if (alone != count && again != count)
		ck_abort_msg("(%d, %d) names %d causes, %d needed alone, %d if the others are not there, in\n%s",
		             e1 + 1, e2 + 1, count, alone, again, random_text(t));
}

static void check_cause(const struct oracle_trace *t, const struct oracle *o, const struct analysis *a,
                        const struct cause *cause)
{
	int w = place(a, cause->write), r = place(a, cause->read), first;
	struct pair p = pair_of(t, w, r);
	bool saw = false;
	for (int half = 0; half < ORACLE_HALVES; half++)
		saw |= oracle_halves(&t->events[r]) >> half & 1 && oracle_last_write(t, half, r) == w;
	ck_assert_msg(saw, "%d did not see %d in\n%s", r + 1, w + 1, random_text(t));
	ck_assert_int_eq(p.relaxed, cause->anomaly == MODEL_NONE);
	if (p.relaxed)
		return;
	const struct anomaly *x = &a->anomalies.items[cause->anomaly];
	ck_assert(x->verdict == VERDICT_OBSERVED && !x->follows);
	ck_assert(o->hb[w][r]);
	ck_assert(some_pair(t, o->shb, p, &first));
}

struct tally {
	uint64_t roots, followers, relaxed, several, predicted;
};

/* Locks order it. It follows what orders it besides, if anything does. */
static void check_predicted(const struct oracle_trace *t, const struct oracle *o, const struct analysis *a,
                            const struct anomaly *x, struct tally *tally)
{
	struct counting c = {.o = o};
	for (uint32_t k = 0; k < x->cause_count; k++)
		check_cause(t, o, a, &a->causes.items[x->causes[k]]);
	int e1 = place(a, x->events[0]), e2 = place(a, x->events[1]);
	/* Without any edges: an atomic that races may itself order the pair. */
	if (x->follows)
		check_needed(t, a, x, &c);
	else if (!x->other_count && !oracle_ordered(t, e1, e2, false, no_edge_counts, NULL))
		ck_assert(!oracle_ordered(t, e1, e2, false, counts, &c));
	tally->predicted += x->follows;
}

static void check(const struct oracle_trace *t, const struct oracle *o, struct tally *tally)
{
	struct memory_trace memory;
	struct analysis *a = analyze(random_trace(&memory, t), false);
	struct counting c = {.o = o};
	for (size_t i = 0; i < a->anomalies.count; i++) {
		const struct anomaly *x = &a->anomalies.items[i];
		struct pair p = pair_of(t, place(a, x->events[0]), place(a, x->events[1]));
		int first;
		if (x->verdict != VERDICT_OBSERVED) {
			check_predicted(t, o, a, x, tally);
			continue;
		}
		bool root = some_pair(t, o->shb, p, &first);
		if (root == x->follows || x->follows != (x->cause_count > 0))
			ck_abort_msg("%d and %d: follows is %d in\n%s", place(a, x->events[0]) + 1,
			             place(a, x->events[1]) + 1, x->follows, random_text(t));
		tally->roots += root;
		tally->followers += !root;
		tally->several += x->cause_count > 1;
		for (uint32_t k = 0; k < x->cause_count; k++) {
			const struct cause *cause = &a->causes.items[x->causes[k]];
			check_cause(t, o, a, cause);
			tally->relaxed += cause->anomaly == MODEL_NONE;
		}
		if (root || first_of(t, a, p) != x)
			continue;
		ck_assert(some_pair(t, o->hb, p, &first));
		ck_assert_int_eq(first, place(a, x->events[1]));
		check_needed(t, a, x, &c);
	}
	analysis_free(a);
}

START_TEST(causes_are_roots_and_without_them_nothing_is_ordered)
{
	static struct oracle_trace t;
	static struct oracle o;
	struct tally tally = {0};
	for (uint64_t seed = 1; seed <= random_seeds(TRACES, MIXES); seed++) {
		oracle_random(&t, seed * 100 + 50 + (uint64_t)_i, mixes[_i], 12 + (int)(seed % 24));
		for (int i = 0; i < t.count; i++)
			t.events[i].pc = 1 + (t.events[i].pc * 7 + (uint64_t)i) % POSITIONS;
		oracle_run(&t, &o);
		check(&t, &o, &tally);
	}
	printf("follow: %lu roots, %lu followers, %lu of relaxed atomics, %lu of several causes, %lu predicted\n",
	       tally.roots, tally.followers, tally.relaxed, tally.several, tally.predicted);
	ck_assert_uint_gt(tally.roots, 0);
	assert_enough(tally.followers, 1, TRACES);
	/* With all features one comes in thousands of traces. */
	if (mixes[_i] & ORACLE_LOCKS && mixes[_i] != (ORACLE_ALL & ~ORACLE_VALUES))
		assert_enough(tally.predicted, 1, TRACES);
	if (mixes[_i] & ORACLE_ATOMICS)
		assert_enough(tally.relaxed, 1, TRACES);
}
END_TEST

/* ---- Stamped traces ---- */

#define E(t, name, p, ...) ((struct rt_event){.thread = (t), .op = RT_OP_##name, .pc = (p), __VA_ARGS__})
#define READ(t, p, a) E(t, READ, p, .addr = (a), .arg = 8)
#define WRITE(t, p, a) E(t, WRITE, p, .addr = (a), .arg = 8)
#define ACQ(t, l) E(t, ACQUIRE, 90, .addr = (l))
#define REL(t, l) E(t, RELEASE, 91, .addr = (l))
enum { UPDATE_READ = 70, UPDATE_WRITE = 71 };
enum { X = 0x1000, FLAG = 0x2000, Y = 0x3000, LOCK = 0x100, OTHER = 0x200 };

/* The position of the write of what the race at these positions follows from; 0: it follows nothing, -1: is not there,
 * or has another verdict. */
static int follows(enum verdict verdict, struct rt_event *events, size_t n, uint64_t pc1, uint64_t pc2)
{
	static const struct rt_update updates[] = {{UPDATE_READ, UPDATE_WRITE}};
	struct memory_trace memory;
	int found = -1;
	for (size_t i = 0; i < n; i++)
		events[i].number = i + 1;
	struct rt_trace *trace = memory_trace(&memory, events, n, 3);
	memory.updates = updates;
	memory.update_count = 1;
	trace->info.exact = false;
	struct analysis *a = analyze(trace, verdict != VERDICT_OBSERVED);
	for (size_t i = 0; i < a->anomalies.count; i++) {
		const struct anomaly *x = &a->anomalies.items[i];
		uint64_t p1 = events[place(a, x->events[0])].pc, p2 = events[place(a, x->events[1])].pc;
		if (x->verdict != verdict || p1 + p2 != pc1 + pc2 || (p1 != pc1 && p1 != pc2))
			continue;
		ck_assert_int_eq(x->cause_count > 0, x->follows);
		ck_assert_uint_le(x->cause_count, 1);
		found = x->follows ? (int)events[place(a, a->causes.items[x->causes[0]].write)].pc : 0;
	}
	analysis_free(a);
	return found;
}
#define FOLLOWS_AS(verdict, pc1, pc2, ...)                                                                             \
	follows(verdict, (struct rt_event[]){__VA_ARGS__},                                                             \
	        sizeof((struct rt_event[]){__VA_ARGS__}) / sizeof(struct rt_event), pc1, pc2)
#define FOLLOWS(...) FOLLOWS_AS(VERDICT_OBSERVED, __VA_ARGS__)

START_TEST(a_racy_read_may_have_seen_a_write_that_stands_behind_it)
{
	/* The data by 1 and 2, behind the flag of 3 and 4, whichever of them stands first. */
	ck_assert_int_eq(FOLLOWS(1, 2, WRITE(0, 1, X), WRITE(0, 3, FLAG), READ(1, 4, FLAG), WRITE(1, 2, X)), 3);
	ck_assert_int_eq(FOLLOWS(1, 2, WRITE(0, 1, X), READ(1, 4, FLAG), WRITE(0, 3, FLAG), WRITE(1, 2, X)), 3);
	ck_assert_int_eq(FOLLOWS(1, 2, WRITE(0, 1, X), READ(1, 4, FLAG), WRITE(1, 2, X), WRITE(0, 3, FLAG)), 3);
	ck_assert_int_eq(FOLLOWS(1, 2, READ(1, 4, FLAG), WRITE(1, 2, X), WRITE(0, 1, X), WRITE(0, 3, FLAG)), 3);
	ck_assert_int_eq(FOLLOWS(3, 4, READ(1, 4, FLAG), WRITE(1, 2, X), WRITE(0, 1, X), WRITE(0, 3, FLAG)), 0);
	/* Not where the flag comes first in one thread, and last in the other. */
	ck_assert_int_eq(FOLLOWS(1, 2, WRITE(0, 3, FLAG), WRITE(0, 1, X), WRITE(1, 2, X), READ(1, 4, FLAG)), 0);
}
END_TEST

START_TEST(a_read_that_was_over_has_not_seen_what_came_later)
{
	/* Each thread uses a lock of its own: the read is over before the write begins. */
	ck_assert_int_eq(FOLLOWS(1, 2, READ(1, 4, FLAG), WRITE(1, 2, X), ACQ(1, LOCK), REL(1, LOCK), ACQ(0, OTHER),
	                         REL(0, OTHER), WRITE(0, 1, X), WRITE(0, 3, FLAG)),
	                 0);
	/* Here it need not be. */
	ck_assert_int_eq(FOLLOWS(1, 2, READ(1, 4, FLAG), WRITE(1, 2, X), ACQ(0, OTHER), REL(0, OTHER), WRITE(0, 1, X),
	                         WRITE(0, 3, FLAG), ACQ(1, LOCK), REL(1, LOCK)),
	                 3);
}
END_TEST

START_TEST(a_read_after_which_its_thread_went_on_has_not_seen_the_end_of_its_loop)
{
	/* A loop until the flag is set reads the data, and behind it something else. */
	ck_assert_int_eq(FOLLOWS(1, 2, READ(1, 4, FLAG), READ(1, 2, X), WRITE(0, 1, X), WRITE(0, 3, FLAG),
	                         READ(1, 4, FLAG), READ(1, 5, Y)),
	                 0);
	/* Here it reads the data behind the loop. */
	ck_assert_int_eq(FOLLOWS(1, 2, READ(1, 4, FLAG), READ(1, 5, Y), WRITE(0, 1, X), WRITE(0, 3, FLAG),
	                         READ(1, 4, FLAG), READ(1, 2, X)),
	                 3);
	/* And here it read it whatever the flag was. */
	ck_assert_int_eq(FOLLOWS(1, 2, READ(1, 4, FLAG), WRITE(1, 2, X), WRITE(0, 1, X), WRITE(0, 3, FLAG),
	                         READ(1, 4, FLAG), WRITE(1, 2, X)),
	                 3);
}
END_TEST

START_TEST(of_races_that_order_one_another_one_follows_the_other)
{
	/* Either would order the other, if its read had seen the write: the order of the trace tells which did. */
	ck_assert_int_eq(FOLLOWS(1, 2, READ(0, 1, X), WRITE(0, 3, FLAG), READ(1, 4, FLAG), WRITE(1, 2, X)), 3);
	ck_assert_int_eq(FOLLOWS(3, 4, READ(0, 1, X), WRITE(0, 3, FLAG), READ(1, 4, FLAG), WRITE(1, 2, X)), 0);
	ck_assert_int_eq(FOLLOWS(1, 2, READ(1, 4, FLAG), WRITE(1, 2, X), READ(0, 1, X), WRITE(0, 3, FLAG)), 0);
	ck_assert_int_eq(FOLLOWS(3, 4, READ(1, 4, FLAG), WRITE(1, 2, X), READ(0, 1, X), WRITE(0, 3, FLAG)), 2);
}
END_TEST

START_TEST(no_race_follows_from_an_update_whose_result_decides_nothing)
{
	/* Both threads count behind, or before, their writes of the data: two bugs. */
	ck_assert_int_eq(FOLLOWS(1, 2, WRITE(0, 1, X), READ(0, UPDATE_READ, Y), WRITE(0, UPDATE_WRITE, Y),
	                         READ(1, UPDATE_READ, Y), WRITE(1, UPDATE_WRITE, Y), WRITE(1, 2, X)),
	                 0);
	/* What reads the count otherwise may wait for it. */
	ck_assert_int_eq(FOLLOWS(1, 2, WRITE(0, 1, X), READ(0, UPDATE_READ, Y), WRITE(0, UPDATE_WRITE, Y),
	                         READ(1, 4, Y), WRITE(1, 2, X)),
	                 UPDATE_WRITE);
}
END_TEST

START_TEST(a_lock_that_orders_a_pair_in_this_run_hides_no_cause)
{
	/* As above, but the reading thread takes a lock that the other has released behind its write. */
	ck_assert_int_eq(FOLLOWS_AS(VERDICT_PREDICTED, 1, 2, ACQ(0, LOCK), WRITE(0, 1, X), REL(0, LOCK),
	                            WRITE(0, 3, FLAG), ACQ(1, LOCK), REL(1, LOCK), READ(1, 4, FLAG), WRITE(1, 2, X)),
	                 3);
	/* The flag is written and read under a lock: what its read saw is known, and decides. */
	ck_assert_int_eq(FOLLOWS_AS(VERDICT_CONDITIONAL, 1, 2, WRITE(0, 1, X), ACQ(0, LOCK), WRITE(0, 3, FLAG),
	                            REL(0, LOCK), ACQ(1, LOCK), READ(1, 4, FLAG), REL(1, LOCK), WRITE(1, 2, X)),
	                 0);
}
END_TEST

SUITE(follow)
{
	Suite *s = suite_create("follow");
	TCase *c = tcase_create("random traces");
	tcase_set_timeout(c, 600);
	tcase_add_loop_test(c, causes_are_roots_and_without_them_nothing_is_ordered, 0, MIXES);
	suite_add_tcase(s, c);
	c = tcase_create("stamped traces");
	tcase_add_test(c, a_racy_read_may_have_seen_a_write_that_stands_behind_it);
	tcase_add_test(c, a_read_that_was_over_has_not_seen_what_came_later);
	tcase_add_test(c, a_read_after_which_its_thread_went_on_has_not_seen_the_end_of_its_loop);
	tcase_add_test(c, of_races_that_order_one_another_one_follows_the_other);
	tcase_add_test(c, no_race_follows_from_an_update_whose_result_decides_nothing);
	tcase_add_test(c, a_lock_that_orders_a_pair_in_this_run_hides_no_cause);
	suite_add_tcase(s, c);
	return s;
}
