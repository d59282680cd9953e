/* trace.zst: cut or damaged it reads as far as it goes and says so; what cannot be written is an error. */
#include "tests/unit/suite.h"
#include "tests/unit/trace_file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

START_TEST(cut_at_any_byte_it_reads_up_to_the_cut_and_says_so)
{
	size_t count, most = 0;
	struct rt_event *events = small_file(&count);
	uint8_t *data;
	size_t size = read_file(path, &data);
	for (size_t cut = 0; cut < size; cut++) {
		struct rt_trace *trace;
		struct rt_error err = {0};
		write_file(other, data, cut);
		enum rt_status status = rt_trace_open(other, &trace, &err);
		if (cut < RT_FILE_HEADER_BYTES) {
			ck_assert_int_eq(status, RT_EINPUT);
			ck_assert(strstr(err.message, other));
			continue;
		}
		ck_assert_msg(!status, "%zu: %s", cut, err.message);
		ck_assert(!rt_trace_info(trace)->complete);
		ck_assert(strstr(rt_trace_info(trace)->incomplete_why, "cut short"));
		size_t n;
		struct rt_event *back = read_all(trace, 7, &n);
		ck_assert_uint_eq(n, rt_trace_info(trace)->events);
		ck_assert_uint_ge(n, most); /* a longer piece has no less */
		most = n;
		for (size_t i = 0; i < n; i++)
			assert_same_event(&back[i], &events[back[i].stamp - 1]);
		free(back);
		rt_trace_free(trace);
	}
	ck_assert_uint_eq(most, count);
	free(data);
	free(events);
}
END_TEST

START_TEST(no_damaged_byte_makes_up_events)
{
	size_t count;
	struct rt_event *events = small_file(&count);
	uint8_t *data;
	size_t size = read_file(path, &data), found = 0;
	for (size_t at = 0; at < size; at++) {
		struct rt_trace *trace;
		struct rt_error err = {0};
		data[at] ^= 0x41;
		write_file(other, data, size);
		data[at] ^= 0x41;
		if (rt_trace_open(other, &trace, &err)) {
			ck_assert_uint_lt(at, RT_FILE_HEADER_BYTES);
			continue;
		}
		size_t n, frames;
		struct rt_event *back = read_all(trace, 64, &n);
		rt_trace_frames(trace, 0x400000, &frames);
		ck_assert_uint_le(n, count);
		for (size_t i = 0; i < n; i++)
			if (back[i].op < RT_OP_COUNT)
				assert_same_event(&back[i], &events[back[i].stamp - 1]);
		bool damaged =
		    !rt_trace_info(trace)->complete && strcmp(rt_trace_info(trace)->incomplete_why, RT_LOST_WHY) != 0;
		ck_assert(n == count || damaged);
		found += damaged;
		free(back);
		rt_trace_free(trace);
	}
	ck_assert_uint_gt(found, size / 2);
	free(data);
	free(events);
}
END_TEST

START_TEST(a_newer_major_version_is_refused_by_name)
{
	size_t count;
	free(small_file(&count));
	uint8_t *data;
	size_t size = read_file(path, &data);
	data[24] = RT_FILE_MAJOR + 1;
	write_file(other, data, size);
	struct rt_trace *trace;
	struct rt_error err = {0};
	ck_assert_int_eq(rt_trace_open(other, &trace, &err), RT_EINPUT);
	char version[32];
	snprintf(version, sizeof version, "version %d.%d", RT_FILE_MAJOR + 1, RT_FILE_MINOR);
	ck_assert(strstr(err.message, other) && strstr(err.message, version));
	data[24] = RT_FILE_MAJOR;
	data[28] = RT_FILE_MINOR + 1; /* a newer minor one is read */
	write_file(other, data, size);
	trace = open_trace(other);
	const char *why = rt_trace_info(trace)->incomplete_why;
	struct rt_trace *older = open_trace(path);
	ck_assert_uint_eq(rt_trace_info(trace)->events, count);
	ck_assert_pstr_eq(why, rt_trace_info(older)->incomplete_why);
	rt_trace_free(older);
	rt_trace_free(trace);
	free(data);
}
END_TEST

