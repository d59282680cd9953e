/* JSON lines: what is written by hand reads as meant; what is exported and read back is the same in every field. */
#include "tests/unit/scratch.h"
#include "tests/unit/suite.h"
#include "tracefmt/export.h"
#include "tracefmt/source.h"

enum { ROOM = 256 };
#define HEADER "{\"schema\":\"racetrace.events/1\"}\n"

/* --- a trace of our own making, with everything in it --- */

static const char *const made_command[] = {"./app", "two words", "\"quoted\" \\ \x1b[31m", NULL};
static const struct rt_thread made_threads[] = {
    {.name = "main", .label = NULL, .parent = 0, .left_out = 3},
    {.name = "main.1", .label = "worker \xc3\xa4", .parent = 0, .left_out = 0},
    {.name = "main.1.1", .label = "", .parent = 1, .left_out = UINT64_C(1) << 50},
};

struct made {
	struct rt_trace trace;
	struct rt_event events[ROOM];
	size_t count, next;
};

static enum rt_status made_rewind(struct rt_trace *trace, struct rt_error *err)
{
	(void)err;
	((struct made *)trace)->next = 0;
	return RT_OK;
}

static enum rt_status made_read(struct rt_trace *trace, struct rt_event *events, size_t n, size_t *got,
                                struct rt_error *err)
{
	(void)err;
	struct made *m = (struct made *)trace;
	for (*got = 0; *got < n && m->next < m->count; ++*got)
		events[*got] = m->events[m->next++];
	return RT_OK;
}

/* Odd positions are unknown; the others have an inlined function. */
static const struct rt_frame *made_frames(const struct rt_trace *trace, uint64_t pc, size_t *count)
{
	static const struct rt_frame frames[] = {
	    {.function = "inner<int>(char)", .file = "a b.c", .line = 7, .column = 3, .pc = 0x400},
	    {.function = "outer", .file = NULL, .module = "app", .text = "T|x", .line = 0, .pc = 0x401},
	};
	(void)trace;
	*count = pc % 2 ? 0 : 2;
	return pc % 2 ? NULL : frames;
}

/* [0x1000, 0x1100) is a structure with a member in it. */
static bool made_variable(const struct rt_trace *trace, uint64_t addr, struct rt_variable *out)
{
	(void)trace;
	if (addr < 0x1000 || addr >= 0x1100)
		return false;
	bool member = addr >= 0x1010 && addr < 0x1018;
	*out = (struct rt_variable){.address = member ? 0x1010 : 0x1000, .size = member ? 8 : 0x100};
	strcpy(out->name, member ? "queue.slot[3]" : "queue");
	out->file = member ? NULL : "q.c";
	out->line = member ? 0 : 12;
	return true;
}

static const char *made_object_name(const struct rt_trace *trace, uint64_t addr)
{
	(void)trace;
	return addr == 0x2000 ? "a lock" : NULL;
}

static void made_free(struct rt_trace *trace)
{
	(void)trace;
}

static const struct rt_source made_source = {.name = "made",
                                             .free = made_free,
                                             .rewind = made_rewind,
                                             .read = made_read,
                                             .frames = made_frames,
                                             .variable = made_variable,
                                             .object_name = made_object_name};

