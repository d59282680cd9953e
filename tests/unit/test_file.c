/* trace.zst: what is written reads back. */
#include "tests/unit/suite.h"
#include "tests/unit/trace_file.h"

#include <zstd.h>

START_TEST(events_read_back_as_written)
{
	enum { N = 300000, THREADS = 7 };
	struct rt_event *events = random_events(N, THREADS, 17 + (uint64_t)_i);
	write_events(events, N, THREADS);
	struct rt_trace *trace = open_trace(path);
	const struct rt_trace_info *info = rt_trace_info(trace);
	ck_assert(info->exact && info->lost && !info->complete); /* LOST is among the events */
	ck_assert_str_eq(info->incomplete_why, RT_LOST_WHY);
	ck_assert_str_eq(info->format, "racetrace");
	ck_assert_uint_eq(info->events, N);
	ck_assert_uint_eq(info->pid, 77);
	ck_assert_uint_eq(info->duration_ns, 123456);
	ck_assert_int_eq(info->exit_kind, RT_EXIT_SIGNAL);
	ck_assert_int_eq(info->exit_value, 9);
	ck_assert_str_eq(info->command[1], "an arg");
	ck_assert_str_eq(info->command[2], "\xff");
	ck_assert_ptr_null(info->command[3]);
	ck_assert_uint_eq(info->thread_count, THREADS);
	ck_assert_str_eq(info->threads[1].name, "main.1");
	ck_assert_str_eq(info->threads[1].label, "label");
	ck_assert_ptr_null(info->threads[2].label);
	uint64_t per_thread = 0;
	for (unsigned i = 0; i < THREADS; i++)
		per_thread += info->threads[i].events;
	ck_assert_uint_eq(per_thread, N);
	for (int pass = 0; pass < 2; pass++) {
		size_t n;
		struct rt_event *back = read_all(trace, pass ? 1 : 1000, &n);
		ck_assert_uint_eq(n, N);
		for (size_t i = 0; i < n; i++) {
			assert_same_event(&back[i], &events[i]);
			if (back[i].number != i + 1)
				ck_abort_msg("event %zu has number %ju", i + 1, (uintmax_t)back[i].number);
		}
		free(back);
		ck_assert(!rt_trace_rewind(trace, NULL));
	}
	rt_trace_free(trace);
	free(events);
}
END_TEST

START_TEST(zstd_finds_the_file_in_order)
{
	struct rt_event *events = random_events(5000, 3, 3);
	write_events(events, 5000, 3);
	char command[256];
	snprintf(command, sizeof command, "zstd -q -t %s", path);
	ck_assert_int_eq(system(command), 0);
	free(events);
}
END_TEST

START_TEST(events_that_are_not_selected_keep_their_places)
{
	struct rt_event *events = random_events(20000, 4, 5);
	write_events(events, 20000, 4);
	struct rt_trace *trace = open_trace(path);
	uint64_t mask = UINT64_C(1) << RT_OP_READ | UINT64_C(1) << RT_OP_ACQUIRE;
	rt_trace_select(trace, mask);
	size_t n, k = 0;
	struct rt_event *back = read_all(trace, 100, &n);
	for (size_t i = 0; i < 20000; i++) {
		if (!(mask >> events[i].op & 1))
			continue;
		ck_assert_uint_lt(k, n);
		ck_assert_uint_eq(back[k].number, i + 1);
		assert_same_event(&back[k++], &events[i]);
	}
	ck_assert_uint_eq(k, n);
	free(back);
	rt_trace_free(trace);
	free(events);
}
END_TEST