/* The flags of a file's only event, if it were of this minor version. */
static unsigned flags_in_version(unsigned op, unsigned minor)
{
	struct rt_record record = rt_record_make(op, 1, 0x400000, 0, 0);
	struct rt_writer *w = create(true);
	ck_assert(!rt_writer_thread(w, 0, "main", 0, NULL, NULL));
	ck_assert(!rt_writer_thread(w, 1, "main.1", 0, NULL, NULL));
	ck_assert(!rt_writer_records(w, 0, &record, 1, NULL));
	finish(w);
	uint8_t *data;
	size_t size = read_file(path, &data), n;
	data[28] = (uint8_t)minor;
	write_file(other, data, size);
	free(data);
	struct rt_trace *trace = open_trace(other);
	struct rt_event *events = read_all(trace, 4, &n);
	ck_assert_uint_eq(n, 1);
	unsigned flags = events[0].flags;
	free(events);
	rt_trace_free(trace);
	return flags;
}

START_TEST(a_join_of_an_older_version_may_be_one_that_gives_up)
{
	ck_assert_uint_eq(flags_in_version(RT_OP_JOIN, RT_FILE_MINOR_JOINS), 0);
	ck_assert_uint_eq(flags_in_version(RT_OP_JOIN, RT_FILE_MINOR_JOINS - 1), RT_F_TIMED);
}
END_TEST

START_TEST(in_an_older_version_another_process_may_post_any_semaphore)
{
	ck_assert_uint_eq(flags_in_version(RT_OP_SEM_WAIT, RT_FILE_MINOR_POSTS), 0);
	ck_assert_uint_eq(flags_in_version(RT_OP_SEM_WAIT, RT_FILE_MINOR_POSTS - 1), RT_F_TIMED);
}
END_TEST

/* Writes records that hardly compress to a file of at most `size` bytes, until that fails. */
static void fill(struct rt_writer *w, rlim_t size, struct rt_error *err)
{
	struct rlimit limit;
	uint64_t seed = 6;
	enum rt_status status = RT_OK;
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = size;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	signal(SIGXFSZ, SIG_IGN);
	for (unsigned i = 0; i < 4 * RT_CHUNK_RECORDS && !status; i++) {
		struct rt_record r = rt_record_make(RT_OP_READ, next_random(&seed), 1, 4, 0);
		status = rt_writer_records(w, 0, &r, 1, err);
	}
	ck_assert_int_eq(status, RT_ESYSTEM);
}

START_TEST(a_failed_write_is_reported_and_leaves_nothing)
{
	struct rt_writer *w = create(false);
	struct rt_error err = {0};
	fill(w, 4096, &err);
	ck_assert(strstr(err.message, path));
	struct rt_writer_result result = {0};
	ck_assert_int_eq(rt_writer_finish(w, &result, &err), RT_ESYSTEM);
	ck_assert_int_eq(access(path, F_OK), -1); /* nor is there a part file: teardown sees to that */
}
END_TEST

START_TEST(a_recording_that_cannot_be_written_further_keeps_what_is_whole)
{
	struct rt_writer_options options = {.recording = true};
	struct rt_writer *w;
	struct rt_error err = {0};
	ck_assert(!rt_writer_create(path, &options, &w, NULL));
	ck_assert(!rt_writer_thread(w, 0, "main", 0, NULL, NULL));
	fill(w, 5 << 20, &err);
	ck_assert(strstr(err.message, "; what was written before stays there"));
	struct rt_trace *trace = open_trace(path);
	ck_assert(!rt_trace_info(trace)->complete);
	ck_assert_uint_gt(rt_trace_info(trace)->threads[0].events, 0);
	rt_trace_free(trace);
	rt_writer_abort(w);
	ck_assert_int_eq(access(path, R_OK), 0);
}
END_TEST

START_TEST(an_unwritable_place_is_named)
{
	struct rt_writer_options options = {0};
	struct rt_writer *w;
	struct rt_error err = {0};
	ck_assert_int_eq(rt_writer_create("/nowhere/at/all", &options, &w, &err), RT_ESYSTEM);
	ck_assert_str_eq(err.message, "cannot write '/nowhere/at/all': No such file or directory");
	ck_assert_int_eq(rt_writer_create(folder, &options, &w, &err), RT_EUSAGE);
	ck_assert(strstr(err.message, "it is not a regular file"));
}
END_TEST