static void make(struct made *m)
{
	static const uint64_t objects[] = {0x1010, 0x1080, 0x2000, RT_OPERAND_MAX, 0};
	*m = (struct made){.trace = {.source = &made_source, .mask = RT_SELECT_ALL}};
	m->trace.info = (struct rt_trace_info){.path = "made",
	                                       .format = "made",
	                                       .command = made_command,
	                                       .exit_kind = RT_EXIT_SIGNAL,
	                                       .exit_value = 11,
	                                       .duration_ns = UINT64_MAX,
	                                       .pid = 4711,
	                                       .left_out = 3 + (UINT64_C(1) << 50),
	                                       .lost = 5,
	                                       .vary = UINT32_MAX,
	                                       .values = true,
	                                       .input = "/a file",
	                                       .model = RT_MODEL_C11,
	                                       .thread_count = 3,
	                                       .threads = made_threads,
	                                       .complete = false,
	                                       .incomplete_why = "the writer was killed"};
	uint64_t ordinals[3] = {0};
	for (unsigned op = RT_OP_READ; op < RT_OP_COUNT; op++)
		for (unsigned variant = 0; variant < 3; variant++) {
			struct rt_event *e = &m->events[m->count++];
			uint32_t thread = (op + variant) % 3;
			bool other = op == RT_OP_FORK || op == RT_OP_JOIN || op == RT_OP_DETACH;
			ordinals[thread] += 1 + variant;
			*e = (struct rt_event){.number = m->count * 2 + (op > 20 ? UINT64_C(1) << 54 : 0),
			                       .ordinal = ordinals[thread],
			                       .stamp = UINT64_MAX - m->count % 3,
			                       /* The three go on, so the joined ones are others. */
			                       .addr = op == RT_OP_JOIN ? 3 + variant
			                               : other          ? variant
			                                                : objects[(op + variant) % 5],
			                       .arg = variant == 0   ? 0
			                              : variant == 1 ? 8
			                                             : RT_OPERAND_MAX,
			                       .pc = variant ? op + variant : 0,
			                       .thread = thread,
			                       .op = (uint8_t)op,
			                       .order = (uint8_t)((op + variant * 3) % 8),
			                       .flags = (uint8_t)(variant ? 1u << (op % 8) : 0),
			                       .gap = variant};
			if (e->flags & RT_F_VALUE || variant == 2) {
				e->flags |= RT_F_VALUE;
				e->value = op % 2 ? UINT64_MAX : 42;
			}
		}
	m->trace.info.events = m->count;
}

static char *export_jsonl(struct rt_trace *trace, size_t *size)
{
	struct rt_event e[ROOM];
	struct rt_error err = {0};
	struct rt_jsonl_writer *writer;
	char *text;
	FILE *out = open_memstream(&text, size);
	size_t n = scratch_events(trace, e, ROOM);
	ck_assert_msg(!rt_jsonl_create(trace, out, true, &writer, &err), "%s", err.message);
	for (size_t i = 0; i < n; i++)
		ck_assert_msg(!rt_jsonl_event(writer, &e[i], &err), "%s", err.message);
	rt_jsonl_free(writer);
	fclose(out);
	return text;
}

static struct rt_trace *round_trip(struct rt_trace *trace)
{
	size_t size;
	char *text = export_jsonl(trace, &size);
	struct rt_trace *back = scratch_trace(text);
	free(text);
	return back;
}

static void same_text(const char *a, const char *b)
{
	ck_assert_msg((!a && !b) || (a && b && !strcmp(a, b)), "'%s' became '%s'", a ? a : "NULL", b ? b : "NULL");
}

START_TEST(every_field_of_every_operation_survives)
{
	static struct made made;
	struct rt_event e[ROOM];
	make(&made);
	struct rt_trace *back = round_trip(&made.trace);
	ck_assert_uint_eq(scratch_events(back, e, ROOM), made.count);
	for (size_t i = 0; i < made.count; i++) {
		const struct rt_event *a = &made.events[i];
		ck_assert_msg(
		    !memcmp(a, &e[i], sizeof *a),
		    "event %zu (%s): number %lu/%lu ordinal %lu/%lu stamp %lx/%lx addr %lx/%lx arg %lx/%lx pc "
		    "%lx/%lx value %lx/%lx order %u/%u flags %u/%u",
		    i, rt_op_name(a->op), a->number, e[i].number, a->ordinal, e[i].ordinal, a->stamp, e[i].stamp,
		    a->addr, e[i].addr, a->arg, e[i].arg, a->pc, e[i].pc, a->value, e[i].value, a->order, e[i].order,
		    a->flags, e[i].flags);
	}
	rt_trace_free(back);
}
END_TEST

