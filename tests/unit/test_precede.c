/*
 * What pairs of events refute: sequences over random traces, of which none that is refuted may have a witness, as far
 * as the exhaustive search can tell, which tries every order.
 */
#include "lib/prove/precede.h"
#include "tests/unit/random_trace.h"
#include "tests/unit/subject.h"
#include "tests/unit/suite.h"

static const unsigned mixes[] = {
    ORACLE_LOCKS,
    ORACLE_LOCKS | ORACLE_FORKS,
    ORACLE_LOCKS | ORACLE_READERS | ORACLE_HALF_ACCESSES,
    ORACLE_LOCKS | ORACLE_CONDITIONS,
    ORACLE_ATOMICS | ORACLE_LOCKS | ORACLE_FORKS,
    ORACLE_ALL & ~ORACLE_VALUES,
};
enum { TRACES = 3000, MIXES = sizeof mixes / sizeof *mixes, GOALS = 200 };

struct tally {
	int refuted, beyond_needs, open;
};

/* Some accesses in any order in which each thread's are in its own. */
static bool draw(const struct model *m, uint64_t *state, struct goal *goal)
{
	*goal = (struct goal){.kind = GOAL_SEQUENCE};
	uint32_t next[ORACLE_THREADS] = {0}, wanted = 2 + (uint32_t)(*state >> 40) % 3, threads = 0;
	for (int tries = 0; tries < 40 && goal->count < wanted; tries++) {
		*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		uint32_t e = (uint32_t)((*state >> 33) % m->event_count), thread = model_thread_of(m, e);
		if (!rt_op_is_access(model_op(m, e)) || m->events[e].pos < next[thread])
			continue;
		next[thread] = m->events[e].pos + 1;
		threads |= 1u << thread;
		goal->events[goal->count++] = e;
	}
	return goal->count == wanted && (threads & (threads - 1));
}

static void check(struct subject *s, const struct precede *p, const struct goal *goal, struct tally *tally)
{
	struct schedule schedule = {0};
	uint64_t spent;
	tally->open += !precede_refutes(p, goal);
	if (!precede_refutes(p, goal))
		return;
	tally->refuted++;
	tally->beyond_needs += !search_refutes(s->search, goal);
	ck_assert_int_eq(search_goal(s->search, goal, 1000000, &schedule, &spent), SEARCH_NONE);
}

START_TEST(what_pairs_refute_has_no_witness)
{
	static struct oracle_trace t;
	static struct goal goals[GOALS];
	struct tally tally = {0};
	for (uint64_t seed = 1; seed <= random_seeds(TRACES, MIXES); seed++) {
		struct memory_trace memory;
		struct subject s;
		uint64_t state = seed;
		int count = 0;
		oracle_random(&t, seed * 100 + (uint64_t)_i, mixes[_i], 12 + (int)(seed % 24));
		subject_init(&s, random_trace(&memory, &t));
		struct precede p = {.m = s.m};
		for (int i = 0; i < GOALS && s.m->event_count; i++)
			count += draw(s.m, &state, &goals[count]);
		for (int i = 0; i < count; i++)
			ck_assert(precede_ask(&p, &goals[i]));
		ck_assert_uint_lt(precede_find(&p, s.search, 100000, UINT64_MAX), UINT64_MAX);
		for (int i = 0; i < count; i++)
			check(&s, &p, &goals[i], &tally);
		precede_release(&p);
		subject_release(&s);
	}
	printf("pairs refute %d of %d random sequences, %d of them beyond what needs refute\n", tally.refuted,
	       tally.refuted + tally.open, tally.beyond_needs);
	fflush(stdout);
	assert_enough(tally.refuted, 1001, TRACES);
	assert_enough(tally.beyond_needs, 11, TRACES);
	assert_enough(tally.open, 1001, TRACES);
}
END_TEST

SUITE(precede)
{
	Suite *s = suite_create("precede");
	TCase *c = tcase_create("sequences");
	tcase_add_loop_test(c, what_pairs_refute_has_no_witness, 0, MIXES);
	suite_add_tcase(s, c);
	return s;
}
