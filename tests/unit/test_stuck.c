/*
 * Threads that can never go on: what stuck_find says of random ends of traces against a slow definition, and of small
 * traces what it must not say.
 */
#include "lib/analysis/analysis.h"
#include "lib/search/stuck.h"
#include "tests/unit/memory_trace.h"
#include "tests/unit/scratch.h"
#include "tests/unit/suite.h"

#include <check.h>
#include <stdlib.h>

enum { THREADS = 6, LOCKS = 4, EVENTS = 128 };
/* Addresses. */
enum { LOCK = 0x1000, COND = 0x2000, SEM = 0x3000, BARRIER = 0x4000, ONCE = 0x5000, WORD = 0x6000 };

/* The end of a run: what each thread has and waits for. */
struct end {
	uint32_t threads;
	int holds[THREADS][LOCKS]; /* 1: as a reader, 2: alone */
	uint32_t taken[THREADS][LOCKS],
	    last[THREADS];        /* numbers of the acquire, and of the last event before the BLOCK */
	unsigned op[THREADS];     /* what it waits to do, 0: nothing */
	uint32_t object[THREADS]; /* lock, or thread */
	uint32_t mutex[THREADS];  /* of a wait for the condition */
	bool timed[THREADS], ended[THREADS], runs_once[THREADS];
	uint32_t blocked[THREADS], wake[THREADS]; /* numbers of its BLOCK, and of its last wake of the word */
	bool signalled, token, full;
	struct rt_event events[EVENTS];
	uint32_t count;
};

static uint64_t random_state;

static uint32_t below(uint32_t n)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(random_state >> 33) % n;
}

static void emit(struct end *end, uint32_t thread, unsigned op, uint64_t addr, uint64_t arg, unsigned flags)
{
	ck_assert_uint_lt(end->count, EVENTS);
	struct rt_event *e = &end->events[end->count++];
	*e = (struct rt_event){.number = end->count,
	                       .ordinal = end->count,
	                       .stamp = end->count,
	                       .addr = addr,
	                       .arg = arg,
	                       .pc = end->count,
	                       .thread = thread,
	                       .op = (uint8_t)op,
	                       .flags = (uint8_t)flags};
	if (op != RT_OP_BLOCK && op != RT_OP_END)
		end->last[thread] = end->count;
}

/* How strongly a thread has the lock. */
static int held(const struct end *end, uint32_t lock)
{
	int most = 0;
	for (uint32_t t = 0; t < end->threads; t++)
		most = end->holds[t][lock] > most ? end->holds[t][lock] : most;
	return most;
}

static void take(struct end *end, uint32_t thread, uint32_t lock)
{
	bool shared = below(2);
	if (end->holds[thread][lock] || held(end, lock) == 2 || (held(end, lock) && !shared))
		return;
	emit(end, thread, shared ? RT_OP_ACQUIRE_SHARED : RT_OP_ACQUIRE, LOCK + lock, 0, 0);
	end->holds[thread][lock] = shared ? 1 : 2;
	end->taken[thread][lock] = end->count;
}

static void block(struct end *end, uint32_t thread, unsigned op, uint64_t addr, uint32_t object)
{
	end->op[thread] = op;
	end->object[thread] = object;
	end->timed[thread] = !below(6);
	emit(end, thread, RT_OP_BLOCK, addr, op, end->timed[thread] ? RT_F_TIMED : 0);
	end->blocked[thread] = end->count;
}

