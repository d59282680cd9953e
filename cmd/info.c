/* racetrace info: describes a trace. */
#include "cmd/base/command.h"
#include "cmd/base/common.h"
#include "cmd/base/progress.h"
#include "lib/base/json_memory.h"

#include <argp.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

struct options {
	struct rt_trace_options trace;
	const char *path;
	bool json;
};

static const struct argp_option option_table[] = {
    {"format", 'f', "FORMAT", 0, "text (the default) or json", 0},
    {0},
};

static const char *const formats[] = {"text", "json", NULL};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;
	switch (key) {
	case 'f':
		options->json = cmd_word(state, "a format", formats, arg) > 0;
		return 0;
	default:
		return cmd_parse_input(key, arg, state, &options->path, &options->trace);
	}
}

static const char doc[] =
    "Describes a trace: its threads, the number of events of each kind, the program that was recorded and "
    "how it ended, and whether the trace is complete.\vTRACE is racetrace's own file, JSON lines or RAPID's STD "
    "text. Exit status: 0, 2 for wrong use, 3 if the trace cannot be read.";

static const struct argp parser = {option_table, parse_option, "TRACE", doc, cmd_input_children, NULL, NULL};

static enum rt_status count_kinds(struct rt_trace *trace, uint64_t kinds[RT_OP_COUNT], struct rt_error *err)
{
	struct rt_pass pass;
	for (struct rt_event *e = rt_pass_first(&pass, trace, err); e; e = rt_pass_next(&pass))
		if (e->op < RT_OP_COUNT)
			kinds[e->op]++;
	return pass.status;
}

static void count_groups(const uint64_t kinds[RT_OP_COUNT], uint64_t groups[RT_GROUP_COUNT])
{
	for (unsigned op = 0; op < RT_OP_COUNT; op++)
		groups[rt_op_group(op)] += kinds[op];
}

static double bytes_per_event(const struct rt_trace_info *info)
{
	return info->events ? (double)info->file_bytes / (double)info->events : 0;
}

static json_t *json_text(const char *text)
{
	json_t *plain = text ? json_string(text) : json_null();
	return plain ? plain : json_string(cmd_text(text).text);
}

static json_t *json_number(uint64_t number)
{
	return json_integer(number <= INT64_MAX ? (json_int_t)number : INT64_MAX);
}

static json_t *json_command(const struct rt_trace_info *info)
{
	json_t *command = info->command ? json_array() : json_null();
	for (size_t i = 0; info->command && info->command[i]; i++)
		json_array_append_new(command, json_text(info->command[i]));
	return command;
}

static json_t *json_exit(const struct rt_trace_info *info)
{
	if (info->exit_kind == RT_EXIT_UNKNOWN)
		return json_null();
	return json_pack("{si}", info->exit_kind == RT_EXIT_STATUS ? "status" : "signal", info->exit_value);
}

static json_t *json_threads(const struct rt_trace_info *info)
{
	json_t *threads = json_array();
	for (uint32_t i = 0; i < info->thread_count; i++) {
		const struct rt_thread *t = &info->threads[i];
		bool created = t->parent != i && t->parent < info->thread_count;
		json_array_append_new(
		    threads, json_pack("{so,so,so,so,so}", "name", json_text(t->name), "label", json_text(t->label),
		                       "parent", json_text(created ? info->threads[t->parent].name : NULL), "events",
		                       json_number(t->events), "left_out", json_number(t->left_out)));
	}
	return threads;
}

static json_t *json_warnings(const struct rt_trace_info *info)
{
	json_t *warnings = json_array();
	for (uint32_t i = 0; i < info->warning_count; i++) {
		const struct rt_warning *w = &info->warnings[i];
		json_array_append_new(warnings,
		                      json_pack("{ss,so,so,so}", "kind", w->kind, "count", json_number(w->count),
		                                "first", json_number(w->line), "text", json_text(w->text)));
	}
	return warnings;
}

static int print_json(const struct rt_trace_info *info, const uint64_t kinds[RT_OP_COUNT],
                      const uint64_t groups[RT_GROUP_COUNT])
{
	rt_json_memory_watch();
	json_t *kind_counts = json_object(), *group_counts = json_object();
	for (unsigned op = 0; op < RT_OP_COUNT; op++)
		if (kinds[op])
			json_object_set_new(kind_counts, rt_op_name(op), json_number(kinds[op]));
	for (unsigned group = 0; group < RT_GROUP_COUNT; group++)
		if (groups[group])
			json_object_set_new(group_counts, rt_group_name(group), json_number(groups[group]));
	json_t *all = json_pack(
	    "{so,so,so,so,so,so,so,so,so,so,so,sf,ss,sb,so,ss,so}", "events", json_number(info->events), "left_out",
	    json_number(info->left_out), "lost", json_number(info->lost), "command", json_command(info), "exit",
	    json_exit(info), "pid", json_number(info->pid), "duration_ns", json_number(info->duration_ns), "threads",
	    json_threads(info), "kinds", kind_counts, "groups", group_counts, "bytes", json_number(info->file_bytes),
	    "bytes_per_event", bytes_per_event(info), "order", info->exact ? "exact" : "stamped", "complete",
	    info->complete, "incomplete_why", json_text(info->complete ? NULL : info->incomplete_why), "format",
	    info->format, "path", json_text(info->path));
	if (all && info->vary)
		json_object_set_new(all, "vary", json_number(info->vary));
	if (all && info->dropped)
		json_object_set_new(all, "dropped", json_number(info->dropped));
	if (all && info->input)
		json_object_set_new(all, "input", json_text(info->input));
	if (all && info->values)
		json_object_set_new(all, "values", json_true());
	if (all && info->warning_count)
		json_object_set_new(all, "warnings", json_warnings(info));
	if (all)
		json_object_set_new(all, "model", json_string(rt_model_name(info->model)));
	char *text = all ? json_dumps(all, JSON_INDENT(2) | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(6)) : NULL;
	bool whole = text && !rt_json_memory_failed();
	if (whole)
		puts(text);
	else
		fputs("racetrace: no memory to write JSON\n", stderr);
	free(text);
	json_decref(all);
	return whole ? EXIT_CLEAN : EXIT_INPUT;
}

