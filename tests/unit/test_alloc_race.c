/* Blocks that another thread uses than allocated them: which first uses are kept, and which are races. */
#include "lib/analysis/analysis.h"
#include "tests/unit/memory_trace.h"
#include "tests/unit/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define E(t, name, at, ...) ((struct rt_event){.thread = (t), .op = RT_OP_##name, .pc = (at), __VA_ARGS__})
#define READ(t, a) E(t, READ, 100 + (t), .addr = (a), .arg = 8)
#define WRITE(t, a) E(t, WRITE, 200 + (t), .addr = (a), .arg = 8)
#define PART(t, name, from, n) E(t, name, 800 + (t), .addr = BLOCK + (from), .arg = (n))
#define ALLOC(t, a, n) E(t, ALLOC, 300 + (t), .addr = (a), .arg = (n))
#define FREE(t, a, n)                                                                                                  \
	E(t, WRITE, 400 + (t), .addr = (a), .arg = (n), .flags = RT_F_FREE),                                           \
	    E(t, FREE, 400 + (t), .addr = (a), .arg = (n))
#define NEW(t, a, n) E(t, NEW_MEMORY, 900, .addr = (a), .arg = (n))
#define ACQ(t, l) E(t, ACQUIRE, 500, .addr = (l))
#define REL(t, l) E(t, RELEASE, 500, .addr = (l))
#define STORE(t, a, o) E(t, ATOMIC_STORE, 600, .addr = (a), .arg = 8, .order = (o))
#define LOAD(t, a, o) E(t, ATOMIC_LOAD, 700, .addr = (a), .arg = 8, .order = (o))
/* Threads 1 and 2. */
#define FORKS E(0, FORK, 1, .addr = 1), E(0, FORK, 2, .addr = 2)

enum { BLOCK = 0x10000, SLOT = 0x900000, RELAXED = 0, ACQUIRES = 2, RELEASES = 3 };

static struct memory_trace memory;

static struct rt_trace *trace_of(struct rt_event *events, size_t n)
{
	for (size_t i = 0; i < n; i++)
		events[i].number = i + 1;
	return memory_trace(&memory, events, n, 4);
}

static struct model *load(struct rt_event *events, size_t n)
{
	struct model *m = NULL;
	struct rt_error err = {0};
	struct model_options options = {.regions = REGIONS_LOCKS};
	if (model_load(trace_of(events, n), &options, &m, &err))
		ck_abort_msg("%s", err.message);
	return m;
}

static struct analysis *analyze(struct rt_event *events, size_t n)
{
	struct analysis *a = NULL;
	struct rt_error err = {0};
	struct analysis_options options = {
	    .kinds = 1u << ANOMALY_RACE, .set_memory_model = true, .memory_model = RT_MODEL_C11};
	if (analysis_run(trace_of(events, n), &options, &a, &err))
		ck_abort_msg("%s", err.message);
	return a;
}

#define COUNT(...) (sizeof((struct rt_event[]){__VA_ARGS__}) / sizeof(struct rt_event))
#define MODEL(...) load((struct rt_event[]){__VA_ARGS__}, COUNT(__VA_ARGS__))
#define RACES(...) races(analyze((struct rt_event[]){__VA_ARGS__}, COUNT(__VA_ARGS__)))

/* Number of races with an allocation; whatever they are, they are predicted and have no schedule. */
static size_t races(struct analysis *a)
{
	size_t n = 0;
	for (size_t i = 0; i < a->anomalies.count; i++) {
		const struct anomaly *x = &a->anomalies.items[i];
		if (!anomaly_is_alloc_race(a->model, x))
			continue;
		ck_assert_int_eq(x->verdict, VERDICT_PREDICTED);
		ck_assert_ptr_null(x->schedule);
		n++;
	}
	analysis_free(a);
	return n;
}

/* Is use number i of the model the event with this number, and its allocation that one? */
static void check_alloc_race(const struct model *m, uint32_t i, uint32_t alloc, uint32_t use)
{
	ck_assert_uint_lt(i, m->alloc_use_count);
	ck_assert_uint_eq(m->events[m->alloc_uses[i].alloc].number, alloc);
	ck_assert_uint_eq(m->events[m->alloc_uses[i].use].number, use);
	ck_assert_uint_eq(model_op(m, m->alloc_uses[i].alloc), RT_OP_ALLOC);
}