/* The thread's last event: it waits, ends, or goes on. */
static void finish(struct end *end, uint32_t t)
{
	uint32_t lock = below(LOCKS), other = below(end->threads);
	if (below(2))
		emit(end, t, RT_OP_FENCE, 0, 0, 0);
	if (!below(4)) {
		emit(end, t, RT_OP_HB_BEFORE, WORD, 0, 0);
		end->wake[t] = end->count;
	}
	switch (below(14)) {
	case 0:
		break;
	case 1:
		end->ended[t] = true;
		emit(end, t, RT_OP_END, 0, 0, 0);
		break;
	case 2:
	case 3:
		block(end, t, RT_OP_JOIN, other, other);
		break;
	case 4:
		block(end, t, RT_OP_SEM_WAIT, SEM, 0);
		break;
	case 5:
		emit(end, t, RT_OP_BARRIER_ARRIVE, BARRIER, 16, 0);
		block(end, t, RT_OP_BARRIER_LEAVE, BARRIER, 0);
		break;
	case 6:
		block(end, t, RT_OP_ONCE_SEEN, ONCE, 0);
		break;
	case 8:
	case 9:
		block(end, t, RT_OP_HB_AFTER, WORD, 0);
		break;
	case 7:
		if (held(end, lock))
			break;
		emit(end, t, RT_OP_ACQUIRE, LOCK + lock, 0, 0);
		emit(end, t, RT_OP_WAIT_BEGIN, COND, LOCK + lock, 0);
		end->mutex[t] = lock;
		block(end, t, RT_OP_WAIT_END, COND, 0);
		break;
	default:
		/* Nobody waits for what was free: what makes it wait is there. */
		if (held(end, lock))
			block(end, t, below(3) ? RT_OP_ACQUIRE : RT_OP_ACQUIRE_SHARED, LOCK + lock, lock);
	}
}

static void make(struct end *end, uint64_t seed)
{
	memset(end, 0, sizeof *end);
	random_state = seed;
	end->threads = 1 + below(THREADS);
	end->token = !below(4);
	emit(end, 0, RT_OP_SEM_INIT, SEM, end->token, 0);
	if (below(2)) {
		uint32_t runner = below(end->threads);
		emit(end, runner, RT_OP_ONCE_BEGIN, ONCE, 0, 0);
		end->runs_once[runner] = true;
	}
	for (uint32_t i = below(9); i > 0; i--)
		take(end, below(end->threads), below(LOCKS));
	uint32_t first = below(end->threads);
	for (uint32_t i = 0; i < end->threads; i++)
		finish(end, (first + i) % end->threads);
	/* Locks that were free when the last ones came. */
	for (uint32_t t = 0; t < end->threads; t++)
		for (uint32_t i = below(3); i > 0 && !end->op[t] && !end->ended[t]; i--)
			take(end, t, below(LOCKS));
	for (uint32_t t = 0; t < end->threads && !end->signalled; t++)
		if (!end->op[t] && !end->ended[t] && !below(5)) {
			emit(end, t, RT_OP_BROADCAST, COND, 0, 0);
			end->signalled = true;
		}
}

/* The slow definition: of all sets of threads that wait, those in which each one's need is of the set. */

static bool in(uint32_t set, uint32_t thread)
{
	return set >> thread & 1;
}

/* Is the thread's need of the other one, and of nobody but such? */
static bool behind_writers(const struct end *end, uint32_t t, uint32_t lock)
{
	bool certain = false;
	for (uint32_t h = 0; h < end->threads; h++)
		certain |= end->holds[h][lock] == 1 && end->last[t] && end->taken[h][lock] <= end->last[t];
	return certain && held(end, lock) == 1;
}

static bool waits_for(const struct end *end, uint32_t t, uint32_t other)
{
	uint32_t lock = end->op[t] == RT_OP_WAIT_END ? end->mutex[t] : end->object[t];
	switch (end->op[t]) {
	case RT_OP_ACQUIRE:
	case RT_OP_WAIT_END:
		return end->holds[other][lock] != 0;
	case RT_OP_ACQUIRE_SHARED:
		return end->holds[other][lock] == 2 || (other != t && end->op[other] == RT_OP_ACQUIRE &&
		                                        end->object[other] == lock && behind_writers(end, t, lock));
	case RT_OP_JOIN:
		return end->object[t] == other;
	case RT_OP_ONCE_SEEN:
		return end->runs_once[other];
	default:
		return false;
	}
}

static bool nobody_else(const struct end *end, uint32_t set)
{
	for (uint32_t t = 0; t < end->threads; t++)
		if (!in(set, t) && !end->ended[t])
			return false;
	return true;
}