START_TEST(what_is_known_of_the_run_survives)
{
	static struct made made;
	make(&made);
	struct rt_trace *back = round_trip(&made.trace);
	const struct rt_trace_info *a = &made.trace.info, *b = rt_trace_info(back);
	for (size_t i = 0; i < 4; i++)
		same_text(a->command[i], b->command[i]);
	ck_assert_int_eq(b->exit_kind, RT_EXIT_SIGNAL);
	ck_assert_int_eq(b->exit_value, 11);
	ck_assert_uint_eq(a->duration_ns, b->duration_ns);
	ck_assert_uint_eq(a->pid, b->pid);
	ck_assert_uint_eq(a->events, b->events);
	ck_assert_uint_eq(a->left_out, b->left_out);
	ck_assert_uint_eq(a->lost, b->lost);
	ck_assert_uint_eq(a->vary, b->vary);
	ck_assert_int_eq(a->values, b->values);
	same_text(a->input, b->input);
	ck_assert_int_eq(a->model, b->model);
	ck_assert(!b->exact && !b->complete);
	same_text(a->incomplete_why, b->incomplete_why);
	ck_assert_uint_eq(b->thread_count, 3);
	for (size_t i = 0; i < 3; i++) {
		same_text(a->threads[i].name, b->threads[i].name);
		same_text(a->threads[i].label, b->threads[i].label);
		ck_assert_uint_eq(a->threads[i].parent, b->threads[i].parent);
		ck_assert_uint_eq(a->threads[i].left_out, b->threads[i].left_out);
	}
	rt_trace_free(back);
}
END_TEST

START_TEST(positions_and_names_survive)
{
	static struct made made;
	make(&made);
	struct rt_trace *back = round_trip(&made.trace);
	for (size_t i = 0; i < made.count; i++) {
		const struct rt_event *e = &made.events[i];
		struct rt_variable v, w;
		size_t n, m;
		const struct rt_frame *a = made_frames(&made.trace, e->pc, &n), *b = rt_trace_frames(back, e->pc, &m);
		n = e->pc ? n : 0;
		ck_assert_uint_eq(n, m);
		for (size_t k = 0; k < n; k++) {
			same_text(a[k].function, b[k].function);
			same_text(a[k].file, b[k].file);
			same_text(a[k].module, b[k].module);
			same_text(a[k].text, b[k].text);
			ck_assert_uint_eq(a[k].line, b[k].line);
			ck_assert_uint_eq(a[k].column, b[k].column);
			ck_assert_uint_eq(a[k].pc, b[k].pc);
		}
		if (rt_event_is_of_thread(e) || e->op == RT_OP_LOST)
			continue;
		same_text(made_object_name(&made.trace, e->addr), rt_trace_object_name(back, e->addr));
		ck_assert_int_eq(made_variable(&made.trace, e->addr, &v), rt_trace_variable(back, e->addr, &w));
		if (!made_variable(&made.trace, e->addr, &v))
			continue;
		same_text(v.name, w.name);
		same_text(v.file, w.file);
		ck_assert_uint_eq(v.address, w.address);
		ck_assert_uint_eq(v.size, w.size);
		ck_assert_uint_eq(v.line, w.line);
	}
	rt_trace_free(back);
}
END_TEST

START_TEST(a_second_round_trip_writes_the_same_bytes)
{
	static struct made made;
	size_t size, again_size;
	make(&made);
	char *text = export_jsonl(&made.trace, &size);
	struct rt_trace *back = scratch_trace(text);
	char *again = export_jsonl(back, &again_size);
	ck_assert_str_eq(text, again);
	for (size_t i = 0; i < size; i++)
		ck_assert(text[i] == '\n' || (text[i] >= ' ' && text[i] <= '~'));
	free(text);
	free(again);
	rt_trace_free(back);
}
END_TEST

START_TEST(threads_with_numbers_for_names_survive)
{
	struct rt_event e[ROOM], again[ROOM];
	struct rt_trace *trace = scratch_trace("01|fork(0x0)|1\n0x0|w(x)|2\n01|join(0x0)|3\n");
	struct rt_trace *back = round_trip(trace);
	ck_assert_uint_eq(scratch_events(trace, e, ROOM), 3);
	ck_assert_uint_eq(scratch_events(back, again, ROOM), 3);
	ck_assert_uint_eq(e[0].addr, 1);
	ck_assert_mem_eq(e, again, 3 * sizeof *e);
	rt_trace_free(back);
	rt_trace_free(trace);
}
END_TEST

/* --- by hand --- */

