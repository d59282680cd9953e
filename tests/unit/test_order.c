/* Clocks against arrays, and what single rules of the orders say. The orders as a whole: test_oracle.c, test_golden.c.
 */
#include "lib/analysis/analysis.h"
#include "lib/relation/clock.h"
#include "lib/relation/timeline.h"
#include "tests/unit/memory_trace.h"
#include "tests/unit/suite.h"

#include <check.h>
#include <stdlib.h>

enum { THREADS = 300, CLOCKS = 40 };

static uint32_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)(*state >> 33);
}

static void take(void *counts, uint32_t thread, uint32_t count)
{
	uint32_t *before = (uint32_t *)counts + thread;
	ck_assert_uint_ne(*before, count);
	*before = count;
}

/* Where one clock is not like the other is each component that differs, and no other. */
static void compare_others(const struct clocks *c, uint32_t threads, uint32_t clock, uint32_t than)
{
	uint32_t counts[THREADS];
	for (uint32_t t = 0; t < threads; t++)
		counts[t] = clock_get(c, than, t);
	clock_each_other(c, clock, than, take, counts);
	for (uint32_t t = 0; t < threads; t++)
		ck_assert_uint_eq(counts[t], clock_get(c, clock, t));
}

/* Applies random operations to clocks and to plain arrays side by side. */
static void compare_clocks(uint32_t threads)
{
	static uint32_t plain[CLOCKS][THREADS];
	uint32_t ids[CLOCKS] = {0};
	uint64_t random = threads;
	struct clocks c;
	memset(plain, 0, sizeof plain);
	ck_assert(clocks_init(&c, threads));
	for (int step = 0; step < 20000; step++) {
		uint32_t a = next_random(&random) % CLOCKS, b = next_random(&random) % CLOCKS;
		uint32_t thread = next_random(&random) % threads, count = next_random(&random) % 1000;
		if (step % 3) {
			ids[a] = clock_raise(&c, ids[a], thread, count);
			if (plain[a][thread] < count)
				plain[a][thread] = count;
		} else {
			ids[a] = clock_join(&c, ids[a], ids[b]);
			for (uint32_t i = 0; i < threads; i++)
				if (plain[a][i] < plain[b][i])
					plain[a][i] = plain[b][i];
		}
		if (step % 500 == 0)
			memset(plain[b], 0, sizeof plain[b]), ids[b] = 0;
	}
	ck_assert(!c.failed);
	for (int i = 0; i < CLOCKS; i++)
		for (uint32_t t = 0; t < threads; t++)
			ck_assert_uint_eq(clock_get(&c, ids[i], t), plain[i][t]);
	for (int i = 0; i < CLOCKS; i++)
		for (int k = 0; k < CLOCKS; k++)
			compare_others(&c, threads, ids[i], ids[k]);
	clocks_release(&c);
}

START_TEST(clocks_are_vectors_of_counts)
{
	static const uint32_t threads[] = {1, 4, 5, 8, 16, 17, 256, 257, THREADS};
	compare_clocks(threads[_i]);
}
END_TEST

START_TEST(joining_what_is_known_makes_no_clock)
{
	struct clocks c;
	ck_assert(clocks_init(&c, 40));
	uint32_t a = clock_raise(&c, clock_raise(&c, 0, 3, 5), 39, 7), b = clock_raise(&c, 0, 3, 4);
	uint32_t made = c.count;
	ck_assert_uint_eq(clock_join(&c, a, b), a);
	ck_assert_uint_eq(clock_join(&c, b, a), a);
	ck_assert_uint_eq(clock_join(&c, 0, a), a);
	ck_assert_uint_eq(clock_raise(&c, a, 3, 5), a);
	ck_assert_uint_eq(clock_receive(&c, a, (struct stamp){b, 39, 7}, 0), a);
	ck_assert_uint_eq(c.count, made);
	clocks_release(&c);
}
END_TEST