START_TEST(threads_are_merged_run_by_run_by_their_stamps)
{
	struct rt_writer *w = create(false);
	put(w, 0, 10, 1);
	put(w, 0, 0, 2); /* the same run */
	put(w, 0, 30, 5);
	put(w, 0, 5, 6); /* lower than its predecessor: counts as 30 */
	put(w, 0, 40, 9);
	put(w, 1, 20, 4);
	put(w, 1, 30, 7); /* equal: the lower thread first */
	put(w, 1, 31, 8);
	put(w, 2, 10, 3);
	finish(w);
	struct rt_trace *trace = open_trace(path);
	ck_assert(!rt_trace_info(trace)->exact);
	size_t n;
	struct rt_event *back = read_all(trace, 4, &n);
	ck_assert_uint_eq(n, 9);
	for (size_t i = 0; i < n; i++)
		ck_assert_uint_eq(back[i].addr, i + 1);
	ck_assert_uint_eq(back[5].stamp, 30);
	ck_assert_str_eq(rt_trace_info(trace)->threads[2].name, "thread 2");
	free(back);
	rt_trace_free(trace);
}
END_TEST

START_TEST(a_trace_without_events_is_whole)
{
	finish(create(false));
	struct rt_trace *trace = open_trace(path);
	size_t n;
	struct rt_event *back = read_all(trace, 10, &n);
	ck_assert_uint_eq(n, 0);
	ck_assert(rt_trace_info(trace)->complete);
	free(back);
	rt_trace_free(trace);
}
END_TEST

START_TEST(an_order_may_turn_out_not_to_be_exact)
{
	for (int degraded = 0; degraded < 2; degraded++) {
		struct rt_writer *w = create(true);
		struct rt_error err = {0};
		ck_assert_int_eq(rt_writer_thread(w, 0, "main", 0, NULL, &err), RT_OK);
		if (degraded)
			ck_assert_int_eq(rt_writer_inexact(w, &err), RT_OK);
		finish(w);
		struct rt_trace *trace = open_trace(path);
		ck_assert_int_eq(rt_trace_info(trace)->exact, !degraded);
		ck_assert_uint_eq(rt_trace_info(trace)->pid, 77);
		ck_assert_str_eq(rt_trace_info(trace)->command[1], "an arg");
		rt_trace_free(trace);
	}
}
END_TEST

START_TEST(what_is_known_of_all_memory_reads_back)
{
	struct rt_writer_options options = {.zeroed = _i & 1,
	                                    .sync_only = _i & 2,
	                                    .vary = _i & 4 ? UINT32_MAX : 0,
	                                    .model = _i & 8 ? RT_MODEL_SC : RT_MODEL_C11,
	                                    .values = _i & 16,
	                                    .input = _i & 2 ? "/etc/passwd" : NULL};
	const char *const command[] = {"./app", NULL};
	struct rt_writer *w;
	options.command = _i & 4 ? command : NULL;
	ck_assert_int_eq(rt_writer_create(path, &options, &w, NULL), RT_OK);
	finish(w);
	struct rt_trace *trace = open_trace(path);
	const struct rt_trace_info *info = rt_trace_info(trace);
	ck_assert_int_eq(info->zeroed, options.zeroed);
	ck_assert_int_eq(info->sync_only, options.sync_only);
	ck_assert_uint_eq(info->vary, options.vary);
	ck_assert_int_eq(info->model, options.model);
	ck_assert_int_eq(info->values, options.values);
	ck_assert(options.input ? info->input && !strcmp(info->input, options.input) : !info->input);
	ck_assert_int_eq(info->command != NULL, options.command != NULL);
	rt_trace_free(trace);
}
END_TEST

