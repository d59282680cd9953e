/* Events that a thread of its own reads ahead are those that reading gives, of whole and of damaged files. */
#include "tests/unit/scratch.h"
#include "tests/unit/suite.h"
#include "tests/unit/trace_file.h"
#include "tracefmt/ahead.h"

enum { EVENTS = 30000, THREADS = 5 };

/* Asserts that what is read ahead from the beginning is what is read. */
static void assert_same(struct rt_trace *trace)
{
	size_t count, seen = 0, got;
	struct rt_event *wanted = read_all(trace, 777, &count), *events;
	ck_assert_int_eq(rt_trace_rewind(trace, NULL), RT_OK);
	struct rt_ahead *a = rt_ahead_start(trace);
	ck_assert_ptr_nonnull(a);
	while (!rt_ahead_read(a, &events, &got, NULL) && got) {
		ck_assert_uint_le(got, count - seen);
		for (size_t i = 0; i < got; i++, seen++) {
			assert_same_event(&events[i], &wanted[seen]);
			if (events[i].number != wanted[seen].number)
				ck_abort_msg("event %zu has another number", seen);
		}
	}
	rt_ahead_stop(a);
	ck_assert_uint_eq(seen, count);
	free(wanted);
}

static void write_trace(void)
{
	struct rt_event *events = random_events(EVENTS, THREADS, 3);
	write_events(events, EVENTS, THREADS);
	free(events);
}

START_TEST(reading_ahead_gives_what_reading_gives)
{
	write_trace();
	struct rt_trace *trace = open_trace(path);
	assert_same(trace);
	rt_trace_select(trace, UINT64_C(1) << RT_OP_READ | UINT64_C(1) << RT_OP_FORK);
	ck_assert_int_eq(rt_trace_rewind(trace, NULL), RT_OK);
	assert_same(trace);
	rt_trace_free(trace);
}
END_TEST

START_TEST(a_file_that_was_cut_ends_at_the_same_event)
{
	write_trace();
	uint8_t *data;
	size_t size = read_file(path, &data);
	for (size_t part = 1; part < 8; part++) {
		write_file(other, data, size * part / 8);
		struct rt_trace *trace = open_trace(other);
		assert_same(trace);
		ck_assert(!rt_trace_info(trace)->complete);
		rt_trace_free(trace);
	}
	free(data);
}
END_TEST

START_TEST(reading_ahead_can_be_stopped_at_any_time)
{
	write_trace();
	struct rt_trace *trace = open_trace(path);
	for (int batches = 0; batches < 12; batches++) {
		struct rt_event *events;
		size_t got;
		ck_assert_int_eq(rt_trace_rewind(trace, NULL), RT_OK);
		struct rt_ahead *a = rt_ahead_start(trace);
		for (int i = 0; i < batches; i++)
			ck_assert_int_eq(rt_ahead_read(a, &events, &got, NULL), RT_OK);
		rt_ahead_stop(a);
	}
	ck_assert_int_eq(rt_trace_rewind(trace, NULL), RT_OK);
	assert_same(trace);
	rt_trace_free(trace);
}
END_TEST

START_TEST(text_is_not_read_ahead)
{
	struct rt_trace *trace = scratch_trace("T1|w(x)|1\nT2|r(x)|2\n");
	ck_assert_ptr_null(rt_ahead_start(trace));
	rt_ahead_stop(NULL);
	rt_trace_free(trace);
}
END_TEST

SUITE(ahead)
{
	Suite *s = suite_create("ahead");
	TCase *tc = tcase_create("ahead");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, reading_ahead_gives_what_reading_gives);
	tcase_add_test(tc, a_file_that_was_cut_ends_at_the_same_event);
	tcase_add_test(tc, reading_ahead_can_be_stopped_at_any_time);
	tcase_add_test(tc, text_is_not_read_ahead);
	suite_add_tcase(s, tc);
	return s;
}
