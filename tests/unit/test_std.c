#include "tests/unit/scratch.h"
#include "tests/unit/suite.h"
#include "tracefmt/export.h"

enum { ROOM = 64 };

/* The trace as STD text, to be freed. */
static char *export_std(struct rt_trace *trace, struct rt_std_losses *losses)
{
	char *text;
	size_t size;
	struct rt_error err = {0};
	FILE *out = open_memstream(&text, &size);
	ck_assert_msg(!rt_export_std(trace, NULL, out, losses, &err), "%s", err.message);
	fclose(out);
	return text;
}

static void exports_as(const char *input, const char *expected)
{
	struct rt_trace *trace = scratch_trace(input);
	struct rt_std_losses losses;
	char *text = export_std(trace, &losses);
	ck_assert_str_eq(text, expected);
	free(text);
	rt_trace_free(trace);
}

START_TEST(an_event_says_what_its_line_says)
{
	struct rt_trace *trace = scratch_trace("T1|w(x)|12\nT1|fork(T2)|a.c:7\nT2|acq(L)|run|\nT2|r(x)|12|-5\n");
	struct rt_event e[ROOM];
	struct rt_variable v;
	size_t n;
	ck_assert_uint_eq(scratch_events(trace, e, ROOM), 4);
	ck_assert_uint_eq(e[0].op, RT_OP_WRITE);
	ck_assert_uint_eq(e[0].arg, 8);
	ck_assert(!(e[0].flags & RT_F_VALUE));
	ck_assert(rt_trace_variable(trace, e[0].addr, &v));
	ck_assert_str_eq(v.name, "x");
	ck_assert_uint_eq(v.address, e[0].addr);
	ck_assert_uint_eq(e[1].op, RT_OP_FORK);
	ck_assert_uint_eq(e[1].addr, e[2].thread);
	ck_assert_uint_eq(e[2].op, RT_OP_ACQUIRE);
	ck_assert_str_eq(rt_trace_object_name(trace, e[2].addr), "L");
	ck_assert_uint_eq(e[3].addr, e[0].addr);
	ck_assert_uint_eq(e[3].pc, e[0].pc);
	ck_assert(e[3].flags & RT_F_VALUE);
	ck_assert_int_eq((int64_t)e[3].value, -5);
	ck_assert_uint_eq(e[3].ordinal, 2);
	const struct rt_frame *f = rt_trace_frames(trace, e[0].pc, &n);
	ck_assert_uint_eq(n, 1);
	ck_assert_uint_eq(f->line, 12);
	ck_assert_str_eq(f->text, "12");
	f = rt_trace_frames(trace, e[1].pc, &n);
	ck_assert_str_eq(f->file, "a.c");
	ck_assert_uint_eq(f->line, 7);
	f = rt_trace_frames(trace, e[2].pc, &n);
	ck_assert_str_eq(f->function, "run");
	rt_trace_free(trace);
}
END_TEST

START_TEST(numbers_are_lines_also_where_lines_are_ignored)
{
	struct rt_trace *trace = scratch_trace("# a comment\n\nT1|branch|1\r\nT1|w(x)|2\r\nT2|dummy|3\nT1|r(x)|4");
	struct rt_event e[ROOM];
	ck_assert_uint_eq(scratch_events(trace, e, ROOM), 2);
	ck_assert_uint_eq(e[0].number, 4);
	ck_assert_uint_eq(e[1].number, 6);
	ck_assert_uint_eq(e[1].ordinal, 2);
	ck_assert_uint_eq(rt_trace_info(trace)->thread_count, 1);
	rt_trace_free(trace);
}
END_TEST

START_TEST(only_the_outermost_acquire_and_release_are_events)
{
	struct rt_trace *trace =
	    scratch_trace("T1|acq(L)|1\nT1|acq(L)|2\nT1|rel(L)|3\nT1|w(x)|4\nT1|rel(L)|5\nT2|acq(L)|6\n");
	struct rt_event e[ROOM];
	ck_assert_uint_eq(scratch_events(trace, e, ROOM), 4);
	ck_assert_uint_eq(e[0].number, 1);
	ck_assert_uint_eq(e[1].number, 4);
	ck_assert_uint_eq(e[2].number, 5);
	rt_trace_free(trace);
}
END_TEST