START_TEST(symbols_name_positions_members_and_objects)
{
	struct rt_writer *w = create(true);
	const struct rt_frame frames[] = {{.function = "inner", .file = "a.c", .line = 5, .column = 2, .pc = 0x400123},
	                                  {.function = "outer", .file = "b.c", .line = 9, .pc = 0x400123}};
	ck_assert(!rt_writer_position(w, 0x400123, frames, 2, NULL));
	ck_assert(!rt_writer_position(w, 0x400100, frames + 1, 1, NULL));
	uint32_t number, slot, array, queue, loop;
	ck_assert(!rt_writer_type(w, &(struct rt_type){.size = 8}, &number, NULL));
	const struct rt_member slot_members[] = {{"value", 0, number}, {"next", 8, number}};
	ck_assert(!rt_writer_type(w, &(struct rt_type){16, 0, slot_members, 2}, &slot, NULL));
	const struct rt_member element = {NULL, 0, slot};
	ck_assert(!rt_writer_type(w, &(struct rt_type){64, 4, &element, 1}, &array, NULL));
	const struct rt_member queue_members[] = {{"size", 0, number}, {"slot", 8, array}};
	ck_assert(!rt_writer_type(w, &(struct rt_type){72, 0, queue_members, 2}, &queue, NULL));
	const struct rt_member itself = {"self", 0, queue + 1};
	ck_assert(!rt_writer_type(w, &(struct rt_type){8, 0, &itself, 1}, &loop, NULL));
	ck_assert(!rt_writer_variable(w, "queue", 0x5000, 72, queue, "q.c", 12, NULL));
	ck_assert(!rt_writer_variable(w, "flag", 0x4000, 4, RT_NO_TYPE, NULL, 0, NULL));
	ck_assert(!rt_writer_variable(w, "loop", 0x6000, 8, loop, NULL, 0, NULL));
	ck_assert(!rt_writer_object_name(w, 7, "L7", NULL));
	ck_assert(!rt_writer_module(w, 0x400000, 0x500000, 0, "/bin/app", false, NULL));
	finish(w);

	struct rt_trace *trace = open_trace(path);
	size_t n;
	const struct rt_frame *f = rt_trace_frames(trace, 0x400123, &n);
	ck_assert_uint_eq(n, 2);
	ck_assert_str_eq(f[0].function, "inner");
	ck_assert_uint_eq(f[0].column, 2);
	ck_assert_str_eq(f[1].file, "b.c");
	ck_assert_ptr_null(f[1].module);
	ck_assert_uint_eq(f[1].pc, 0x400123);
	rt_trace_frames(trace, 0x400124, &n);
	ck_assert_uint_eq(n, 0);
	struct rt_variable v;
	ck_assert(rt_trace_variable(trace, 0x5000 + 8 + 3 * 16 + 8 + 4, &v));
	ck_assert_str_eq(v.name, "queue.slot[3].next");
	ck_assert_uint_eq(v.address, 0x5000 + 8 + 3 * 16 + 8);
	ck_assert_uint_eq(v.size, 8);
	ck_assert_str_eq(v.file, "q.c");
	ck_assert_uint_eq(v.line, 12);
	ck_assert(rt_trace_variable(trace, 0x4003, &v));
	ck_assert_str_eq(v.name, "flag");
	ck_assert(!rt_trace_variable(trace, 0x4004, &v));
	ck_assert(!rt_trace_variable(trace, 0x3fff, &v));
	ck_assert(rt_trace_variable(trace, 0x6000, &v)); /* a type that contains itself ends somewhere */
	ck_assert_str_eq(rt_trace_object_name(trace, 7), "L7");
	ck_assert_ptr_null(rt_trace_object_name(trace, 8));
	ck_assert(rt_trace_info(trace)->complete);
	rt_trace_free(trace);
}
END_TEST

START_TEST(a_thousand_threads_at_once_read_back)
{
	enum { N = 200000, THREADS = 1000 };
	struct rt_event *events = random_events(N, THREADS, 23);
	write_events(events, N, THREADS);
	struct rt_trace *trace = open_trace(path);
	size_t n;
	struct rt_event *back = read_all(trace, 512, &n);
	ck_assert_uint_eq(n, N);
	ck_assert_uint_eq(rt_trace_info(trace)->thread_count, THREADS);
	for (size_t i = 0; i < n; i++)
		assert_same_event(&back[i], &events[i]);
	free(back);
	free(events);
	rt_trace_free(trace);
}
END_TEST