static bool is_needed(const struct end *end, uint32_t set, uint32_t t)
{
	if (!end->op[t] || end->timed[t])
		return false;
	for (uint32_t other = 0; other < end->threads; other++) {
		bool never = in(set, other) || (end->ended[other] && end->op[t] != RT_OP_JOIN);
		bool writer = end->op[t] == RT_OP_ACQUIRE_SHARED && end->holds[other][end->object[t]] != 2;
		/* All writers that wait must wait for ever. */
		for (uint32_t w = 0; writer && w < end->threads; w++)
			never &= in(set, w) || end->op[w] != RT_OP_ACQUIRE || end->object[w] != end->object[t];
		if (never && waits_for(end, t, other))
			return true;
	}
	for (uint32_t other = 0; other < end->threads && end->op[t] == RT_OP_HB_AFTER; other++)
		if (other != t && end->wake[other] > end->blocked[t])
			return false;
	switch (end->op[t]) {
	case RT_OP_HB_AFTER:
		return nobody_else(end, set);
	case RT_OP_WAIT_END:
		return !end->signalled && nobody_else(end, set);
	case RT_OP_SEM_WAIT:
		return !end->token && nobody_else(end, set);
	case RT_OP_BARRIER_LEAVE:
		return nobody_else(end, set);
	default:
		return false;
	}
}

static uint32_t slow(const struct end *end)
{
	uint32_t stuck = 0;
	for (uint32_t set = 1; set < 1u << end->threads; set++) {
		bool closed = true;
		for (uint32_t t = 0; t < end->threads && closed; t++)
			closed = !in(set, t) || is_needed(end, set, t);
		if (closed)
			stuck |= set;
	}
	return stuck;
}

/* Which threads each of those that are stuck waits for, directly or not, among them. */
static void reach(const struct end *end, uint32_t stuck, bool to[THREADS][THREADS])
{
	memset(to, 0, sizeof(bool[THREADS][THREADS]));
	for (uint32_t t = 0; t < end->threads; t++)
		for (uint32_t o = 0; o < end->threads; o++)
			to[t][o] = in(stuck, t) && in(stuck, o) && waits_for(end, t, o);
	for (uint32_t k = 0; k < end->threads; k++)
		for (uint32_t t = 0; t < end->threads; t++)
			for (uint32_t o = 0; o < end->threads; o++)
				to[t][o] |= to[t][k] && to[k][o];
}

/* Where there is a ring, what waits for any thread's help is behind the first one. */
static void reach_helpers(const struct end *end, uint32_t stuck, uint32_t ring, bool to[THREADS][THREADS])
{
	for (uint32_t t = 0; t < end->threads; t++) {
		bool any = in(stuck, t) && (end->op[t] == RT_OP_WAIT_END || end->op[t] == RT_OP_SEM_WAIT ||
		                            end->op[t] == RT_OP_BARRIER_LEAVE || end->op[t] == RT_OP_HB_AFTER);
		for (uint32_t o = 0; o < end->threads; o++)
			any &= !(in(stuck, o) && waits_for(end, t, o));
		for (uint32_t o = 0; o < end->threads && any; o++)
			if (o == t || to[o][t])
				to[o][ring] = true;
	}
}

static void check_group(const struct end *end, const struct model *m, const struct stuck_group *g,
                        bool to[THREADS][THREADS], uint32_t *seen, uint64_t seed)
{
	for (uint32_t i = 0; i < g->count; i++) {
		uint32_t t = model_thread_of(m, g->waits[i]);
		ck_assert_msg(!in(*seen, t), "seed %lu: thread %u twice", seed, t);
		*seen |= 1u << t;
		if (i < g->cycle)
			ck_assert_msg(waits_for(end, t, model_thread_of(m, g->waits[(i + 1) % g->cycle])),
			              "seed %lu: no ring at thread %u", seed, t);
		else if (g->cycle)
			ck_assert_msg(to[t][model_thread_of(m, g->waits[0])], "seed %lu: thread %u is not behind", seed,
			              t);
		for (uint32_t o = 0; o < end->threads && !g->cycle; o++)
			ck_assert_msg(!(to[t][o] && to[o][o]), "seed %lu: thread %u is in or behind a ring", seed, t);
	}
}