START_TEST(threads_are_numbered_as_they_are_met_and_born_by_fork)
{
	struct rt_trace *trace = scratch_trace("main|fork(B)|1\nmain|fork(A)|2\nA|w(x)|3\nC|w(x)|4\nmain|join(A)|5\n");
	const struct rt_trace_info *info = rt_trace_info(trace);
	static const char *const names[] = {"main", "B", "A", "C"};
	static const uint32_t parents[] = {0, 0, 0, 3};
	ck_assert_uint_eq(info->thread_count, 4);
	for (size_t i = 0; i < 4; i++) {
		ck_assert_str_eq(info->threads[i].name, names[i]);
		ck_assert_uint_eq(info->threads[i].parent, parents[i]);
	}
	ck_assert_uint_eq(info->threads[0].events, 3);
	ck_assert_uint_eq(info->threads[1].events, 0);
	ck_assert(info->exact && info->complete);
	ck_assert_int_eq(info->model, RT_MODEL_SC);
	rt_trace_free(trace);
}
END_TEST

START_TEST(a_variable_and_a_lock_of_one_name_are_two_things)
{
	struct rt_trace *trace = scratch_trace("T|acq(a)|1\nT|w(a)|2\nT|w(b)|2\nT|begin(a)|3\nT|begin|4\n");
	struct rt_event e[ROOM];
	ck_assert_uint_eq(scratch_events(trace, e, ROOM), 5);
	ck_assert_uint_ne(e[0].addr, e[1].addr);
	ck_assert_uint_ge(e[2].addr - e[1].addr, 8);
	ck_assert_uint_eq(e[1].addr % 8, 0);
	ck_assert_str_eq(rt_trace_object_name(trace, e[3].addr), "a");
	ck_assert_uint_eq(e[4].addr, 0);
	rt_trace_free(trace);
}
END_TEST

START_TEST(an_empty_location_is_no_position)
{
	struct rt_trace *trace = scratch_trace("T|w(a)|\nT|w(a)|0\nT|w(a)|007\n");
	struct rt_event e[ROOM];
	size_t n;
	ck_assert_uint_eq(scratch_events(trace, e, ROOM), 3);
	ck_assert_ptr_null(rt_trace_frames(trace, e[0].pc, &n));
	ck_assert_uint_eq(n, 0);
	ck_assert_str_eq(rt_trace_frames(trace, e[1].pc, &n)->text, "0");
	ck_assert_str_eq(rt_trace_frames(trace, e[2].pc, &n)->text, "007");
	ck_assert_uint_eq(rt_trace_frames(trace, e[2].pc, &n)->line, 7);
	rt_trace_free(trace);
}
END_TEST

START_TEST(selection_leaves_numbers_and_ordinals_alone)
{
	struct rt_trace *trace = scratch_trace("T|acq(L)|1\nT|w(a)|2\nT|rel(L)|3\nT|r(a)|4\n");
	struct rt_event e[ROOM];
	rt_trace_select(trace, UINT64_C(1) << RT_OP_READ);
	ck_assert_uint_eq(scratch_events(trace, e, ROOM), 1);
	ck_assert_uint_eq(e[0].number, 4);
	ck_assert_uint_eq(e[0].ordinal, 4);
	rt_trace_free(trace);
}
END_TEST

static const struct rt_trace_options strictly = {.strict = true};

START_TEST(a_cut_trace_may_begin_inside_a_critical_section)
{
	struct rt_trace *trace = scratch_trace("T|w(a)|1\nT|rel(L)|2\nT|acq(L)|3\nT|rel(L)|4\n");
	struct rt_event e[ROOM];
	ck_assert_uint_eq(scratch_events(trace, e, ROOM), 4);
	rt_trace_free(trace);
	scratch_refused_as("T|acq(L)|1\nT|rel(L)|2\nT|rel(L)|3\n", &strictly,
	                   "line 3: 'T' releases lock 'L', which it does not hold");
}
END_TEST