START_TEST(a_timeline_tells_the_clock_of_a_place)
{
	struct timeline t;
	ck_assert(timeline_init(&t, 2));
	timeline_add(&t, 1, 3, 10);
	timeline_add(&t, 1, 7, 11);
	timeline_add(&t, 1, 7, 12);
	timeline_add(&t, 1, 9, 12);
	ck_assert_uint_eq(timeline_at(&t, 0, 5), 0);
	ck_assert_uint_eq(timeline_at(&t, 1, 2), 0);
	ck_assert_uint_eq(timeline_at(&t, 1, 3), 10);
	ck_assert_uint_eq(timeline_at(&t, 1, 6), 10);
	ck_assert_uint_eq(timeline_at(&t, 1, 7), 12);
	ck_assert_uint_eq(t.threads[1].count, 2);
	timeline_release(&t);
}
END_TEST

START_TEST(a_long_timeline_is_what_was_added_last)
{
	struct timeline t;
	uint64_t random = 7;
	uint32_t clock = 0, next = 0;
	ck_assert(timeline_init(&t, 1));
	static struct timeline_entry added[500];
	for (uint32_t i = 0; i < 500; i++) {
		/* Dense, and with gaps of several buckets. */
		next += next_random(&random) % (i % 50 ? 4 : 10 * TIMELINE_BUCKET);
		added[i] = (struct timeline_entry){next, i + 1};
		timeline_add(&t, 0, next, i + 1);
	}
	for (uint32_t pos = 0, i = 0; pos < next + 3 * TIMELINE_BUCKET; pos++) {
		for (; i < 500 && added[i].pos <= pos; i++)
			clock = added[i].clock;
		ck_assert_uint_eq(timeline_at(&t, 0, pos), clock);
	}
	timeline_release(&t);
}
END_TEST

/* Is the pair of the events with these numbers (places in the array, from 1) unordered? */
static bool unordered(struct rt_event *events, size_t n, const char *name, uint32_t first, uint32_t second)
{
	struct memory_trace memory;
	struct model *m = NULL;
	struct order_result *r = NULL;
	struct model_options options = {.regions = REGIONS_LOCKS};
	struct rt_error err = {0};
	const struct order *order = &orders[order_find(name)];
	uint32_t e1 = MODEL_NONE, e2 = MODEL_NONE;
	for (size_t i = 0; i < n; i++)
		events[i].number = i + 1;
	ck_assert_msg(!model_load(memory_trace(&memory, events, n, 3), &options, &m, &err), "%s", err.message);
	struct facts facts = {.m = m};
	ck_assert_msg(!order->compute(&facts, &r, &err), "%s", err.message);
	for (uint32_t i = 0; i < m->event_count; i++) {
		if (m->events[i].number == first)
			e1 = i;
		if (m->events[i].number == second)
			e2 = i;
	}
	ck_assert(e1 != MODEL_NONE && e2 != MODEL_NONE);
	bool is = order->unordered(r, e1, e2);
	order->free(r);
	facts_release(&facts);
	model_free(m);
	return is;
}

#define UNORDERED(order, first, second, ...)                                                                           \
	unordered((struct rt_event[]){__VA_ARGS__},                                                                    \
	          sizeof((struct rt_event[]){__VA_ARGS__}) / sizeof(struct rt_event), order, first, second)
#define E(t, name, ...) ((struct rt_event){.thread = (t), .op = RT_OP_##name, .pc = 1, __VA_ARGS__})
#define READ(t, a) E(t, READ, .addr = (a), .arg = 8)
#define WRITE(t, a) E(t, WRITE, .addr = (a), .arg = 8)
#define ACQ(t, l) E(t, ACQUIRE, .addr = (l))
#define REL(t, l) E(t, RELEASE, .addr = (l))
#define ATOMIC(t, name, a, o) E(t, ATOMIC_##name, .addr = (a), .arg = 8, .order = (o))
#define FENCE(t, o) E(t, FENCE, .order = (o))
enum { X = 0x1000, FLAG = 0x2000, RELAXED = 0, ACQUIRE = 2, RELEASE = 3 };