START_TEST(random_ends_are_as_the_slow_definition_has_them)
{
	uint32_t rings = 0, hangs = 0, none = 0;
	for (uint64_t seed = (uint64_t)_i * 5000 + 1; seed <= (uint64_t)_i * 5000 + 5000; seed++) {
		static struct end end;
		struct memory_trace memory;
		struct model *m;
		struct stuck stuck;
		struct rt_error err = {0};
		struct model_options options = {0};
		bool to[THREADS][THREADS];
		uint32_t seen = 0;
		make(&end, seed);
		ck_assert(!model_load(memory_trace(&memory, end.events, end.count, end.threads), &options, &m, &err));
		ck_assert(stuck_find(m, &stuck));
		uint32_t expected = slow(&end);
		reach(&end, expected, to);
		if (stuck.count && stuck.groups[0].cycle)
			reach_helpers(&end, expected, model_thread_of(m, stuck.groups[0].waits[0]), to);
		for (uint32_t i = 0; i < stuck.count; i++) {
			check_group(&end, m, &stuck.groups[i], to, &seen, seed);
			rings += stuck.groups[i].cycle != 0;
			hangs += !stuck.groups[i].cycle;
		}
		none += !stuck.count;
		ck_assert_msg(seen == expected, "seed %lu: stuck %x, not %x", seed, seen, expected);
		stuck_release(&stuck);
		model_free(m);
	}
	ck_assert_uint_gt(rings, 100);
	ck_assert_uint_gt(hangs, 100);
	ck_assert_uint_gt(none, 100);
}
END_TEST

/* Small traces as JSON lines. */

static struct analysis *analyze(const char *text)
{
	struct rt_error err = {0};
	struct analysis *a = NULL;
	struct analysis_options options = {.kinds = 1u << ANOMALY_DEADLOCK | 1u << ANOMALY_HANG};
	ck_assert_msg(!analysis_run(scratch_trace(text), &options, &a, &err), "%s", err.message);
	return a;
}

static void check_text(const char *text, uint64_t deadlocks, uint64_t hangs)
{
	struct analysis *a = analyze(text);
	struct rt_trace *trace = a->trace;
	ck_assert_msg(a->summary[ANOMALY_DEADLOCK][VERDICT_OBSERVED] == deadlocks &&
	                  a->summary[ANOMALY_HANG][VERDICT_OBSERVED] == hangs &&
	                  a->anomalies.count == deadlocks + hangs,
	              "%zu anomalies of\n%s", a->anomalies.count, text);
	analysis_free(a);
	rt_trace_free(trace);
}

#define HEAD "{\"schema\":\"racetrace.events/1\",\"threads\":[\"main\",\"b\"]"
#define E(op, thread, object, more) "{\"op\":\"" op "\",\"thread\":\"" thread "\",\"object\":\"" object "\"" more "}\n"
#define FOR(what) ",\"for\":\"" what "\""
#define RING                                                                                                           \
	E("acquire", "main", "x", "")                                                                                  \
	E("acquire", "b", "y", "")                                                                                     \
	E("block", "main", "y", FOR("acquire"))                                                                        \
	E("block", "b", "x", FOR("acquire"))
#define LOST_SIGNAL                                                                                                    \
	E("end", "b", "0x0", "")                                                                                       \
	E("acquire", "main", "x", "")                                                                                  \
	E("wait-begin", "main", "c", ",\"arg\":\"x\"")                                                                 \
	E("block", "main", "c", FOR("wait-end"))

START_TEST(a_trace_that_was_cut_short_ends_with_nothing)
{
	check_text(HEAD "}\n" RING, 1, 0);
	check_text(HEAD ",\"complete\":false}\n" RING, 0, 0);
	check_text(HEAD "}\n" LOST_SIGNAL, 0, 1);
	check_text(HEAD ",\"complete\":false}\n" LOST_SIGNAL, 0, 0);
}
END_TEST

