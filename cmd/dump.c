/* racetrace dump: prints the events of a trace, one a line, as text or as JSON lines. */
#include "cmd/base/command.h"
#include "cmd/base/common.h"
#include "cmd/base/progress.h"
#include "tracefmt/export.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct options {
	struct rt_trace_options trace;
	const char *path, *thread, *cell;
	uint64_t kinds; /* rt_trace_select */
	uint64_t first, last;
	bool jsonl;
};

/* The filter, with names resolved in the trace. */
struct filter {
	const struct rt_trace *trace;
	uint32_t thread; /* UINT32_MAX: any */
	const char *name;
	bool cell;
	uint64_t address, first, last;
};

static const struct argp_option option_table[] = {
    {"format", 'f', "FORMAT", 0, "text (the default) or jsonl", 0},
    {"thread", 't', "NAME", 0, "Print only events of this thread", 0},
    {"cell", 'c', "ADDRESS|NAME", 0, "Print only events on this address (0x...), or on the object of this name", 0},
    {"kind", 'k', "KIND,...", 0, "Print only these operations (write) or groups of operations (lock)", 0},
    {"range", 'r', "FIRST-LAST", 0, "Print only events with these numbers; either end may be missing", 0},
    {0},
};

static const char *const formats[] = {"text", "jsonl", NULL};

/* "12-40", "12-", "-40" or "12". */
static bool parse_range(const char *text, struct options *options)
{
	char *end;
	if (text[strspn(text, "0123456789-")] || !text[strspn(text, "-")] || strstr(text, "--"))
		return false;
	errno = 0;
	options->first = text[0] == '-' ? 0 : strtoull(text, &end, 10);
	if (text[0] == '-')
		end = (char *)text;
	options->last = options->first;
	if (*end == '-') {
		text = end + 1;
		options->last = *text ? strtoull(text, &end, 10) : UINT64_MAX;
		end = *text ? end : (char *)text;
	}
	return *end == '\0' && errno == 0 && options->first <= options->last;
}

static uint64_t parse_kind(const char *name)
{
	uint64_t mask = 0;
	enum rt_op op = rt_op_parse(name);
	if (op != RT_OP_NONE)
		mask = UINT64_C(1) << op;
	for (unsigned i = RT_OP_READ; i < RT_OP_COUNT; i++)
		if (!strcmp(rt_group_name(rt_op_group(i)), name))
			mask |= UINT64_C(1) << i;
	return mask;
}

static void parse_kinds(struct argp_state *state, char *list, struct options *options)
{
	options->kinds = 0;
	for (char *rest = list, *name; (name = strsep(&rest, ","));) {
		uint64_t mask = parse_kind(name);
		if (!mask)
			argp_error(
			    state,
			    "'%s' is not a kind of event: give an operation (read, acquire, ...) or one of memory "
			    "atomic lock condition barrier semaphore once thread heap code annotation "
			    "bookkeeping blocking",
			    name);
		options->kinds |= mask;
	}
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;
	switch (key) {
	case 'f':
		options->jsonl = cmd_word(state, "a format", formats, arg) > 0;
		return 0;
	case 't':
		options->thread = arg;
		return 0;
	case 'c':
		options->cell = arg;
		return 0;
	case 'k':
		parse_kinds(state, arg, options);
		return 0;
	case 'r':
		if (!parse_range(arg, options))
			argp_error(state, "'%s' is not a range of event numbers: FIRST-LAST", arg);
		return 0;
	default:
		return cmd_parse_input(key, arg, state, &options->path, &options->trace);
	}
}

static const char doc[] =
    "Prints the events of a trace in their order, one a line: number, thread, place in the thread, operation, "
    "object, source position.\vTRACE is racetrace's own file, JSON lines or RAPID's STD text. In STD, an "
    "event's number is its line. A name given to --cell includes its members: 'queue' selects 'queue.size', "
    "too. Exit status: 0, 2 for wrong use, 3 if the trace cannot be read.";

static const struct argp parser = {option_table, parse_option, "TRACE", doc, cmd_input_children, NULL, NULL};

/* --- filters --- */

static bool find_thread(const struct rt_trace *trace, const char *name, uint32_t *index)
{
	const struct rt_trace_info *info = rt_trace_info(trace);
	for (uint32_t i = 0; i < info->thread_count; i++) {
		const struct rt_thread *t = &info->threads[i];
		if (!strcmp(t->name, name) || (t->label && !strcmp(t->label, name))) {
			*index = i;
			return true;
		}
	}
	return false;
}