static const struct {
	const char *text, *message;
} wrong[] = {
    {"hello\n", "line 1: 'hello' is not an STD event"},
    {"T1|w(x)\n", "line 1: 'T1|w(x)' has no location"},
    {"T1|w(x)|1\n\nT1|foo(L)|2\n", "line 3: 'foo(L)' is not an STD operation"},
    {"T1|r|1\n", "says not on what"},
    {"T1|r()|1\n", "says not on what"},
    {"T1|r(x|1\n", "no closing parenthesis"},
    {"|r(x)|1\n", "the thread has no name"},
    {"T|r(x)|1|2|3\n", "more than 4 fields"},
    {"T|r(x)|1|abc\n", "the value 'abc' is not a number"},
    {"T|r(x)|1|99999999999999999999\n", "not a number of 64 bits"},
    {"A|acq(L)|1\nB|acq(L)|2\n", "line 2: 'B' cannot acquire lock 'L': 'A' holds it since line 1"},
    {"A|fork(B)|1\nA|join(B)|2\nB|r(x)|3\n", "line 3: thread 'B' goes on after line 2 joined it"},
    {"A|fork(A)|1\n", "thread 'A' forks itself"},
    {"A|join(A)|1\n", "thread 'A' joins itself"},
    {"# nothing\n", "has no event"},
    {"T\x1b[31m|x|1\n", "'x' is not an STD operation"},
    {"T|\x1b[31m(y)|1\n", "'\\x1b[31m(y)' is not an STD operation"},
};

START_TEST(what_is_wrong_is_refused_with_its_line)
{
	scratch_refused(wrong[_i].text, wrong[_i].message);
	scratch_refused_as(wrong[_i].text, &strictly, wrong[_i].message);
}
END_TEST

/* The warning's kind, line and text; what --strict says. */
static const struct {
	const char *text, *kind;
	uint64_t line, count;
	const char *warning, *refusal;
} doubtful[] = {
    {"A|acq(L)|1\nB|rel(L)|2\nA|rel(L)|3\n", "stray-release", 2, 1, "'B' releases lock 'L', which it does not hold",
     "line 2: 'B' cannot release lock 'L': 'A' holds it since line 1"},
    {"A|acq(L)|1\nB|rel(L)|2\nC|acq(L)|3\nA|rel(L)|4\nC|rel(L)|5\n", "stray-release", 2, 2,
     "'B' releases lock 'L', which it does not hold", "line 2: 'B' cannot release lock 'L'"},
    {"B|r(x)|1\nA|fork(B)|2\n", "forked-again", 2, 1, "thread 'B' is forked after it acted, in line 1",
     "line 2: thread 'B' is forked after it acted, in line 1"},
    {"A|fork(B)|1\nA|fork(B)|2\nB|r(x)|3\nC|fork(B)|4\n", "forked-again", 2, 2,
     "thread 'B' is forked a second time, after line 1", "line 2: thread 'B' is forked a second time, after line 1"},
    {"A|fork(B)|1\nB|r(x)|2\nA|join(B)|3\nA|fork(B)|4\nB|r(x)|5\nA|join(B)|6\n", "forked-again", 4, 1,
     "thread 'B' is forked a second time, after line 1", "line 4: thread 'B' is forked a second time, after line 1"},
};

START_TEST(what_public_traces_contain_is_a_warning_unless_strict)
{
	struct rt_trace *trace = scratch_trace(doubtful[_i].text);
	const struct rt_trace_info *info = rt_trace_info(trace);
	ck_assert_uint_eq(info->warning_count, 1);
	ck_assert_str_eq(info->warnings->kind, doubtful[_i].kind);
	ck_assert_uint_eq(info->warnings->line, doubtful[_i].line);
	ck_assert_uint_eq(info->warnings->count, doubtful[_i].count);
	ck_assert_msg(strstr(info->warnings->text, doubtful[_i].warning) != NULL, "%s", info->warnings->text);
	rt_trace_free(trace);
	scratch_refused_as(doubtful[_i].text, &strictly, doubtful[_i].refusal);
}
END_TEST