START_TEST(the_first_use_of_each_other_thread_is_kept_and_nothing_else_of_the_block)
{
	struct model *m = MODEL(FORKS, ALLOC(1, BLOCK, 64), ALLOC(1, BLOCK + 128, 64), WRITE(2, BLOCK + 8),
	                        WRITE(2, BLOCK + 8), WRITE(2, BLOCK + 16), READ(0, BLOCK + 32), READ(2, BLOCK + 128));
	ck_assert_uint_eq(m->alloc_use_count, 3);
	check_alloc_race(m, 0, 3, 5);
	check_alloc_race(m, 1, 3, 8);
	check_alloc_race(m, 2, 4, 9);
	ck_assert_uint_eq(m->event_count, 7); /* two forks, two allocations, three uses */
	ck_assert_uint_eq(m->cell_count, 3);
	for (uint32_t i = 0; i < m->alloc_use_count; i++)
		ck_assert_uint_eq(m->cells[m->events[m->alloc_uses[i].use].object].count, 1);
	model_free(m);
}
END_TEST

START_TEST(what_the_owner_touches_first_is_its_to_race_for)
{
	struct model *m = MODEL(FORKS, ALLOC(1, BLOCK, 64), WRITE(1, BLOCK), READ(1, BLOCK + 8), READ(2, BLOCK),
	                        WRITE(2, BLOCK + 8), WRITE(2, BLOCK + 16));
	ck_assert_uint_eq(m->alloc_use_count, 0);
	ck_assert_uint_ne(m->event_count, 2);
	model_free(m);
	/* What the owner has read is not forgotten for it. */
	m = MODEL(FORKS, ALLOC(1, BLOCK, 64), READ(1, BLOCK), WRITE(2, BLOCK));
	ck_assert_uint_eq(m->event_count, 4);
	ck_assert_uint_eq(m->cells[0].count, 2);
	model_free(m);
}
END_TEST

START_TEST(bytes_that_the_owner_has_not_touched_are_used_first_by_another)
{
	/* All in one granule. */
	struct model *m = MODEL(FORKS, ALLOC(1, BLOCK, 8), PART(1, WRITE, 0, 3), PART(2, WRITE, 4, 4));
	ck_assert_uint_eq(m->alloc_use_count, 1);
	check_alloc_race(m, 0, 3, 5);
	model_free(m);
	/* And on into the next; of each thread the first counts. */
	m = MODEL(FORKS, ALLOC(1, BLOCK, 64), PART(1, WRITE, 0, 25), PART(2, WRITE, 25, 1), PART(2, WRITE, 40, 1),
	          PART(0, READ, 48, 8));
	ck_assert_uint_eq(m->alloc_use_count, 2);
	check_alloc_race(m, 0, 3, 5);
	check_alloc_race(m, 1, 3, 7);
	model_free(m);
	/* One byte in common: theirs to race for. */
	m = MODEL(FORKS, ALLOC(1, BLOCK, 8), PART(1, WRITE, 0, 5), PART(2, WRITE, 4, 4));
	ck_assert_uint_eq(m->alloc_use_count, 0);
	model_free(m);
	ck_assert_uint_eq(RACES(FORKS, ALLOC(1, BLOCK, 8), PART(1, WRITE, 0, 3), PART(2, WRITE, 4, 4)), 1);
	ck_assert_uint_eq(RACES(FORKS, ALLOC(1, BLOCK, 8), PART(1, WRITE, 0, 3), ACQ(1, SLOT), REL(1, SLOT),
	                        ACQ(2, SLOT), PART(2, WRITE, 4, 4)),
	                  0);
	/* They race in it as well, which says it all. */
	ck_assert_uint_eq(
	    RACES(FORKS, ALLOC(1, BLOCK, 8), PART(1, WRITE, 0, 4), PART(2, WRITE, 4, 4), PART(2, READ, 0, 4)), 0);
	/* What the owner does there after they have met in order is no race. */
	ck_assert_uint_eq(RACES(FORKS, ALLOC(1, BLOCK, 8), PART(2, WRITE, 0, 8), E(2, END, 2), E(1, JOIN, 2, .addr = 2),
	                        FREE(1, BLOCK, 8)),
	                  1);
	/* The same memory again: what was touched in its last life does not count. */
	ck_assert_uint_eq(RACES(FORKS, ALLOC(1, BLOCK, 8), PART(1, WRITE, 0, 8), FREE(1, BLOCK, 8), ALLOC(1, BLOCK, 8),
	                        PART(1, WRITE, 0, 3), PART(2, WRITE, 4, 4)),
	                  1);
}
END_TEST