START_TEST(what_ends_a_wait_ends_it)
{
	check_text(HEAD "}\n" RING E("unblock", "b", "x", FOR("acquire")), 0, 0);
	check_text(HEAD "}\n" RING E("longjmp", "b", "0x10", ""), 0, 0);
	check_text(HEAD "}\n" RING E("end", "b", "0x0", ""), 0, 1); /* with the lock */
	/* A handler's own lock is not what its thread waits for. */
	check_text(HEAD "}\n" RING E("acquire", "b", "z", "") E("release", "b", "z", ""), 1, 0);
	check_text(HEAD "}\n" RING E("block", "b", "z", FOR("acquire")) E("acquire", "b", "z", ""), 1, 0);
}
END_TEST

/* A signal behind the wait's begin, and a BLOCK at which the waiting thread was seen asleep. */
#define SIGNALLED                                                                                                      \
	E("acquire", "main", "x", "")                                                                                  \
	E("wait-begin", "main", "c", ",\"arg\":\"x\"")                                                                 \
	E("block", "main", "c", FOR("wait-end")) E("signal", "b", "c", "")
#define ASLEEP E("block", "main", "c", FOR("wait-end") ",\"value\":6")

START_TEST(a_thread_that_sleeps_on_was_not_signalled)
{
	check_text(HEAD "}\n" SIGNALLED E("end", "b", "0x0", ""), 0, 0);
	check_text(HEAD "}\n" SIGNALLED E("end", "b", "0x0", "") ASLEEP, 0, 1);
	check_text(HEAD "}\n" SIGNALLED ASLEEP E("end", "b", "0x0", ""), 0, 1);
	check_text(HEAD "}\n" SIGNALLED ASLEEP E("signal", "b", "c", "") E("end", "b", "0x0", ""), 0, 0);
	/* The signaller may still have been in the call. */
	check_text(HEAD "}\n" SIGNALLED ASLEEP E("block", "b", "main", FOR("join")), 0, 0);
	check_text(HEAD "}\n" SIGNALLED E("block", "b", "main", FOR("join")) ASLEEP, 0, 1);
}
END_TEST

/* A wait in the kernel. */
#define IN_KERNEL(thread, object, value) E("block", thread, object, FOR("hb-after") ",\"value\":" value)
#define ENDED E("end", "b", "0x0", "")

START_TEST(a_wait_in_the_kernel_may_have_been_ended_by_what_came_after_it)
{
	check_text(HEAD "}\n" ENDED IN_KERNEL("main", "0x10", "1025"), 0, 1);
	check_text(HEAD "}\n" IN_KERNEL("main", "0x10", "1025"), 0, 0); /* b goes on */
	check_text(HEAD "}\n" ENDED E("block", "main", "0x10", FOR("hb-after") ",\"flags\":[\"timed\"]"), 0, 0);
	check_text(HEAD "}\n" E("hb-before", "b", "0x10", "") ENDED IN_KERNEL("main", "0x10", "1025"), 0, 1);
	check_text(HEAD "}\n" IN_KERNEL("main", "0x10", "1025") E("hb-before", "b", "0x10", "") ENDED, 0, 0);
	check_text(HEAD "}\n" IN_KERNEL("main", "0x10", "1025") E("hb-after", "b", "0x10", "") ENDED, 0, 0);
	check_text(HEAD "}\n" IN_KERNEL("main", "0x10", "1025") E("hb-before", "b", "0x11", "") ENDED, 0, 1);
	/* A call that may have been under way: its next event is later. */
	check_text(HEAD "}\n" E("hb-before", "b", "0x10", "") IN_KERNEL("main", "0x10", "1025")
	               IN_KERNEL("b", "0x11", "1"),
	           0, 0);
	/* Of several descriptors: not of memory, nor of a signal that is blocked. */
	check_text(HEAD "}\n" IN_KERNEL("main", "0x1", "3") E("hb-before", "b", "0x10", "") ENDED, 0, 0);
	check_text(HEAD "}\n" IN_KERNEL("main", "0x1", "3") E("hb-before", "b", "0x800000001000", "") ENDED, 0, 0);
	check_text(HEAD "}\n" IN_KERNEL("main", "0x1", "3") E("hb-before", "b", "0x7f0000001000", "") ENDED, 0, 1);
}
END_TEST