START_TEST(a_relaxed_atomic_orders_nothing)
{
	ck_assert(UNORDERED("hb", 1, 4, WRITE(0, X), ATOMIC(0, STORE, FLAG, RELAXED), ATOMIC(1, LOAD, FLAG, ACQUIRE),
	                    READ(1, X)));
	ck_assert(UNORDERED("hb", 1, 4, WRITE(0, X), ATOMIC(0, STORE, FLAG, RELEASE), ATOMIC(1, LOAD, FLAG, RELAXED),
	                    READ(1, X)));
	ck_assert(!UNORDERED("hb", 1, 4, WRITE(0, X), ATOMIC(0, STORE, FLAG, RELEASE), ATOMIC(1, LOAD, FLAG, ACQUIRE),
	                     READ(1, X)));
}
END_TEST

START_TEST(fences_stand_in_for_either_side)
{
	ck_assert(!UNORDERED("hb", 1, 5, WRITE(0, X), FENCE(0, RELEASE), ATOMIC(0, STORE, FLAG, RELAXED),
	                     ATOMIC(1, LOAD, FLAG, ACQUIRE), READ(1, X)));
	ck_assert(!UNORDERED("hb", 1, 5, WRITE(0, X), ATOMIC(0, STORE, FLAG, RELEASE), ATOMIC(1, LOAD, FLAG, RELAXED),
	                     FENCE(1, ACQUIRE), READ(1, X)));
	ck_assert(!UNORDERED("hb", 1, 6, WRITE(0, X), FENCE(0, RELEASE), ATOMIC(0, STORE, FLAG, RELAXED),
	                     ATOMIC(1, LOAD, FLAG, RELAXED), FENCE(1, ACQUIRE), READ(1, X)));
	ck_assert(UNORDERED("hb", 1, 5, WRITE(0, X), ATOMIC(0, STORE, FLAG, RELAXED), FENCE(0, RELEASE),
	                    ATOMIC(1, LOAD, FLAG, ACQUIRE), READ(1, X)));
}
END_TEST

START_TEST(a_read_modify_write_goes_on_with_a_release_sequence)
{
	ck_assert(!UNORDERED("hb", 1, 5, WRITE(0, X), ATOMIC(0, STORE, FLAG, RELEASE), ATOMIC(2, RMW, FLAG, RELAXED),
	                     ATOMIC(1, LOAD, FLAG, ACQUIRE), READ(1, X)));
	ck_assert(UNORDERED("hb", 1, 5, WRITE(0, X), ATOMIC(0, STORE, FLAG, RELEASE), ATOMIC(2, STORE, FLAG, RELAXED),
	                    ATOMIC(1, LOAD, FLAG, ACQUIRE), READ(1, X)));
}
END_TEST

#define WAIT(t, timed)                                                                                                 \
	ACQ(t, 1), E(t, WAIT_BEGIN, .addr = 2, .arg = 1), WRITE(0, X), E(0, SIGNAL, .addr = 2),                        \
	    E(t, WAIT_END, .addr = 2, .arg = 1, .flags = timed), WRITE(t, X)

START_TEST(a_signal_orders_the_wait_that_it_ends_but_not_a_timed_one)
{
	ck_assert(!UNORDERED("hb", 3, 6, WAIT(1, 0)));
	ck_assert(UNORDERED("hb", 3, 6, WAIT(1, RT_F_TIMED)));
}
END_TEST

START_TEST(a_semaphore_used_as_a_lock_orders_its_users)
{
	ck_assert(!UNORDERED("hybrid", 3, 6, E(0, SEM_INIT, .addr = 2, .arg = 1), E(0, SEM_WAIT, .addr = 2),
	                     WRITE(0, X), E(0, SEM_POST, .addr = 2), E(1, SEM_WAIT, .addr = 2), WRITE(1, X)));
	ck_assert(UNORDERED("hybrid", 3, 6, E(0, SEM_INIT, .addr = 2, .arg = 2), E(0, SEM_WAIT, .addr = 2), WRITE(0, X),
	                    E(0, SEM_POST, .addr = 2), E(1, SEM_WAIT, .addr = 2), WRITE(1, X)));
}
END_TEST

START_TEST(a_semaphore_is_made_before_it_is_used)
{
	ck_assert(!UNORDERED("hb", 1, 4, WRITE(0, X), E(0, SEM_INIT, .addr = 2, .arg = 1), E(1, SEM_WAIT, .addr = 2),
	                     WRITE(1, X)));
	ck_assert(!UNORDERED("hb", 1, 4, WRITE(0, X), E(0, SEM_INIT, .addr = 2, .arg = 1), E(1, SEM_POST, .addr = 2),
	                     WRITE(1, X)));
}
END_TEST