START_TEST(only_the_block_that_is_there_now_counts)
{
	struct model *m;
	m = MODEL(FORKS, ALLOC(1, BLOCK, 64), FREE(1, BLOCK, 64), ALLOC(2, BLOCK, 64), WRITE(2, BLOCK));
	ck_assert_uint_eq(m->alloc_use_count, 0);
	model_free(m);
	m = MODEL(FORKS, ALLOC(2, BLOCK, 64), FREE(2, BLOCK, 64), ALLOC(1, BLOCK, 64), WRITE(2, BLOCK));
	check_alloc_race(m, 0, 6, 7);
	model_free(m);
	m = MODEL(FORKS, ALLOC(2, BLOCK, 64), FREE(2, BLOCK, 64), ALLOC(1, BLOCK + 16, 16), WRITE(2, BLOCK + 16));
	check_alloc_race(m, 0, 6, 7);
	model_free(m);
	/* To give it back is no use. */
	m = MODEL(FORKS, ALLOC(1, BLOCK, 64), FREE(2, BLOCK, 64));
	ck_assert_uint_eq(m->alloc_use_count, 0);
	model_free(m);
}
END_TEST

START_TEST(nothing_is_kept_of_memory_that_is_handed_over_otherwise)
{
	struct model *m;
	m = MODEL(ALLOC(0, BLOCK, 64), FORKS, WRITE(2, BLOCK));
	ck_assert_uint_eq(m->alloc_use_count, 0);
	model_free(m);
	m = MODEL(FORKS, ALLOC(1, BLOCK, 1 << 16), E(2, NEW_MEMORY, 1, .addr = BLOCK + 4096 + 64, .arg = 64),
	          WRITE(2, BLOCK + 4096 + 64), E(2, BEGIN, 1, .addr = BLOCK + 8192, .arg = 4096),
	          WRITE(2, BLOCK + 8192));
	ck_assert_uint_eq(m->alloc_use_count, 0);
	model_free(m);
	m = MODEL(FORKS, ALLOC(1, BLOCK, 64), E(2, IGNORE_BEGIN, 1, .arg = 2), WRITE(2, BLOCK));
	ck_assert_uint_eq(m->alloc_use_count, 0);
	model_free(m);
	m = MODEL(FORKS, E(1, IGNORE_BEGIN, 1, .arg = 2), ALLOC(1, BLOCK, 64), WRITE(2, BLOCK));
	ck_assert_uint_eq(m->alloc_use_count, 0);
	model_free(m);
}
END_TEST

START_TEST(a_large_block_costs_no_more_cells_than_a_small_one)
{
	struct model *m = MODEL(FORKS, ALLOC(1, BLOCK, 100 << 20), WRITE(2, BLOCK + (512 << 10)), WRITE(2, BLOCK),
	                        E(0, READ, 1, .addr = BLOCK, .arg = 100 << 20));
	ck_assert_uint_eq(m->alloc_use_count, 2);
	check_alloc_race(m, 0, 3, 4);
	check_alloc_race(m, 1, 3, 6);
	ck_assert_uint_lt(m->cell_count, 8);
	model_free(m);
}
END_TEST

START_TEST(indices_stay_right_when_other_events_are_dropped)
{
	/* Cells that seem shared until their generations end, before and between. */
	struct model *m =
	    MODEL(FORKS, WRITE(1, 0x800), WRITE(2, 0x800), E(0, NEW_MEMORY, 1, .addr = 0x800, .arg = 8),
	          WRITE(1, 0x800), WRITE(1, 0x800), ALLOC(1, BLOCK, 64), WRITE(1, 0x800), WRITE(2, BLOCK + 8),
	          WRITE(1, 0x800), ALLOC(2, BLOCK + 128, 64), WRITE(1, 0x800), WRITE(1, BLOCK + 128));
	ck_assert_uint_eq(m->alloc_use_count, 2);
	check_alloc_race(m, 0, 8, 10);
	check_alloc_race(m, 1, 12, 14);
	ck_assert_uint_eq(m->event_count, 8);
	model_free(m);
}
END_TEST