/* Locks of files: kind 7, and the holder's index + 1 from bit 40 on. */
#define FILE_OF_MAIN "\"0x10000000007\""
#define FILE_OF_B "\"0x20000000007\""

START_TEST(locks_of_files_are_a_ring_if_no_thread_goes_on)
{
	static const char third[] = "{\"schema\":\"racetrace.events/1\",\"threads\":[\"main\",\"b\",\"c\"]}\n";
	char text[2048];
#define FILE_RING IN_KERNEL("main", "0x9010", FILE_OF_B) IN_KERNEL("b", "0x9000", FILE_OF_MAIN)
	check_text(HEAD "}\n" FILE_RING, 1, 0);
	check_text(HEAD "}\n" IN_KERNEL("main", "0x9010", FILE_OF_MAIN) ENDED, 1, 0);
	check_text(HEAD "}\n" E("acquire", "b", "m", "") E("block", "main", "m", FOR("acquire"))
	               IN_KERNEL("b", "0x9000", FILE_OF_MAIN),
	           1, 0);
	/* The holder was looked up at the event before the BLOCK: a release since then ended it. */
	check_text(HEAD "}\n" E("acquire", "main", "m", "") E("hb-before", "b", "0x9010", "") FILE_RING, 0, 0);
	check_text(HEAD "}\n" E("hb-before", "b", "0x9010", "") E("acquire", "b", "n", "") E("acquire", "main", "m", "")
	               FILE_RING,
	           1, 0);
	snprintf(text, sizeof text, "%s%s%s", third, E("acquire", "c", "n", ""), FILE_RING);
	check_text(text, 0, 0);
}
END_TEST

START_TEST(no_thread_waits_for_what_a_stray_release_gave_back)
{
	check_text(HEAD ",\"model\":\"c11\"}\n" E("acquire", "b", "x", "") E("block", "main", "x", FOR("acquire"))
	               E("block", "b", "x", FOR("acquire")),
	           1, 0);
	check_text(HEAD "}\n" E("acquire", "b", "x", "") E("release", "main", "x", "")
	               E("block", "main", "x", FOR("acquire")) E("block", "b", "x", FOR("acquire")),
	           0, 0);
}
END_TEST

START_TEST(a_handler_may_give_what_threads_wait_for)
{
	static const char end[] = ",\"exit\":{\"signal\":9}}\n", status[] = ",\"exit\":{\"status\":1}}\n";
	char text[2048];
#define INSTALLED(number) E("hb-before", "main", number, "")
#define CHECK(how, hangs, events)                                                                                      \
	do {                                                                                                           \
		snprintf(text, sizeof text, "%s%s%s", HEAD, how, events);                                              \
		check_text(text, 0, hangs);                                                                            \
	} while (0)
	CHECK(end, 1, LOST_SIGNAL);
	CHECK(end, 0, INSTALLED("0x200c") LOST_SIGNAL);                                        /* of SIGUSR2 */
	CHECK(end, 1, INSTALLED("0x200b") LOST_SIGNAL);                                        /* of SIGSEGV */
	CHECK(end, 0, INSTALLED("0x2000") LOST_SIGNAL);                                        /* a timer's function */
	CHECK(status, 0, LOST_SIGNAL);                                                         /* who left? */
	CHECK(status, 1, INSTALLED("0x200e") LOST_SIGNAL E("hb-after", "main", "0x200e", "")); /* the handler */
	CHECK(end, 0, INSTALLED("0x200e") LOST_SIGNAL E("hb-after", "main", "0x200e", ""));
	/* Not to who waits for a lock. */
	snprintf(text, sizeof text, "%s%s%s", HEAD, status, INSTALLED("0x200c") RING);
	check_text(text, 1, 0);
}
END_TEST