START_TEST(a_number_is_the_thread_that_has_it)
{
	static const char *const texts[] = {
	    "T1|fork(7)|1\nT7|r(x)|2\nT1|join(7)|3\n", "main|fork(7)|1\nT7|r(x)|2\nmain|join(7)|3\n",
	    "main|fork(7)|1\nT7|r(x)|2\nmain|join(T7)|3\n", "main|fork(T7)|1\nT7|r(x)|2\nmain|join(7)|3\n"};
	struct rt_trace *trace = scratch_trace(texts[_i]);
	struct rt_event e[ROOM];
	ck_assert_uint_eq(scratch_events(trace, e, ROOM), 3);
	ck_assert_uint_eq(rt_trace_info(trace)->thread_count, _i == 2 ? 3 : 2);
	ck_assert_uint_eq(e[0].addr, e[1].thread);
	if (_i != 2)
		ck_assert_uint_eq(e[2].addr, e[1].thread);
	rt_trace_free(trace);
}
END_TEST

START_TEST(a_number_that_is_a_threads_name_is_that_thread)
{
	struct rt_trace *trace = scratch_trace("0|fork(7)|1\n7|r(x)|2\nT7|r(x)|3\n0|join(7)|4\n");
	struct rt_event e[ROOM];
	ck_assert_uint_eq(scratch_events(trace, e, ROOM), 4);
	ck_assert_uint_eq(e[0].addr, e[1].thread);
	ck_assert_uint_ne(e[1].thread, e[2].thread);
	rt_trace_free(trace);
	scratch_refused_as("T1|fork(7)|1\nT7|r(x)|2\nT1|join(T1)|3\n", &strictly, "joins itself");
}
END_TEST

START_TEST(blank_lines_and_windows_ends_are_skipped)
{
	struct rt_trace *trace = scratch_trace("\xef\xbb\xbfT|w(x)|1\r\n \t\r\n\r\nT|r(x)|2  \r\nT|branch|\r\n");
	struct rt_event e[ROOM];
	size_t n;
	ck_assert_uint_eq(scratch_events(trace, e, ROOM), 2);
	ck_assert_uint_eq(e[1].number, 4);
	ck_assert_str_eq(rt_trace_frames(trace, e[1].pc, &n)->text, "2");
	ck_assert_str_eq(rt_trace_info(trace)->threads[0].name, "T");
	rt_trace_free(trace);
}
END_TEST

START_TEST(unknown_operations_are_left_out_when_asked)
{
	static const struct rt_trace_options skip = {.skip_unknown = true};
	static const char text[] = "T|enter(f|1\nT|w(x)|2\nT|notify(c)|3\n";
	struct rt_trace *trace;
	struct rt_error err;
	struct rt_event e[ROOM];
	ck_assert_int_eq(scratch_open_as(text, strlen(text), &skip, &trace, &err), RT_OK);
	ck_assert_uint_eq(scratch_events(trace, e, ROOM), 1);
	ck_assert_str_eq(rt_trace_info(trace)->warnings->kind, "unknown-operation");
	ck_assert_uint_eq(rt_trace_info(trace)->warnings->count, 2);
	rt_trace_free(trace);
	scratch_refused("T|w(x)|2\nT|notify(c)|3\n", "--skip-unknown");
}
END_TEST

START_TEST(a_line_without_end_is_refused_in_bounded_memory)
{
	size_t size = 4 << 20;
	char *text = malloc(size);
	struct rt_trace *trace;
	struct rt_error err;
	memset(text, 'x', size);
	ck_assert_int_eq(scratch_open(text, size, &trace, &err), RT_EINPUT);
	ck_assert_msg(strstr(err.message, "is longer than") != NULL, "%s", err.message);
	free(text);
}
END_TEST

START_TEST(a_nul_byte_behind_the_beginning_is_refused)
{
	size_t size = 20000;
	char *text = malloc(size);
	struct rt_trace *trace;
	struct rt_error err;
	for (size_t i = 0; i + 9 < size; i += 9)
		memcpy(text + i, "T|w(a)|1\n", 9);
	memcpy(text + 9 * 2000, "T|w(\0)|1\n", 9);
	ck_assert_int_eq(scratch_open(text, 9 * 2001, &trace, &err), RT_EINPUT);
	ck_assert_msg(strstr(err.message, "line 2001") && strstr(err.message, "NUL"), "%s", err.message);
	free(text);
}
END_TEST