START_TEST(a_block_that_a_relaxed_atomic_hands_over_is_a_race)
{
	ck_assert_uint_eq(
	    RACES(FORKS, ALLOC(1, BLOCK, 64), STORE(1, SLOT, RELAXED), LOAD(2, SLOT, RELAXED), WRITE(2, BLOCK)), 1);
	/* One pair of source positions is one of them, however many blocks there are. */
	ck_assert_uint_eq(RACES(FORKS, ALLOC(1, BLOCK, 64), STORE(1, SLOT, RELAXED), LOAD(2, SLOT, RELAXED),
	                        WRITE(2, BLOCK), ALLOC(1, BLOCK + 128, 64), STORE(1, SLOT, RELAXED),
	                        LOAD(2, SLOT, RELAXED), WRITE(2, BLOCK + 128)),
	                  1);
}
END_TEST

START_TEST(a_block_that_is_handed_over_in_order_is_none)
{
	ck_assert_uint_eq(
	    RACES(FORKS, ALLOC(1, BLOCK, 64), STORE(1, SLOT, RELEASES), LOAD(2, SLOT, ACQUIRES), WRITE(2, BLOCK)), 0);
	/* Through a lock, though it is not known what for. */
	ck_assert_uint_eq(
	    RACES(FORKS, ALLOC(1, BLOCK, 64), ACQ(1, 1), REL(1, 1), ACQ(2, 1), REL(2, 1), WRITE(2, BLOCK)), 0);
	ck_assert_uint_eq(RACES(FORKS, ALLOC(1, BLOCK, 64), E(1, FORK, 1, .addr = 3), WRITE(3, BLOCK)), 0);
}
END_TEST

START_TEST(what_follows_from_another_race_is_not_said)
{
	/* The pointer's own race. */
	ck_assert_uint_eq(RACES(FORKS, ALLOC(1, BLOCK, 64), WRITE(1, SLOT), READ(2, SLOT), WRITE(2, BLOCK)), 0);
	/* What the owner has written is used after something else. */
	ck_assert_uint_eq(RACES(FORKS, ALLOC(1, BLOCK, 64), WRITE(1, BLOCK + 8), STORE(1, SLOT, RELAXED),
	                        LOAD(2, SLOT, RELAXED), WRITE(2, BLOCK), READ(2, BLOCK + 8)),
	                  0);
	/* But where that comes when the allocation has been seen, it is no race. */
	ck_assert_uint_eq(RACES(FORKS, ALLOC(1, BLOCK, 64), WRITE(1, BLOCK + 8), STORE(1, SLOT, RELAXED), ACQ(1, 1),
	                        REL(1, 1), LOAD(2, SLOT, RELAXED), WRITE(2, BLOCK), ACQ(2, 1), REL(2, 1),
	                        READ(2, BLOCK + 8)),
	                  1);
}
END_TEST

/* Number of observed races of a free with a use of the memory's next block; none has a schedule. */
static size_t stale_uses(struct analysis *a)
{
	size_t n = 0;
	for (size_t i = 0; i < a->anomalies.count; i++) {
		const struct anomaly *x = &a->anomalies.items[i];
		if (!anomaly_is_stale_use(a->model, x))
			continue;
		ck_assert_int_eq(x->verdict, VERDICT_OBSERVED);
		ck_assert_ptr_null(x->schedule);
		ck_assert_uint_lt(a->model->events[x->events[0]].number, a->model->events[x->events[1]].number);
		n++;
	}
	ck_assert_uint_eq(n, a->anomalies.count);
	analysis_free(a);
	return n;
}
#define STALE(...) stale_uses(analyze((struct rt_event[]){__VA_ARGS__}, COUNT(__VA_ARGS__)))
#define END_AND_JOIN(t) E(t, END, 2), E(0, JOIN, 2, .addr = (t))

START_TEST(an_old_pointer_into_memory_that_was_handed_out_again_is_a_use_after_free)
{
	/* The block was there before the threads. */
	ck_assert_uint_eq(STALE(ALLOC(0, BLOCK, 64), FORKS, FREE(1, BLOCK, 64), ALLOC(1, BLOCK, 64), WRITE(2, BLOCK)),
	                  1);
	/* Its allocation is known to the user, by a lock. */
	ck_assert_uint_eq(STALE(FORKS, ALLOC(1, BLOCK, 64), ACQ(1, 1), REL(1, 1), ACQ(2, 1), REL(2, 1),
	                        FREE(1, BLOCK, 64), ALLOC(1, BLOCK, 64), WRITE(2, BLOCK)),
	                  1);
	/* A third thread has it now; another size, another start. */
	ck_assert_uint_eq(
	    STALE(ALLOC(0, BLOCK, 64), FORKS, FREE(1, BLOCK, 64), ALLOC(3, BLOCK - 64, 256), WRITE(2, BLOCK + 8)), 1);
	/* The last of several blocks. */
	ck_assert_uint_eq(STALE(ALLOC(0, BLOCK, 64), FREE(0, BLOCK, 64), ALLOC(0, BLOCK, 64), FORKS, FREE(1, BLOCK, 64),
	                        ALLOC(1, BLOCK, 64), WRITE(2, BLOCK)),
	                  1);
	ck_assert_uint_eq(STALE(ALLOC(0, BLOCK, 64), FORKS, WRITE(2, 0x800), FREE(1, BLOCK, 64), ALLOC(1, BLOCK, 64),
	                        WRITE(2, 0x800), READ(2, BLOCK), WRITE(2, BLOCK + 8)),
	                  1);
}
END_TEST