#define AT(line) ",\"location\":\"" line "\""
#define NESTED(thread, first, second, at)                                                                              \
	E("acquire", thread, first, "")                                                                                \
	E("acquire", thread, second, AT(at)) E("release", thread, second, "") E("release", thread, first, "")

START_TEST(what_is_observed_is_not_predicted_as_well)
{
	struct analysis *a =
	    analyze(HEAD "}\n" NESTED("main", "x", "y", "1") NESTED("b", "y", "x", "2") E("acquire", "main", "x", "")
	                E("acquire", "b", "y", "") E("block", "main", "y", FOR("acquire") AT("1"))
	                    E("block", "b", "x", FOR("acquire") AT("2")));
	struct rt_trace *trace = a->trace;
	ck_assert_uint_eq(a->anomalies.count, 1);
	ck_assert_int_eq(a->anomalies.items[0].verdict, VERDICT_OBSERVED);
	ck_assert_uint_eq(a->anomalies.items[0].count, 2);
	analysis_free(a);
	rt_trace_free(trace);
}
END_TEST

START_TEST(a_ring_of_locks_has_the_run_as_its_schedule)
{
	struct analysis *a = analyze(HEAD "}\n" RING);
	struct rt_trace *trace = a->trace;
	const struct anomaly *d = &a->anomalies.items[0];
	ck_assert_ptr_nonnull(d->schedule);
	ck_assert_uint_eq(d->schedule->events, 2);
	ck_assert_int_eq(d->witness, WITNESS_RECORDED);
	ck_assert_uint_eq(a->proofs.refused[WITNESS_RECORDED], 0);
	analysis_free(a);
	rt_trace_free(trace);
}
END_TEST

/* A ring recording begins with LOST of the main thread, which lacks no later event. If it could not keep all of the
 * state at its start it says so by another one: a lock may have been released. */
START_TEST(a_ring_of_locks_is_certain_if_the_state_at_the_start_is)
{
	static const char others[] =
	    "{\"schema\":\"racetrace.events/1\",\"threads\":[\"main\",\"b\",\"c\"]}\n" E("lost", "main", "0x6", "")
	        E("lost", "main", "0x5", "") E("acquire", "b", "x", "") E("acquire", "c", "y", "")
	            E("block", "b", "y", FOR("acquire")) E("block", "c", "x", FOR("acquire"));
	check_text(HEAD "}\n" E("lost", "main", "0x6", "") RING, 1, 0);
	struct analysis *a = analyze(others);
	struct rt_trace *trace = a->trace;
	ck_assert_uint_eq(a->anomalies.count, 1);
	ck_assert_int_eq(a->anomalies.items[0].verdict, VERDICT_PREDICTED);
	ck_assert(reasons_has(&a->anomalies.items[0].reasons, REASON_START));
	analysis_free(a);
	rt_trace_free(trace);
}
END_TEST

SUITE(stuck)
{
	Suite *s = suite_create("stuck");
	TCase *c = tcase_create("end");
	tcase_add_loop_test(c, random_ends_are_as_the_slow_definition_has_them, 0, 4);
	tcase_add_test(c, a_trace_that_was_cut_short_ends_with_nothing);
	tcase_add_test(c, what_ends_a_wait_ends_it);
	tcase_add_test(c, a_thread_that_sleeps_on_was_not_signalled);
	tcase_add_test(c, a_wait_in_the_kernel_may_have_been_ended_by_what_came_after_it);
	tcase_add_test(c, locks_of_files_are_a_ring_if_no_thread_goes_on);
	tcase_add_test(c, no_thread_waits_for_what_a_stray_release_gave_back);
	tcase_add_test(c, a_handler_may_give_what_threads_wait_for);
	tcase_add_test(c, what_is_observed_is_not_predicted_as_well);
	tcase_add_test(c, a_ring_of_locks_has_the_run_as_its_schedule);
	tcase_add_test(c, a_ring_of_locks_is_certain_if_the_state_at_the_start_is);
	suite_add_tcase(s, c);
	return s;
}