START_TEST(what_a_hand_leaves_out_has_defaults)
{
	struct rt_trace *trace =
	    scratch_trace(HEADER "{\"op\":\"write\",\"object\":\"x\"}\n\n"
	                         "{\"op\":\"fork\",\"object\":\"child\",\"location\":\"a.c:3\"}\n"
	                         "{\"op\":\"acquire\",\"object\":\"m\",\"thread\":\"child\"}\n"
	                         "{\"op\":\"atomic-load\",\"object\":\"x\",\"thread\":\"child\"}\n");
	struct rt_event e[ROOM];
	struct rt_variable v;
	size_t n;
	ck_assert_uint_eq(scratch_events(trace, e, ROOM), 4);
	const struct rt_trace_info *info = rt_trace_info(trace);
	ck_assert(info->exact && info->complete);
	ck_assert_int_eq(info->model, RT_MODEL_SC);
	ck_assert_uint_eq(info->thread_count, 2);
	ck_assert_str_eq(info->threads[0].name, "main");
	ck_assert_str_eq(info->threads[1].name, "child");
	ck_assert_uint_eq(info->threads[1].parent, 0);
	for (size_t i = 0; i < 4; i++) {
		ck_assert_uint_eq(e[i].number, i + 1);
		ck_assert_uint_eq(e[i].stamp, i + 1);
		ck_assert_uint_eq(e[i].ordinal, i % 2 + 1);
	}
	ck_assert_uint_eq(e[0].arg, 8);
	ck_assert_uint_eq(e[1].addr, 1);
	ck_assert_str_eq(rt_trace_object_name(trace, e[2].addr), "m");
	ck_assert_uint_eq(e[3].addr, e[0].addr);
	ck_assert_uint_eq(e[3].order, 5);
	ck_assert(rt_trace_variable(trace, e[0].addr + 7, &v));
	ck_assert_str_eq(v.name, "x");
	ck_assert_uint_eq(v.size, 8);
	const struct rt_frame *f = rt_trace_frames(trace, e[1].pc, &n);
	ck_assert_uint_eq(n, 1);
	ck_assert_str_eq(f->file, "a.c");
	ck_assert_uint_eq(f->line, 3);
	rt_trace_free(trace);
}
END_TEST

START_TEST(a_declared_name_stands_for_its_address)
{
	struct rt_trace *trace =
	    scratch_trace(HEADER "{\"variable\":\"x\",\"address\":\"0x5000\",\"size\":4}\n"
	                         "{\"object\":\"m\",\"address\":24576}\n"
	                         "{\"op\":\"read\",\"object\":\"x\",\"arg\":4}\n{\"op\":\"acquire\",\"object\":\"m\"}\n"
	                         "{\"op\":\"wait-begin\",\"object\":\"c\",\"arg\":\"m\"}\n");
	struct rt_event e[ROOM];
	ck_assert_uint_eq(scratch_events(trace, e, ROOM), 3);
	ck_assert_uint_eq(e[0].addr, 0x5000);
	ck_assert_uint_eq(e[1].addr, 0x6000);
	ck_assert_uint_eq(e[2].arg, 0x6000);
	rt_trace_free(trace);
}
END_TEST

START_TEST(threads_of_the_header_go_by_index_too)
{
	struct rt_trace *trace = scratch_trace("{\"schema\":\"racetrace.events/1\",\"threads\":[\"m\",{\"name\":\"w\","
	                                       "\"parent\":\"m\"}]}\n{\"op\":\"end\",\"thread\":1}\n");
	struct rt_event e[ROOM];
	ck_assert_uint_eq(scratch_events(trace, e, ROOM), 1);
	ck_assert_uint_eq(e[0].thread, 1);
	ck_assert_uint_eq(rt_trace_info(trace)->threads[1].parent, 0);
	ck_assert_uint_eq(rt_trace_info(trace)->threads[1].events, 1);
	rt_trace_free(trace);
}
END_TEST

START_TEST(a_trace_cut_short_reads_up_to_the_cut_and_says_so)
{
	struct rt_trace *trace = scratch_trace(HEADER "{\"op\":\"end\"}\n{\"op\":\"en");
	ck_assert(!rt_trace_info(trace)->complete);
	ck_assert_uint_eq(rt_trace_info(trace)->events, 1);
	rt_trace_free(trace);
	trace = scratch_trace("{\"schema\":\"racetrace.events/1\",\"events\":2}\n{\"op\":\"end\"}\n");
	ck_assert(!rt_trace_info(trace)->complete);
	rt_trace_free(trace);
}
END_TEST