START_TEST(a_free_by_an_old_pointer_frees_the_old_block_again)
{
	ck_assert_uint_eq(
	    STALE(ALLOC(0, BLOCK, 64), FORKS, FREE(1, BLOCK, 64), ALLOC(1, BLOCK, 64), FREE(2, BLOCK, 64)), 1);
	ck_assert_uint_eq(
	    STALE(ALLOC(0, BLOCK, 64), FORKS, FREE(1, BLOCK, 64), ALLOC(3, BLOCK, 64), FREE(2, BLOCK, 64)), 1);
	/* It may be the new block's, or is ordered: then there is nothing to say. */
	ck_assert_uint_eq(STALE(FORKS, FREE(1, BLOCK, 64), ALLOC(1, BLOCK, 64), FREE(2, BLOCK, 64)), 0);
	ck_assert_uint_eq(STALE(ALLOC(0, BLOCK, 64), FORKS, FREE(1, BLOCK, 64), ALLOC(1, BLOCK, 64),
	                        STORE(1, SLOT, RELAXED), LOAD(2, SLOT, RELAXED), FREE(2, BLOCK, 64)),
	                  0);
	ck_assert_uint_eq(STALE(ALLOC(0, BLOCK, 64), FORKS, FREE(1, BLOCK, 64), ALLOC(1, BLOCK, 64), ACQ(1, 1),
	                        REL(1, 1), ACQ(2, 1), REL(2, 1), FREE(2, BLOCK, 64)),
	                  0);
	ck_assert_uint_eq(STALE(ALLOC(0, BLOCK, 64), FORKS, FREE(1, BLOCK, 64), ACQ(1, 1), REL(1, 1), ACQ(2, 1),
	                        REL(2, 1), ALLOC(1, BLOCK, 64), FREE(2, BLOCK, 64)),
	                  0);
}
END_TEST

START_TEST(a_pointer_that_may_be_the_new_blocks_is_none_into_the_old_one)
{
	/* The user cannot know the old block. */
	ck_assert_uint_eq(RACES(FORKS, ALLOC(1, BLOCK, 64), FREE(1, BLOCK, 64), ALLOC(1, BLOCK, 64), WRITE(2, BLOCK)),
	                  1);
	/* Freed before the use: that is wrong, but no race with the free. */
	ck_assert_uint_eq(RACES(ALLOC(0, BLOCK, 64), FORKS, FREE(1, BLOCK, 64), ACQ(1, 1), REL(1, 1), ACQ(2, 1),
	                        REL(2, 1), ALLOC(1, BLOCK, 64), WRITE(2, BLOCK)),
	                  1);
	ck_assert_uint_eq(RACES(ALLOC(0, BLOCK, 64), FORKS, FREE(2, BLOCK, 64), ALLOC(1, BLOCK, 64), WRITE(2, BLOCK)),
	                  1);
	/* A relaxed atomic may have handed the new one over. */
	ck_assert_uint_eq(RACES(ALLOC(0, BLOCK, 64), FORKS, FREE(1, BLOCK, 64), ALLOC(1, BLOCK, 64),
	                        STORE(1, SLOT, RELAXED), LOAD(2, SLOT, RELAXED), WRITE(2, BLOCK)),
	                  1);
	/* Other memory was there in between, which the pointer may be of. */
	ck_assert_uint_eq(RACES(ALLOC(0, BLOCK, 64), FORKS, FREE(1, BLOCK, 64), NEW(3, BLOCK, 64), ALLOC(1, BLOCK, 64),
	                        WRITE(2, BLOCK)),
	                  1);
	ck_assert_uint_eq(RACES(ALLOC(0, BLOCK, 64), FORKS, FREE(1, BLOCK, 64), E(2, MAP, 1, .addr = 0, .arg = 1 << 20),
	                        ALLOC(1, BLOCK, 64), WRITE(2, BLOCK)),
	                  1);
	/* Elsewhere, or before the old block: it is not of that. */
	ck_assert_uint_eq(STALE(NEW(0, BLOCK, 64), ALLOC(0, BLOCK, 64), FORKS, FREE(1, BLOCK, 64),
	                        NEW(2, BLOCK + 8, 56), ALLOC(1, BLOCK, 64), NEW(1, BLOCK + 32, 8), WRITE(2, BLOCK)),
	                  1);
	/* In order: no race at all. */
	ck_assert_uint_eq(STALE(ALLOC(0, BLOCK, 64), FORKS, FREE(1, BLOCK, 64), ALLOC(1, BLOCK, 64), ACQ(1, 1),
	                        REL(1, 1), ACQ(2, 1), REL(2, 1), WRITE(2, BLOCK)),
	                  0);
	ck_assert_uint_eq(STALE(ALLOC(0, BLOCK, 64), FORKS, WRITE(2, BLOCK), END_AND_JOIN(2), FREE(0, BLOCK, 64),
	                        ALLOC(1, BLOCK, 64), WRITE(1, BLOCK)),
	                  0);
}
END_TEST