START_TEST(many_names_stay_apart)
{
	enum { NAMES = 5000 };
	char *text = malloc(NAMES * 32), *at = text;
	struct rt_event *e = calloc(NAMES, sizeof *e);
	struct rt_variable v;
	for (unsigned i = 0; i < NAMES; i++)
		at += sprintf(at, "T%u|w(v%u)|f%u\n", i % 700, i, i % 3000);
	struct rt_trace *trace = scratch_trace(text);
	ck_assert_uint_eq(scratch_events(trace, e, NAMES), NAMES);
	for (unsigned i = 0; i < NAMES; i++) {
		char name[32];
		size_t n;
		snprintf(name, sizeof name, "v%u", i);
		ck_assert(rt_trace_variable(trace, e[i].addr, &v));
		ck_assert_str_eq(v.name, name);
		snprintf(name, sizeof name, "f%u", i % 3000);
		ck_assert_str_eq(rt_trace_frames(trace, e[i].pc, &n)->text, name);
		ck_assert_uint_eq(e[i].thread, i % 700);
	}
	rt_trace_free(trace);
	free(text);
	free(e);
}
END_TEST

/* --- export --- */

START_TEST(std_exports_as_itself)
{
	static const char text[] = "T1|begin(tx)|1\nT1|acq(L)|f.c:3:4\nT1|w(x)|2|7\nT1|rel(L)|\nT1|fork(T 2)|5\n"
	                           "T 2|begin|6\nT 2|r(a(b))|6|-1\nT 2|end|7\nT1|join(T 2)|0\nT1|end(tx)|x\n";
	exports_as(text, text);
}
END_TEST

#define HEADER "{\"schema\":\"racetrace.events/1\"}\n"

START_TEST(an_access_is_one_line_for_each_cell)
{
	exports_as(HEADER "{\"op\":\"write\",\"object\":\"0x1000\",\"arg\":8}\n"
	                  "{\"op\":\"read\",\"object\":\"0x1004\",\"arg\":4,\"value\":1}\n"
	                  "{\"op\":\"read\",\"object\":\"0x1000\",\"arg\":8,\"value\":1}\n",
	           "main|w(V1)|\nmain|w(V2)|\nmain|r(V2)||1\nmain|r(V1)||1\nmain|r(V2)|\n");
}
END_TEST

START_TEST(a_value_of_0_stays_only_where_memory_began_so)
{
	const char *events = "{\"op\":\"write\",\"object\":\"x\",\"value\":0}\n"
	                     "{\"op\":\"read\",\"object\":\"x\",\"value\":3}\n";
	char text[512];
	snprintf(text, sizeof text, HEADER "%s", events);
	exports_as(text, "main|w(x)|\nmain|r(x)||3\n");
	snprintf(text, sizeof text, "{\"schema\":\"racetrace.events/1\",\"zeroed\":true}\n%s", events);
	exports_as(text, "main|w(x)||0\nmain|r(x)||3\n");
	/* A read says what it began with, unless another order of allocations would have it begin as something else. */
	const char *read = "{\"op\":\"read\",\"object\":\"0x1000\",\"value\":0}\n"
	                   "{\"op\":\"write\",\"object\":\"0x1000\",\"value\":0}\n"
	                   "{\"op\":\"write\",\"object\":\"0x1000\",\"value\":4}\n";
	snprintf(text, sizeof text, HEADER "%s", read);
	exports_as(text, "main|r(V1)||0\nmain|w(V1)||0\nmain|w(V1)||4\n");
	snprintf(text, sizeof text, HEADER "{\"op\":\"alloc\",\"object\":\"0x1000\",\"arg\":8}\n%s", read);
	exports_as(text, "main|r(V1)|\nmain|w(V1)|\nmain|w(V1)||4\n");
	snprintf(text, sizeof text, HEADER "%s", strchr(read, '\n') + 1);
	exports_as(text, "main|w(V1)|\nmain|w(V1)||4\n");
}
END_TEST