/* True if `whole` is the name, or a member or element of it. */
static bool is_named(const char *whole, const char *name)
{
	size_t length = strlen(name);
	return !strncmp(whole, name, length) && strchr(".[", whole[length]) != NULL;
}

static bool address_named(const struct filter *f, uint64_t addr)
{
	struct rt_variable v;
	const char *object = rt_trace_object_name(f->trace, addr);
	return (object && is_named(object, f->name)) ||
	       (rt_trace_variable(f->trace, addr, &v) && is_named(v.name, f->name));
}

static bool touches(const struct filter *f, const struct rt_event *e)
{
	enum rt_group group = rt_op_group(e->op);
	bool thread = group == RT_GROUP_THREAD, mutex = group == RT_GROUP_CONDITION;
	if (thread || group == RT_GROUP_CODE || group == RT_GROUP_BOOKKEEPING)
		return false;
	if (f->name)
		return address_named(f, e->addr) || (mutex && address_named(f, e->arg));
	bool sized = rt_op_is_access(e->op) || group == RT_GROUP_HEAP || e->op == RT_OP_NEW_MEMORY;
	return e->addr == f->address || (mutex && e->arg == f->address) ||
	       (sized && f->address > e->addr && f->address - e->addr < e->arg);
}

static bool passes(const struct filter *f, const struct rt_event *e)
{
	return (f->thread == UINT32_MAX || e->thread == f->thread) && e->number >= f->first && e->number <= f->last &&
	       (!f->cell || touches(f, e));
}

static bool set_filter(struct filter *f, struct rt_trace *trace, const struct options *options)
{
	*f = (struct filter){.trace = trace, .thread = UINT32_MAX, .first = options->first, .last = options->last};
	if (options->thread && !find_thread(trace, options->thread, &f->thread)) {
		fprintf(stderr, "racetrace: '%s' has no thread '%s': see 'racetrace info'\n", options->path,
		        options->thread);
		return false;
	}
	if (options->cell) {
		char *end;
		f->cell = true;
		f->address = strtoull(options->cell, &end, 16);
		if (strncmp(options->cell, "0x", 2) != 0 || *end)
			f->name = options->cell;
	}
	rt_trace_select(trace, options->kinds);
	return true;
}

static int dump(struct rt_trace *trace, const struct filter *filter, struct rt_jsonl_writer *jsonl)
{
	struct rt_error err = {0};
	struct rt_pass pass;
	for (struct rt_event *e = rt_pass_first(&pass, trace, &err); e && !ferror(stdout); e = rt_pass_next(&pass)) {
		if (e->number > filter->last)
			return EXIT_CLEAN;
		if (!passes(filter, e))
			continue;
		if (!jsonl)
			cmd_print_event(trace, e, "");
		else if (rt_jsonl_event(jsonl, e, &err))
			return cmd_fail(&err);
	}
	if (pass.status || rt_trace_memory(trace, &err))
		return cmd_fail(&err);
	cmd_warn_incomplete(trace);
	return EXIT_CLEAN;
}

int cmd_dump(int argc, char **argv)
{
	struct options options = {.kinds = RT_SELECT_ALL, .last = UINT64_MAX};
	struct rt_trace *trace;
	struct rt_error err = {0};
	struct rt_jsonl_writer *jsonl = NULL;
	struct filter filter;
	cmd_parse(&parser, argc, argv, 0, &options);
	progress_begin_copying();
	if (cmd_open_trace(options.path, &options.trace, &trace, &err)) {
		progress_end();
		return cmd_fail(&err);
	}
	progress_watch(trace);
	bool whole = options.kinds == RT_SELECT_ALL && !options.thread && !options.cell && options.first <= 1 &&
	             options.last == UINT64_MAX;
	int status;
	if (!set_filter(&filter, trace, &options))
		status = EXIT_USAGE;
	else if (options.jsonl && rt_jsonl_create(trace, stdout, whole, &jsonl, &err))
		status = cmd_fail(&err);
	else
		status = dump(trace, &filter, jsonl);
	progress_end();
	rt_jsonl_free(jsonl);
	rt_trace_free(trace);
	return status;
}