START_TEST(a_block_with_many_used_places_hides_the_one_before_it)
{
	enum { PLACES = 65, SIZE = 64 };
	const uint64_t last = BLOCK + (PLACES - 1) * SIZE;
	/* Thread 2 knows the large block of thread 3, which is where the first block was. */
	const struct rt_event begin[] = {ALLOC(0, last, SIZE),
	                                 FORKS,
	                                 FREE(1, last, SIZE),
	                                 ALLOC(3, BLOCK, PLACES * SIZE),
	                                 ACQ(3, 1),
	                                 REL(3, 1),
	                                 ACQ(2, 1),
	                                 REL(2, 1),
	                                 FREE(3, BLOCK, PLACES * SIZE)};
	struct rt_event events[sizeof begin / sizeof *begin + 2 * PLACES];
	size_t n = sizeof begin / sizeof *begin;
	memcpy(events, begin, sizeof begin);
	for (uint64_t i = 0; i < PLACES; i++) {
		events[n++] = ALLOC(1, BLOCK + i * SIZE, SIZE);
		events[n++] = WRITE(2, BLOCK + i * SIZE);
	}
	struct analysis *a = analyze(events, n);
	ck_assert_uint_gt(a->anomalies.count, 0);
	for (size_t i = 0; i < a->anomalies.count; i++) {
		uint32_t e = a->anomalies.items[i].events[0];
		ck_assert_uint_ne(a->model->sites[a->model->events[e].site].pc, 401); /* the first block's free */
	}
	analysis_free(a);
}
END_TEST

SUITE(alloc_race)
{
	Suite *suite = suite_create("alloc_race");
	TCase *model = tcase_create("model"), *search = tcase_create("search");
	tcase_add_test(model, the_first_use_of_each_other_thread_is_kept_and_nothing_else_of_the_block);
	tcase_add_test(model, what_the_owner_touches_first_is_its_to_race_for);
	tcase_add_test(model, bytes_that_the_owner_has_not_touched_are_used_first_by_another);
	tcase_add_test(model, only_the_block_that_is_there_now_counts);
	tcase_add_test(model, nothing_is_kept_of_memory_that_is_handed_over_otherwise);
	tcase_add_test(model, a_large_block_costs_no_more_cells_than_a_small_one);
	tcase_add_test(model, indices_stay_right_when_other_events_are_dropped);
	tcase_add_test(search, a_block_that_a_relaxed_atomic_hands_over_is_a_race);
	tcase_add_test(search, a_block_that_is_handed_over_in_order_is_none);
	tcase_add_test(search, what_follows_from_another_race_is_not_said);
	tcase_add_test(search, an_old_pointer_into_memory_that_was_handed_out_again_is_a_use_after_free);
	tcase_add_test(search, a_free_by_an_old_pointer_frees_the_old_block_again);
	tcase_add_test(search, a_pointer_that_may_be_the_new_blocks_is_none_into_the_old_one);
	tcase_add_test(search, a_block_with_many_used_places_hides_the_one_before_it);
	suite_add_tcase(suite, model);
	suite_add_tcase(suite, search);
	return suite;
}