static void print_command(const struct rt_trace_info *info)
{
	if (!info->command)
		return;
	fputs("command   ", stdout);
	for (size_t i = 0; info->command[i]; i++)
		printf(" %s", cmd_text(info->command[i]).text);
	putchar('\n');
	if (info->exit_kind == RT_EXIT_STATUS)
		printf("exit       status %d\n", info->exit_value);
	else if (info->exit_kind == RT_EXIT_SIGNAL)
		printf("exit       signal %d (%s)\n", info->exit_value, strsignal(info->exit_value));
	if (info->duration_ns)
		printf("duration   %.3f s\n", (double)info->duration_ns * 1e-9);
}

static void print_threads(const struct rt_trace_info *info)
{
	int width = 6;
	for (uint32_t i = 0; i < info->thread_count; i++) {
		int length = (int)strlen(cmd_text(info->threads[i].name).text);
		width = length > width && length <= 40 ? length : width;
	}
	printf("\n%-*s  %12s  %12s\n", width, "thread", "events", "left out");
	for (uint32_t i = 0; i < info->thread_count; i++) {
		const struct rt_thread *t = &info->threads[i];
		printf("%-*s  %12" PRIu64 "  %12" PRIu64 "%s%s\n", width, cmd_text(t->name).text, t->events,
		       t->left_out, t->label ? "  " : "", t->label ? cmd_text(t->label).text : "");
	}
}

static void print_text(const struct rt_trace_info *info, const uint64_t kinds[RT_OP_COUNT],
                       const uint64_t groups[RT_GROUP_COUNT])
{
	printf("trace      %s (%s)\n", cmd_text(info->path).text, info->format);
	print_command(info);
	printf("events     %" PRIu64 "\n", info->events);
	if (info->left_out)
		printf("left out   %" PRIu64 " repeats\n", info->left_out);
	if (info->lost)
		printf("lost       %" PRIu64 "\n", info->lost);
	if (info->dropped)
		printf("dropped    %" PRIu64 " before the trace's start\n", info->dropped);
	printf("bytes      %" PRIu64 " (%.2f an event)\n", info->file_bytes, bytes_per_event(info));
	printf("order      %s\n", info->exact ? "exact" : "stamped");
	printf("model      %s\n", rt_model_name(info->model));
	if (info->vary)
		printf("vary       %" PRIu32 "\n", info->vary);
	if (info->input)
		printf("input      %s\n", cmd_text(info->input).text);
	if (info->values)
		printf("values     recorded\n");
	if (info->complete)
		printf("complete   yes\n");
	else
		printf("complete   no: %s\n", info->incomplete_why ? cmd_text(info->incomplete_why).text : "cut short");
	print_threads(info);
	printf("\n%-16s  %12s\n", "kind", "events");
	for (unsigned group = 0; group < RT_GROUP_COUNT; group++)
		for (unsigned op = 0; groups[group] && op < RT_OP_COUNT; op++)
			if (kinds[op] && rt_op_group(op) == group)
				printf("%-16s  %12" PRIu64 "\n", rt_op_name(op), kinds[op]);
}

int cmd_info(int argc, char **argv)
{
	struct options options = {0};
	struct rt_trace *trace;
	struct rt_error err = {0};
	uint64_t kinds[RT_OP_COUNT] = {0}, groups[RT_GROUP_COUNT] = {0};
	cmd_parse(&parser, argc, argv, 0, &options);
	progress_begin_reading();
	if (cmd_open_trace(options.path, &options.trace, &trace, &err)) {
		progress_end();
		return cmd_fail(&err);
	}
	progress_watch(trace);
	int status = EXIT_CLEAN;
	enum rt_status counted = count_kinds(trace, kinds, &err);
	progress_end();
	if (counted || rt_trace_memory(trace, &err)) {
		status = cmd_fail(&err);
	} else {
		count_groups(kinds, groups);
		if (options.json)
			status = print_json(rt_trace_info(trace), kinds, groups);
		else
			print_text(rt_trace_info(trace), kinds, groups);
	}
	rt_trace_free(trace);
	return status;
}