START_TEST(a_killed_writer_leaves_no_thread_far_behind)
{
	enum { RECORDS = 20 * RT_CHUNK_RECORDS, AT_ONCE = 4096 };
	static struct rt_record many[AT_ONCE];
	struct rt_writer_options options = {.recording = true};
	struct rt_writer *w;
	ck_assert(!rt_writer_create(path, &options, &w, NULL));
	ck_assert(!rt_writer_thread(w, 0, "main", 0, NULL, NULL) && !rt_writer_thread(w, 1, "main.1", 0, NULL, NULL));
	put(w, 0, 1, 42);
	for (size_t i = 0; i < AT_ONCE; i++)
		many[i] = rt_record_make(RT_OP_READ, i * 8, 1, 4, 0);
	for (size_t i = 0; i < RECORDS; i += AT_ONCE)
		ck_assert(!rt_writer_records(w, 1, many, AT_ONCE, NULL));
	char part[80];
	snprintf(part, sizeof part, "%s.part", path);
	struct rt_trace *trace = open_trace(part);
	ck_assert(!rt_trace_info(trace)->complete);
	ck_assert_uint_eq(rt_trace_info(trace)->threads[0].events, 1);
	ck_assert_uint_ge(rt_trace_info(trace)->threads[1].events, RECORDS - 2 * RT_CHUNK_RECORDS);
	rt_trace_free(trace);
	rt_writer_abort(w);
}
END_TEST

START_TEST(a_flushed_writer_leaves_all_and_its_modules)
{
	struct rt_writer_options options = {.recording = true};
	const struct rt_loaded modules[] = {{0x1000, 0x3000, "/app", "00ff"}, {0x8000, 0x9000, "/lib.so", NULL}};
	struct rt_writer *w;
	char part[80];
	size_t n;
	ck_assert(!rt_writer_create(path, &options, &w, NULL));
	for (uint32_t i = 0; i < 3; i++) {
		put(w, i, i + 1, 42);
		if (i < 2)
			ck_assert(!rt_writer_loaded(w, &modules[i], NULL));
		ck_assert(!rt_writer_flush(w, NULL) && !rt_writer_flush(w, NULL));
		put(w, 0, 10 + i, 43);
	}
	snprintf(part, sizeof part, "%s.part", path);
	struct rt_trace *trace = open_trace(part);
	ck_assert(!rt_trace_info(trace)->complete);
	ck_assert_uint_eq(rt_trace_info(trace)->events, 5); /* the last one is not flushed */
	const struct rt_loaded *back = rt_trace_loaded(trace, &n);
	ck_assert_uint_eq(n, 2);
	for (size_t i = 0; i < n; i++) {
		ck_assert_str_eq(back[i].path, modules[i].path);
		ck_assert(back[i].start == modules[i].start && back[i].end == modules[i].end);
	}
	ck_assert_str_eq(back[0].build_id, "00ff");
	ck_assert_ptr_null(back[1].build_id);
	/* What is resolved later is as if it had been written. */
	struct rt_writer *symbols;
	struct rt_frame frame = {.function = "f", .file = "f.c", .line = 7, .pc = 1};
	ck_assert(!rt_writer_create(NULL, &options, &symbols, NULL));
	ck_assert(!rt_writer_position(symbols, 1, &frame, 1, NULL) && !rt_writer_symbols(symbols, trace, NULL));
	rt_writer_abort(symbols);
	const struct rt_frame *found = rt_trace_frames(trace, 1, &n);
	ck_assert_uint_eq(n, 1);
	ck_assert_uint_eq(found->line, 7);
	rt_trace_loaded(trace, &n);
	ck_assert_uint_eq(n, 0);
	rt_trace_free(trace);
	/* A whole trace has its own positions. */
	struct rt_writer_result result = {0};
	ck_assert(!rt_writer_finish(w, &result, NULL));
	trace = open_trace(path);
	ck_assert(rt_trace_info(trace)->complete && rt_trace_info(trace)->events == 6);
	rt_trace_loaded(trace, &n);
	ck_assert_uint_eq(n, 0);
	rt_trace_free(trace);
}
END_TEST

SUITE(damage)
{
	Suite *s = suite_create("damage");
	TCase *c = tcase_create("trace.zst");
	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, cut_at_any_byte_it_reads_up_to_the_cut_and_says_so);
	tcase_add_test(c, no_damaged_byte_makes_up_events);
	tcase_add_test(c, a_newer_major_version_is_refused_by_name);
	tcase_add_test(c, a_join_of_an_older_version_may_be_one_that_gives_up);
	tcase_add_test(c, in_an_older_version_another_process_may_post_any_semaphore);
	tcase_add_test(c, a_failed_write_is_reported_and_leaves_nothing);
	tcase_add_test(c, a_recording_that_cannot_be_written_further_keeps_what_is_whole);
	tcase_add_test(c, an_unwritable_place_is_named);
	tcase_add_test(c, a_killed_writer_leaves_no_thread_far_behind);
	tcase_add_test(c, a_flushed_writer_leaves_all_and_its_modules);
	suite_add_tcase(s, c);
	return s;
}