START_TEST(ten_thousand_threads_in_turn_read_back)
{
	enum { THREADS = 10000 };
	struct rt_writer *w = create(false);
	for (uint32_t i = 0; i < THREADS; i++) {
		char name[32];
		snprintf(name, sizeof name, "main.%u", i);
		if (rt_writer_thread(w, i, i ? name : "main", 0, NULL, NULL))
			ck_abort_msg("cannot declare");
		struct rt_record r[2] = {rt_record_ext(i + 1, 0), rt_record_make(RT_OP_READ, i, 1, 4, 0)};
		if (rt_writer_records(w, i, r, 2, NULL) || (i && rt_writer_thread_end(w, i, NULL)))
			ck_abort_msg("cannot write");
	}
	finish(w);
	struct rt_trace *trace = open_trace(path);
	size_t n;
	struct rt_event *back = read_all(trace, 512, &n);
	ck_assert_uint_eq(n, THREADS);
	for (size_t i = 0; i < n; i++)
		if (back[i].addr != i || back[i].thread != i)
			ck_abort_msg("event %zu is of thread %u", i, back[i].thread);
	ck_assert_str_eq(rt_trace_info(trace)->threads[9999].name, "main.9999");
	free(back);
	rt_trace_free(trace);
}
END_TEST

static int remember(uint64_t pc, void *arg)
{
	uint64_t *last = arg;
	if (pc <= *last)
		ck_abort_msg("not in order");
	*last = pc;
	last[1]++;
	return 0;
}

START_TEST(each_pc_is_handed_out_once_in_rising_order)
{
	struct rt_writer *w = create(false);
	uint64_t seed = 12, state[2] = {0, 0};
	for (unsigned i = 0; i < 100000; i++) {
		struct rt_record r = rt_record_make(RT_OP_READ, 0, 1 + next_random(&seed) % 5000, 4, 0);
		if (rt_writer_records(w, i / 50000, &r, 1, NULL))
			ck_abort_msg("cannot write");
	}
	ck_assert_int_eq(rt_writer_each_pc(w, remember, state), 0);
	ck_assert_uint_eq(state[1], 5000);
	rt_writer_abort(w);
}
END_TEST

/* Reading goes on behind a mark as it did after the mark was taken, whatever was read meanwhile and however it was. */
START_TEST(reading_returns_to_a_mark)
{
	enum { N = 200000, THREADS = 5, PLACES = 40 };
	struct rt_event *events = random_events(N, THREADS, 4711);
	write_events(events, N, THREADS);
	struct rt_trace *trace = open_trace(path);
	struct rt_error err = {0};
	size_t count, got;
	struct rt_event *all = read_all(trace, 1000, &count);
	ck_assert_uint_eq(count, N);
	struct rt_event *part = malloc(N * sizeof *part);
	uint64_t random = 99;
	for (int i = 0; i < PLACES; i++) {
		size_t place = i ? next_random(&random) % N : 0;
		ck_assert(!rt_trace_rewind(trace, NULL));
		ck_assert(!place || !rt_trace_read(trace, part, place, &got, NULL));
		struct rt_mark *mark = rt_trace_mark(trace);
		ck_assert_ptr_nonnull(mark);
		ck_assert(!rt_trace_read(trace, part, next_random(&random) % N, &got, NULL));
		for (int again = 0; again < 2; again++) {
			ck_assert_msg(!rt_trace_return(trace, mark, &err), "%s", err.message);
			size_t n = next_random(&random) % 3000 + 1;
			ck_assert(!rt_trace_read(trace, part, n, &got, NULL));
			ck_assert_uint_eq(got, n < N - place ? n : N - place);
			for (size_t k = 0; k < got; k++) {
				assert_same_event(&part[k], &all[place + k]);
				if (part[k].number != all[place + k].number)
					ck_abort_msg("another number");
			}
		}
		rt_mark_free(mark);
	}
	ck_assert(!rt_trace_read(trace, part, N, &got, NULL));
	struct rt_mark *end = rt_trace_mark(trace);
	ck_assert(!rt_trace_return(trace, end, NULL) && !rt_trace_read(trace, part, 1, &got, NULL));
	ck_assert_uint_eq(got, 0);
	rt_mark_free(end);
	rt_trace_free(trace);
	free(part);
	free(all);
	free(events);
}
END_TEST

