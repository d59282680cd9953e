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

/* Threads that are all alive, each of which adds to a few variables under one of a few locks. */
enum { ALIVE = 2000, ALIVE_SHARED = 4, ALIVE_EVENTS = 2 + 4 * ALIVE_SHARED };

static struct rt_event *add_event(struct rt_event *e, enum rt_op op, uint32_t thread, uint64_t addr, uint64_t size)
{
	*e = (struct rt_event){.op = op, .thread = thread, .addr = addr, .arg = size, .pc = op};
	return e + 1;
}

static struct rt_trace *alive_trace(struct memory_trace *memory, struct rt_thread *threads, struct rt_event *events)
{
	struct rt_event *e = events;
	for (uint32_t t = 1; t < ALIVE; t++)
		e = add_event(e, RT_OP_FORK, 0, t, 0);
	for (uint32_t t = 1; t < ALIVE; t++) {
		for (uint32_t k = 0; k < ALIVE_SHARED; k++) {
			e = add_event(e, RT_OP_ACQUIRE, t, 0x1000 + t % 8, 0);
			e = add_event(e, RT_OP_READ, t, 0x8000 + (t + k) % 50 * 8, 8);
			e = add_event(e, RT_OP_WRITE, t, 0x8000 + (t + k) % 50 * 8, 8);
			e = add_event(e, RT_OP_RELEASE, t, 0x1000 + t % 8, 0);
		}
	}
	for (size_t i = 0; events + i < e; i++)
		events[i].number = events[i].stamp = i + 1;
	for (uint32_t t = 0; t < ALIVE; t++)
		threads[t] = (struct rt_thread){.name = "thread"};
	struct rt_trace *trace = memory_trace(memory, events, (size_t)(e - events), 1);
	trace->info.threads = threads;
	trace->info.thread_count = ALIVE;
	return trace;
}

START_TEST(what_is_needed_of_many_threads_is_looked_at_once)
{
	static struct rt_event events[(size_t)ALIVE * ALIVE_EVENTS];
	static struct rt_thread threads[ALIVE];
	struct memory_trace memory;
	struct subject s;
	subject_init(&s, alive_trace(&memory, threads, events));
	/* The last thread's first read before the last write of the thread before it. That needs, of each other thread,
	 * what the read goes back to, and the ends of the sections in which that lies. */
	const struct model_thread *last = &s.m->threads[ALIVE - 1], *before = &s.m->threads[ALIVE - 2];
	struct goal goal = {
	    .kind = GOAL_SEQUENCE, .count = 2, .events = {last->events[1], before->events[before->count - 2]}};
	uint64_t spent, looked = search_looked(s.search);
	search_contradicts(s.search, &goal, 1000000, &spent);
	looked = search_looked(s.search) - looked;
	printf("%d threads that are alive: looked at %d\n", ALIVE, (int)looked);
	fflush(stdout);
	/* One look at all threads for each thread would be ALIVE * ALIVE. */
	ck_assert_uint_lt(looked, (uint64_t)ALIVE * 4);
	subject_release(&s);
}
END_TEST

SUITE(precede)
{
	Suite *s = suite_create("precede");
	TCase *c = tcase_create("sequences");
	tcase_add_loop_test(c, what_pairs_refute_has_no_witness, 0, MIXES);
	tcase_add_test(c, what_is_needed_of_many_threads_is_looked_at_once);
	suite_add_tcase(s, c);
	return s;
}