START_TEST(an_access_of_more_than_8_bytes_has_no_value)
{
	exports_as(HEADER "{\"op\":\"write\",\"object\":\"0x1008\",\"arg\":8}\n"
	                  "{\"op\":\"read\",\"object\":\"0x1000\",\"arg\":16,\"value\":5}\n",
	           "main|w(V1)|\nmain|r(V2)|\nmain|r(V1)|\n");
}
END_TEST

START_TEST(memory_that_is_allocated_again_is_another_cell)
{
	exports_as(HEADER "{\"op\":\"alloc\",\"object\":\"0x1000\",\"arg\":16}\n"
	                  "{\"op\":\"write\",\"object\":\"0x1000\"}\n{\"op\":\"write\",\"object\":\"0x1010\"}\n"
	                  "{\"op\":\"alloc\",\"object\":\"0x1000\",\"arg\":16}\n"
	                  "{\"op\":\"write\",\"object\":\"0x1000\"}\n{\"op\":\"write\",\"object\":\"0x1010\"}\n",
	           "main|w(V1)|\nmain|w(V2)|\nmain|w(V3)|\nmain|w(V2)|\n");
}
END_TEST

START_TEST(readers_exclude_writers_but_not_each_other)
{
	exports_as(HEADER "{\"op\":\"acquire-shared\",\"object\":\"L\",\"thread\":\"A\"}\n"
	                  "{\"op\":\"acquire-shared\",\"object\":\"L\",\"thread\":\"B\"}\n"
	                  "{\"op\":\"release\",\"object\":\"L\",\"thread\":\"A\"}\n"
	                  "{\"op\":\"release\",\"object\":\"L\",\"thread\":\"B\"}\n"
	                  "{\"op\":\"acquire\",\"object\":\"L\",\"thread\":\"A\"}\n"
	                  "{\"op\":\"release\",\"object\":\"L\",\"thread\":\"A\"}\n",
	           "A|acq(L:A)|\nB|acq(L:B)|\nA|rel(L:A)|\nB|rel(L:B)|\n"
	           "A|acq(L)|\nA|acq(L:A)|\nA|acq(L:B)|\nA|rel(L:B)|\nA|rel(L:A)|\nA|rel(L)|\n");
}
END_TEST

START_TEST(atomics_and_messages_become_critical_sections)
{
	exports_as(HEADER "{\"op\":\"atomic-store\",\"object\":\"f\",\"location\":\"a|b\"}\n"
	                  "{\"op\":\"atomic-rmw\",\"object\":\"f\"}\n"
	                  "{\"op\":\"sem-post\",\"object\":\"s\"}\n{\"op\":\"sem-wait\",\"object\":\"s\"}\n",
	           "main|acq(atomic:f)|a_b\nmain|w(f)|a_b\nmain|rel(atomic:f)|a_b\n"
	           "main|acq(atomic:f)|\nmain|r(f)|\nmain|w(f)|\nmain|rel(atomic:f)|\n"
	           "main|acq(s)|\nmain|r(order:s)|\nmain|w(order:s)|\nmain|rel(s)|\n"
	           "main|acq(s)|\nmain|r(order:s)|\nmain|rel(s)|\n");
}
END_TEST

START_TEST(a_wait_lets_the_mutex_go_and_takes_it_again)
{
	exports_as(HEADER "{\"op\":\"acquire\",\"object\":\"m\"}\n"
	                  "{\"op\":\"wait-begin\",\"object\":\"c\",\"arg\":\"m\"}\n"
	                  "{\"op\":\"wait-end\",\"object\":\"c\",\"arg\":\"m\",\"flags\":[\"timed\",\"timeout\"]}\n"
	                  "{\"op\":\"release\",\"object\":\"m\"}\n",
	           "main|acq(m)|\nmain|rel(m)|\nmain|acq(m)|\nmain|rel(m)|\n");
}
END_TEST

START_TEST(ignored_accesses_are_left_out)
{
	exports_as(HEADER "{\"op\":\"ignore-begin\",\"arg\":2}\n{\"op\":\"write\",\"object\":\"x\"}\n"
	                  "{\"op\":\"read\",\"object\":\"x\"}\n{\"op\":\"ignore-end\",\"arg\":2}\n"
	                  "{\"op\":\"write\",\"object\":\"x\"}\n",
	           "main|r(x)|\nmain|w(x)|\n");
}
END_TEST