static const struct {
	const char *text, *message;
} wrong[] = {
    {"{\"op\":\"end\"}\n", "line 1: the first line has no \"schema\""},
    {"{\"schema\":\"racetrace.events/2\"}\n", "'racetrace.events/2' needs a newer racetrace"},
    {HEADER "{\"op\":\"end\"\n{}\n", "line 2: not JSON"},
    {HEADER "[]\n", "line 2: not an object"},
    {HEADER "{\"a\":1}\n", "line 2: neither an event"},
    {HEADER "{\"op\":\"jump\"}\n", "'jump' is not an operation"},
    {HEADER "{\"op\":\"ext\"}\n", "'ext' is not an operation"},
    {HEADER "{\"op\":\"end\",\"thread\":3}\n", "thread 3 is not in the header"},
    {HEADER "{\"op\":\"end\",\"thread\":[]}\n", "'thread' is neither"},
    {HEADER "{\"op\":\"fork\"}\n", "'fork' says not of which thread"},
    {HEADER "{\"op\":\"end\",\"number\":5}\n{\"op\":\"end\",\"number\":5}\n", "line 3: 'number' does not rise"},
    {HEADER "{\"op\":\"end\",\"ordinal\":5}\n{\"op\":\"end\",\"ordinal\":4}\n", "'ordinal' does not rise"},
    {HEADER
     "{\"op\":\"fork\",\"object\":\"a\"}\n{\"op\":\"join\",\"object\":\"a\"}\n{\"op\":\"end\",\"thread\":\"a\"}\n",
     "line 4: thread 'a' goes on after event 2 joined it"},
    {HEADER "{\"op\":\"end\",\"number\":-1}\n", "'number' is not a number"},
    {HEADER "{\"op\":\"read\",\"object\":\"0x1000000000000\"}\n", "'object' is larger than"},
    {HEADER "{\"op\":\"read\",\"object\":\"x\",\"arg\":70000}\n", "declare it"},
    {HEADER "{\"op\":\"end\",\"flags\":[\"odd\"]}\n", "unknown flag"},
    {HEADER "{\"op\":\"fence\",\"order\":\"weak\"}\n", "not a memory order"},
    {HEADER "{\"op\":\"end\",\"op\":\"end\"}\n", "line 2: not JSON"},
    {HEADER "{\"position\":\"0x1\",\"frames\":[1]}\n", "a frame is not an object"},
    {HEADER "{\"variable\":\"x\"}\n", "the variable has no address"},
    {"{\"schema\":\"racetrace.events/1\",\"threads\":[\"a\",\"a\"]}\n", "is in the header twice"},
    {"{\"schema\":\"racetrace.events/1\",\"order\":\"random\"}\n", "'order' is neither"},
    {"{\"schema\":\"racetrace.events/1\",\"exit\":{}}\n", "'exit' has neither"},
};

START_TEST(what_is_wrong_is_refused_with_its_line)
{
	scratch_refused(wrong[_i].text, wrong[_i].message);
}
END_TEST

START_TEST(deeply_nested_json_is_refused)
{
	enum { DEPTH = 100000 };
	char *text = malloc(sizeof HEADER + DEPTH + 16);
	struct rt_trace *trace;
	struct rt_error err;
	size_t at = (size_t)sprintf(text, HEADER "{\"op\":");
	memset(text + at, '[', DEPTH);
	text[at + DEPTH] = '\n';
	ck_assert_int_eq(scratch_open(text, at + DEPTH + 1, &trace, &err), RT_EINPUT);
	free(text);
}
END_TEST

SUITE(jsonl)
{
	Suite *s = suite_create("jsonl");
	TCase *c = tcase_create("round trip");
	tcase_add_test(c, every_field_of_every_operation_survives);
	tcase_add_test(c, what_is_known_of_the_run_survives);
	tcase_add_test(c, positions_and_names_survive);
	tcase_add_test(c, a_second_round_trip_writes_the_same_bytes);
	tcase_add_test(c, threads_with_numbers_for_names_survive);
	suite_add_tcase(s, c);
	c = tcase_create("by hand");
	tcase_add_test(c, what_a_hand_leaves_out_has_defaults);
	tcase_add_test(c, a_declared_name_stands_for_its_address);
	tcase_add_test(c, threads_of_the_header_go_by_index_too);
	tcase_add_test(c, a_trace_cut_short_reads_up_to_the_cut_and_says_so);
	tcase_add_loop_test(c, what_is_wrong_is_refused_with_its_line, 0, sizeof wrong / sizeof *wrong);
	tcase_add_test(c, deeply_nested_json_is_refused);
	suite_add_tcase(s, c);
	return s;
}
