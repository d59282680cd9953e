/* Units of two cells: which are created. */
#include "lib/search/units.h"
#include "tests/unit/memory_trace.h"
#include "tests/unit/suite.h"

#include <check.h>

enum { SIDE = 64, CELLS = SIDE * SIDE, REGION = SIDE + 2, EVENTS = 2 * (SIDE * REGION + 1) };

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
	ck_assert(units_find(&units, m, false, 0));
	ck_assert_msg(units.count < all / 4, "%u of %zu pairs", units.count, all);
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
	ck_assert(units_find(&units, m, false, 0));
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
	tcase_add_test(c, regions_that_no_other_thread_contests_meet_no_limit);
	suite_add_tcase(s, c);
	return s;
}