START_TEST(names_that_std_cannot_have_are_mended_and_stay_apart)
{
	exports_as(HEADER "{\"op\":\"write\",\"object\":\"a|b\"}\n{\"op\":\"write\",\"object\":\"a(b\"}\n"
	                  "{\"op\":\"write\",\"object\":\"a\\nb\"}\n{\"op\":\"write\",\"object\":\"a|b\"}\n",
	           "main|w(a_b)|\nmain|w(a_b#2)|\nmain|w(a_b#3)|\nmain|w(a_b)|\n");
}
END_TEST

START_TEST(losses_are_counted_by_operation)
{
	struct rt_trace *trace = scratch_trace(HEADER "{\"op\":\"fence\"}\n{\"op\":\"atomic-load\",\"object\":\"x\"}\n"
	                                              "{\"op\":\"enter\"}\n{\"op\":\"enter\"}\n"
	                                              "{\"op\":\"atomic-rmw\",\"object\":\"x\",\"value\":3}\n");
	struct rt_std_losses losses;
	free(export_std(trace, &losses));
	ck_assert_uint_eq(losses.as_locks, 2);
	ck_assert_uint_eq(losses.left_out, 3);
	ck_assert_uint_eq(losses.values, 1);
	ck_assert_uint_eq(losses.ops[RT_OP_ENTER], 2);
	ck_assert_uint_eq(losses.ops[RT_OP_ATOMIC_LOAD], 1);
	rt_trace_free(trace);
}
END_TEST

SUITE(std)
{
	Suite *s = suite_create("std");
	TCase *c = tcase_create("reading");
	tcase_add_test(c, an_event_says_what_its_line_says);
	tcase_add_test(c, numbers_are_lines_also_where_lines_are_ignored);
	tcase_add_test(c, only_the_outermost_acquire_and_release_are_events);
	tcase_add_test(c, threads_are_numbered_as_they_are_met_and_born_by_fork);
	tcase_add_test(c, a_variable_and_a_lock_of_one_name_are_two_things);
	tcase_add_test(c, an_empty_location_is_no_position);
	tcase_add_test(c, selection_leaves_numbers_and_ordinals_alone);
	tcase_add_test(c, a_cut_trace_may_begin_inside_a_critical_section);
	tcase_add_loop_test(c, what_is_wrong_is_refused_with_its_line, 0, sizeof wrong / sizeof *wrong);
	tcase_add_loop_test(c, what_public_traces_contain_is_a_warning_unless_strict, 0,
	                    sizeof doubtful / sizeof *doubtful);
	tcase_add_loop_test(c, a_number_is_the_thread_that_has_it, 0, 4);
	tcase_add_test(c, a_number_that_is_a_threads_name_is_that_thread);
	tcase_add_test(c, blank_lines_and_windows_ends_are_skipped);
	tcase_add_test(c, unknown_operations_are_left_out_when_asked);
	tcase_add_test(c, a_line_without_end_is_refused_in_bounded_memory);
	tcase_add_test(c, a_nul_byte_behind_the_beginning_is_refused);
	tcase_add_test(c, many_names_stay_apart);
	suite_add_tcase(s, c);
	c = tcase_create("export");
	tcase_add_test(c, std_exports_as_itself);
	tcase_add_test(c, an_access_is_one_line_for_each_cell);
	tcase_add_test(c, a_value_of_0_stays_only_where_memory_began_so);
	tcase_add_test(c, an_access_of_more_than_8_bytes_has_no_value);
	tcase_add_test(c, memory_that_is_allocated_again_is_another_cell);
	tcase_add_test(c, readers_exclude_writers_but_not_each_other);
	tcase_add_test(c, atomics_and_messages_become_critical_sections);
	tcase_add_test(c, a_wait_lets_the_mutex_go_and_takes_it_again);
	tcase_add_test(c, ignored_accesses_are_left_out);
	tcase_add_test(c, names_that_std_cannot_have_are_mended_and_stay_apart);
	tcase_add_test(c, losses_are_counted_by_operation);
	suite_add_tcase(s, c);
	return s;
}
