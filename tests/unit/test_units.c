/* Units of two cells: which are created. */
#include "lib/search/units.h"
#include "tests/unit/memory_trace.h"
#include "tests/unit/suite.h"

#include <check.h>

enum { SIDE = 64, CELLS = SIDE * SIDE, REGION = SIDE + 2, EVENTS = 2 * (SIDE * REGION + 1) };

static const struct units_bounds all_of_them = {.steps = UINT64_MAX};

/* A critical section of the thread's own lock, with one access of each cell of a row or column. */
static size_t put_section(struct rt_event *e, uint32_t thread, enum rt_op op, size_t first, size_t step)
{
	enum { LOCK = 0x100, MEMORY = 0x100000, WORD = 8 };
	size_t n = 0;
	e[n++] = (struct rt_event){.op = RT_OP_ACQUIRE, .thread = thread, .addr = LOCK + thread, .pc = 1};
	for (size_t i = 0; i < SIDE; i++)
		e[n++] = (struct rt_event){.op = op,
		                           .arg = WORD,
		                           .thread = thread,
		                           .addr = MEMORY + (first + i * step) * WORD,
		                           .pc = 0x10 + thread};
	e[n++] = (struct rt_event){.op = RT_OP_RELEASE, .thread = thread, .addr = LOCK + thread, .pc = 2};
	return n;
}

/* One thread reads the rows of a square of cells, another writes its columns: no pair of cells is in regions of both.
 */
START_TEST(pairs_of_cells_that_one_thread_has_are_no_units)
{
	static struct rt_event events[EVENTS];
	struct memory_trace t;
	struct model *m;
	struct units units;
	struct rt_error err = {0};
	struct model_options options = {.regions = REGIONS_LOCKS};
	size_t n = 0, all = 2 * SIDE * (SIDE * (SIDE - 1) / 2);
	for (size_t i = 0; i < SIDE; i++) {
		n += put_section(events + n, 1, RT_OP_READ, i * SIDE, 1);
		n += put_section(events + n, 2, RT_OP_WRITE, i, SIDE);
	}
	for (size_t i = 0; i < n; i++)
		events[i].number = events[i].stamp = i + 1;
	ck_assert(model_load(memory_trace(&t, events, n, 3), &options, &m, &err) == RT_OK);
	ck_assert(units_find(&units, m, false, all_of_them));
	ck_assert_msg(units.count < all / 4, "%u of %zu pairs", units.count, all);
	units_release(&units);
	model_free(m);
}
END_TEST

/*
 * Two threads write the same row of cells in sections of their own locks, SIDE times; one of them once in another
 * section, whose first access is at another place. With few steps there are units of each thread, and of that section.
 */
START_TEST(few_steps_leave_units_of_each_kind_of_region)
{
	enum { ONCE = 0x99 };
	static struct rt_event events[(2 * SIDE + 1) * REGION];
	struct memory_trace t;
	struct model *m;
	struct units units;
	struct rt_error err = {0};
	struct model_options options = {.regions = REGIONS_LOCKS};
	size_t n = 0, once;
	uint32_t kinds = 0;
	for (size_t i = 0; i < SIDE; i++) {
		n += put_section(events + n, 1, RT_OP_WRITE, 0, 1);
		n += put_section(events + n, 2, RT_OP_WRITE, 0, 1);
	}
	once = n;
	n += put_section(events + n, 2, RT_OP_WRITE, 0, 1);
	for (size_t i = once + 1; i + 1 < n; i++)
		events[i].pc = ONCE;
	for (size_t i = 0; i < n; i++)
		events[i].number = events[i].stamp = i + 1;
	ck_assert(model_load(memory_trace(&t, events, n, 3), &options, &m, &err) == RT_OK);
	ck_assert(units_find(&units, m, false, all_of_them));
	uint32_t all = units.count;
	ck_assert(!units.some);
	units_release(&units);
	ck_assert(units_find(&units, m, false, (struct units_bounds){.steps = 64 * SIDE * SIDE}));
	ck_assert(units.some && !units.full);
	ck_assert_msg(units.count < all / 2, "%u of %u units", units.count, all);
	for (uint32_t i = 0; i < units.count; i++)
		kinds |= units.items[i].first[0] > m->event_count - SIDE - 2 ? 4
		         : model_thread_of(m, units.items[i].first[0]) == 1  ? 1
		                                                             : 2;
	ck_assert_uint_eq(kinds, 7);
	units_release(&units);
	/* What there is no memory for is left out in the same way. */
	ck_assert(units_find(&units, m, false, (struct units_bounds){.steps = UINT64_MAX, .memory = 1 << 21}));
	ck_assert(units.some && units.full && units.count);
	units_release(&units);
	model_free(m);
}
END_TEST

/* Accesses of a row of cells, each several times, in a section of one thread; another thread has no region there. */
static void check_uncontested(uint32_t thread, uint32_t other)
{
	struct rt_event events[4 * SIDE + 2];
	struct memory_trace t;
	struct model *m;
	struct units units;
	struct rt_error err = {0};
	struct model_options options = {.regions = REGIONS_LOCKS};
	size_t n = put_section(events, thread, RT_OP_WRITE, 0, 1), release = n - 1;
	for (size_t i = 1; i < release; i++) {
		events[2 * SIDE + i] = events[i];
		events[2 * SIDE + i].thread = other;
		events[release - 1 + i] = events[i];
	}
	events[3 * SIDE + 1] =
	    (struct rt_event){.op = RT_OP_RELEASE, .thread = thread, .addr = events[0].addr, .pc = 2};
	n = 3 * SIDE + 2;
	for (size_t i = 0; i < n; i++)
		events[i].number = events[i].stamp = i + 1;
	ck_assert(model_load(memory_trace(&t, events, n, 3), &options, &m, &err) == RT_OK);
	ck_assert_uint_gt(m->region_count, 0);
	ck_assert(units_find(&units, m, false, all_of_them));
	ck_assert_uint_eq(units.count, 0);
	ck_assert(!units.cut);
	units_release(&units);
	model_free(m);
}

START_TEST(regions_that_no_other_thread_contests_meet_no_limit)
{
	for (uint32_t thread = 0; thread < 3; thread++)
		for (uint32_t other = 0; other < 3; other++)
			if (thread != other)
				check_uncontested(thread, other);
}
END_TEST

SUITE(units)
{
	Suite *s = suite_create("units");
	TCase *c = tcase_create("pairs");
	tcase_add_test(c, pairs_of_cells_that_one_thread_has_are_no_units);
	tcase_add_test(c, few_steps_leave_units_of_each_kind_of_region);
	tcase_add_test(c, regions_that_no_other_thread_contests_meet_no_limit);
	suite_add_tcase(s, c);
	return s;
}