/* A file whose first chunk has right checksums and no columns: the trace ends there, however often it is read. */
START_TEST(a_mark_is_taken_where_a_chunk_is_no_chunk)
{
	size_t count, got;
	free(small_file(&count));
	uint8_t *data;
	size_t size = read_file(path, &data), at = RT_FILE_HEADER_BYTES;
	struct rt_block block;
	while (rt_block_get(data + at, &block) && block.kind != RT_BLOCK_CHUNK)
		at += RT_BLOCK_HEADER_BYTES + block.packed;
	ck_assert_uint_eq(block.kind, RT_BLOCK_CHUNK);
	size_t room = size - at - RT_BLOCK_HEADER_BYTES;
	block.raw = 1;
	block.packed = (uint32_t)ZSTD_compress(data + at + RT_BLOCK_HEADER_BYTES, room, "\xff", 1, 1);
	rt_block_put(data + at, &block);
	write_file(other, data, at + RT_BLOCK_HEADER_BYTES + block.packed);
	struct rt_trace *trace = open_trace(other);
	struct rt_event e;
	for (int i = 0; i < 3; i++) {
		ck_assert(!rt_trace_read(trace, &e, 1, &got, NULL));
		ck_assert_uint_eq(got, 0);
		struct rt_mark *mark = rt_trace_mark(trace);
		ck_assert(!rt_trace_return(trace, mark, NULL));
		rt_mark_free(mark);
	}
	ck_assert(!rt_trace_info(trace)->complete);
	rt_trace_free(trace);
	free(data);
}
END_TEST

/* Threads whose records come late are named by a number once, not with each thread that is declared before them. */
START_TEST(threads_that_come_in_the_wrong_order_take_no_more_room)
{
	enum { THREADS = 4000, EACH = 1000 };
	struct rt_writer *w = create(true);
	struct rt_error err = {0};
	for (uint32_t i = THREADS; i-- > 0;) {
		char name[32];
		struct rt_record r[] = {rt_record_ext(i + 1, 0), rt_record_make(RT_OP_BEGIN, 0, 0, 0, 0)};
		snprintf(name, sizeof name, "main.%u", i);
		ck_assert(!rt_writer_thread(w, i, name, 0, NULL, &err));
		ck_assert(!rt_writer_records(w, i, r, 2, &err) && !rt_writer_thread_end(w, i, &err));
	}
	struct rt_writer_result result = {0};
	ck_assert_msg(!rt_writer_finish(w, &result, &err), "%s", err.message);
	ck_assert_uint_lt(result.bytes, THREADS * EACH);
	struct rt_trace *trace = open_trace(path);
	const struct rt_trace_info *info = rt_trace_info(trace);
	ck_assert_uint_eq(info->thread_count, THREADS);
	for (uint32_t i = 0; i < THREADS; i++) {
		char name[32];
		snprintf(name, sizeof name, "main.%u", i);
		ck_assert_str_eq(info->threads[i].name, name);
	}
	rt_trace_free(trace);
}
END_TEST

SUITE(file)
{
	Suite *s = suite_create("file");
	TCase *c = tcase_create("trace.zst");
	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_loop_test(c, events_read_back_as_written, 0, 2);
	tcase_add_test(c, zstd_finds_the_file_in_order);
	tcase_add_test(c, events_that_are_not_selected_keep_their_places);
	tcase_add_test(c, threads_are_merged_run_by_run_by_their_stamps);
	tcase_add_test(c, a_trace_without_events_is_whole);
	tcase_add_test(c, an_order_may_turn_out_not_to_be_exact);
	tcase_add_loop_test(c, what_is_known_of_all_memory_reads_back, 0, 32);
	tcase_add_test(c, symbols_name_positions_members_and_objects);
	tcase_add_test(c, a_thousand_threads_at_once_read_back);
	tcase_add_test(c, ten_thousand_threads_in_turn_read_back);
	tcase_add_test(c, each_pc_is_handed_out_once_in_rising_order);
	tcase_add_test(c, reading_returns_to_a_mark);
	tcase_add_test(c, a_mark_is_taken_where_a_chunk_is_no_chunk);
	tcase_add_test(c, threads_that_come_in_the_wrong_order_take_no_more_room);
	suite_add_tcase(s, c);
	return s;
}