START_TEST(a_writer_comes_after_every_reader_that_it_conflicts_with)
{
	struct rt_event events[] = {E(0, ACQUIRE_SHARED, .addr = 1),
	                            WRITE(0, X),
	                            E(2, ACQUIRE_SHARED, .addr = 1),
	                            WRITE(2, X),
	                            REL(0, 1),
	                            REL(2, 1),
	                            ACQ(1, 1),
	                            WRITE(1, X)};
	size_t n = sizeof events / sizeof *events;
	static const char *const names[] = {"cp", "wcp"};
	for (int i = 0; i < 2; i++) {
		ck_assert(!unordered(events, n, names[i], 2, 8));
		ck_assert(!unordered(events, n, names[i], 4, 8));
		ck_assert(unordered(events, n, names[i], 2, 4));
	}
}
END_TEST

/* Two threads have one lock at once, as in a trace that is not well formed: by rule (b) the one section comes before
 * the other, but it has not ended when that begins. */
START_TEST(a_section_that_has_not_ended_orders_nothing)
{
	struct rt_event events[] = {ACQ(0, 1),      ACQ(1, 1),  ACQ(0, 3),    WRITE(0, X),   REL(0, 3),
	                            ACQ(1, 3),      READ(1, X), REL(1, 3),    REL(1, 1),     ACQ(2, 4),
	                            WRITE(2, FLAG), REL(2, 4),  ACQ(0, 4),    READ(0, FLAG), REL(0, 4),
	                            WRITE(0, FLAG), REL(0, 1),  READ(1, FLAG)};
	static const char *const names[] = {"cp", "wcp"};
	for (int i = 0; i < 2; i++) {
		ck_assert(!unordered(events, sizeof events / sizeof *events, names[i], 4, 7));
		ck_assert(unordered(events, sizeof events / sizeof *events, names[i], 16, 18));
	}
}
END_TEST

START_TEST(a_common_lock_excludes_only_in_excluding_modes)
{
	ck_assert(!UNORDERED("hybrid", 2, 5, ACQ(0, 1), WRITE(0, X), REL(0, 1), ACQ(1, 1), WRITE(1, X), REL(1, 1)));
	ck_assert(UNORDERED("hybrid", 2, 5, E(0, ACQUIRE_SHARED, .addr = 1), WRITE(0, X), REL(0, 1),
	                    E(1, ACQUIRE_SHARED, .addr = 1), WRITE(1, X), REL(1, 1)));
}
END_TEST

START_TEST(eraser_lets_one_thread_initialise_and_all_read)
{
	/* Exclusive, then shared: no complaint without a lock. */
	ck_assert(!UNORDERED("lockset", 1, 2, WRITE(0, X), READ(1, X), WRITE(2, FLAG), WRITE(1, FLAG)));
	/* Shared-modified without a lock. */
	ck_assert(UNORDERED("lockset", 1, 3, WRITE(0, X), READ(1, X), WRITE(1, X)));
	/* Shared-modified with the same lock ever since. */
	ck_assert(!UNORDERED("lockset", 1, 3, WRITE(0, X), ACQ(1, 1), WRITE(1, X), REL(1, 1)));
	/* Two locks, one after the other: figure 3 of the survey. */
	ck_assert(UNORDERED("lockset", 2, 8, ACQ(0, 1), WRITE(0, X), REL(0, 1), ACQ(1, 1), WRITE(1, X), REL(1, 1),
	                    ACQ(1, 2), WRITE(1, X), REL(1, 2)));
	/* A write under a reader's lock is not protected by it. */
	ck_assert(UNORDERED("lockset", 2, 5, E(0, ACQUIRE_SHARED, .addr = 1), WRITE(0, X), REL(0, 1),
	                    E(1, ACQUIRE_SHARED, .addr = 1), WRITE(1, X), REL(1, 1)));
}
END_TEST

START_TEST(shb_drops_what_follows_from_another_race)
{
	/* The read of the flag sees the write: the data behind it is no race of its own. */
	ck_assert(UNORDERED("hb", 1, 4, WRITE(0, X), WRITE(0, FLAG), READ(1, FLAG), READ(1, X)));
	ck_assert(!UNORDERED("shb", 1, 4, WRITE(0, X), WRITE(0, FLAG), READ(1, FLAG), READ(1, X)));
	ck_assert(UNORDERED("shb", 2, 3, WRITE(0, X), WRITE(0, FLAG), READ(1, FLAG), READ(1, X)));
}
END_TEST

START_TEST(an_atomic_that_synchronises_may_still_meet_a_plain_access_before_it)
{
	/* hb orders the pair by the load's own edge; it need not read that store when it is moved. */
	ck_assert(
	    !UNORDERED("hb", 1, 3, WRITE(0, FLAG), ATOMIC(0, STORE, FLAG, RELEASE), ATOMIC(1, LOAD, FLAG, ACQUIRE)));
	ck_assert(
	    UNORDERED("hybrid", 1, 3, WRITE(0, FLAG), ATOMIC(0, STORE, FLAG, RELEASE), ATOMIC(1, LOAD, FLAG, ACQUIRE)));
}
END_TEST

/* What a read of many cells takes of memory is said to be a clock for each thread that wrote them. */
START_TEST(many_events_of_few_threads_make_as_many_clocks)
{
	enum { EVENTS = 64 };
	static const uint32_t threads[] = {4, 16, 40};
	struct clocks c;
	struct stamp stamps[EVENTS];
	ck_assert(clocks_init(&c, threads[_i]));
	for (uint32_t i = 0; i < EVENTS; i++) /* of thread 0: own; of count 0: none */
		stamps[i] = (struct stamp){clock_raise(&c, 0, 3, i / 4), i % 3, i % 7 ? i : 0};
	uint32_t each = 0, before = c.count;
	uint32_t all = clock_receive_all(&c, 0, stamps, EVENTS, 0);
	ck_assert_uint_le((c.count - before) * c.width * sizeof *c.nodes, 2 * clock_bytes_alone(threads[_i]));
	for (uint32_t i = 0; i < EVENTS; i++)
		if (stamps[i].count)
			each = clock_receive(&c, each, stamps[i], 0);
	for (uint32_t t = 0; t < threads[_i]; t++)
		ck_assert_uint_eq(clock_get(&c, all, t), clock_get(&c, each, t));
	clocks_release(&c);
}
END_TEST

SUITE(order)
{
	Suite *s = suite_create("order");
	TCase *c = tcase_create("clocks");
	tcase_add_loop_test(c, clocks_are_vectors_of_counts, 0, 9);
	tcase_add_test(c, joining_what_is_known_makes_no_clock);
	tcase_add_loop_test(c, many_events_of_few_threads_make_as_many_clocks, 0, 3);
	tcase_add_test(c, a_timeline_tells_the_clock_of_a_place);
	tcase_add_test(c, a_long_timeline_is_what_was_added_last);
	suite_add_tcase(s, c);
	c = tcase_create("rules");
	tcase_add_test(c, a_relaxed_atomic_orders_nothing);
	tcase_add_test(c, fences_stand_in_for_either_side);
	tcase_add_test(c, a_read_modify_write_goes_on_with_a_release_sequence);
	tcase_add_test(c, a_signal_orders_the_wait_that_it_ends_but_not_a_timed_one);
	tcase_add_test(c, a_semaphore_used_as_a_lock_orders_its_users);
	tcase_add_test(c, a_semaphore_is_made_before_it_is_used);
	tcase_add_test(c, a_writer_comes_after_every_reader_that_it_conflicts_with);
	tcase_add_test(c, a_section_that_has_not_ended_orders_nothing);
	tcase_add_test(c, a_common_lock_excludes_only_in_excluding_modes);
	tcase_add_test(c, eraser_lets_one_thread_initialise_and_all_read);
	tcase_add_test(c, shb_drops_what_follows_from_another_race);
	tcase_add_test(c, an_atomic_that_synchronises_may_still_meet_a_plain_access_before_it);
	suite_add_tcase(s, c);
	return s;
}
