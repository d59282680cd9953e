/* racetrace convert: a trace in another format. */
#include "cmd/base/command.h"
#include "cmd/base/common.h"
#include "cmd/base/output.h"
#include "cmd/base/progress.h"
#include "cmd/perfetto.h"
#include "lib/analysis/uncertain.h"
#include "lib/base/text.h"
#include "tracefmt/export.h"

#include <argp.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct format {
	const char *name;
	const char *suffixes[3];
	/* Writes to out; NULL: the format is written to a file by name. */
	enum rt_status (*write)(struct rt_trace *trace, FILE *out, struct rt_error *err);
};

struct options {
	struct rt_trace_options trace;
	const char *path, *output;
	const struct format *to;
};

static const struct argp_option option_table[] = {
    {"to", 't', "FORMAT", 0,
     "std, jsonl, racetrace or perfetto (a picture: critical sections and hand-overs); if not given, by the suffix of "
     "FILE (.std, "
     ".jsonl, .zst, .perfetto), else std",
     0},
    {"output", 'o', "FILE", 0, "Write to FILE instead of standard output", 0},
    {0},
};

/* --- the formats --- */

/* Prints one line that counts the events that STD cannot express. */
static void warn_losses(const struct rt_trace *trace, const struct rt_std_losses *losses)
{
	const char *between = ": ";
	if (!losses->as_locks && !losses->left_out && !losses->values)
		return;
	fprintf(stderr,
	        "racetrace: STD cannot express all of '%s': %" PRIu64 " events became critical sections, %" PRIu64
	        " were omitted",
	        rt_trace_info(trace)->path, losses->as_locks, losses->left_out);
	if (losses->values)
		fprintf(stderr, ", %" PRIu64 " lost their value", losses->values);
	for (unsigned op = 0; op < RT_OP_COUNT; op++) {
		if (!losses->ops[op])
			continue;
		fprintf(stderr, "%s%s %" PRIu64, between, rt_op_name(op), losses->ops[op]);
		between = ", ";
	}
	putc('\n', stderr);
}

static enum rt_status write_std(struct rt_trace *trace, FILE *out, struct rt_error *err)
{
	struct rt_std_losses losses;
	struct rt_numbers uncertain;
	enum rt_status status = uncertain_values(trace, &uncertain, err);
	if (!status)
		status = rt_export_std(trace, uncertain.bits ? &uncertain : NULL, out, &losses, err);
	free(uncertain.bits);
	if (!status)
		status = rt_trace_memory(trace, err);
	if (!status)
		warn_losses(trace, &losses);
	return status;
}

static enum rt_status write_jsonl(struct rt_trace *trace, FILE *out, struct rt_error *err)
{
	struct rt_jsonl_writer *writer;
	struct rt_pass pass;
	enum rt_status status = rt_jsonl_create(trace, out, true, &writer, err);
	if (status)
		return status;
	for (struct rt_event *e = rt_pass_first(&pass, trace, err); e && !ferror(out);
	     e = status ? NULL : rt_pass_next(&pass))
		status = rt_jsonl_event(writer, e, err);
	rt_jsonl_free(writer);
	return status ? status : pass.status;
}

static const struct format formats[] = {
    {"std", {".std", ".stdv"}, write_std},
    {"jsonl", {".jsonl", ".json"}, write_jsonl},
    {"racetrace", {".zst"}, NULL},
    {"perfetto", {".perfetto", ".trace.json"}, perfetto_write},
};
enum { FORMATS = sizeof formats / sizeof *formats };

static const struct format *format_by_name(const char *name)
{
	for (size_t i = 0; i < FORMATS; i++)
		if (!strcmp(formats[i].name, name))
			return &formats[i];
	return NULL;
}

static const struct format *format_by_suffix(const char *file)
{
	for (size_t i = 0; i < FORMATS && file; i++)
		for (const char *const *suffix = formats[i].suffixes; *suffix; suffix++)
			if (rt_text_ends_in(file, strlen(file), *suffix))
				return &formats[i];
	return &formats[0];
}

/* --- options --- */

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;
	switch (key) {
	case 't':
		options->to = format_by_name(arg);
		if (!options->to)
			argp_error(state, "'%s' is not a format: there are std, jsonl, racetrace, perfetto", arg);
		return 0;
	case 'o':
		options->output = arg;
		return 0;
	case ARGP_KEY_END:
		cmd_parse_input(key, arg, state, &options->path, &options->trace);
		if (!options->to)
			options->to = format_by_suffix(options->output);
		if (!options->to->write && !options->output)
			argp_error(state, "racetrace's own format is written to a file only: give -o FILE");
		return 0;
	default:
		return cmd_parse_input(key, arg, state, &options->path, &options->trace);
	}
}

static const char doc[] =
    "Writes a trace in another format: RAPID's STD text, JSON lines or racetrace's own.\vTRACE is any of these. "
    "JSON lines keep everything. STD has operations for accesses, locks, fork and join, and regions only; one "
    "line on standard error counts the events that were expressed otherwise or omitted. Exit status: 0, 2 for "
    "wrong use, 3 if the trace cannot be read or the output cannot be written.";

static const struct argp parser = {option_table, parse_option, "TRACE", doc, cmd_input_children, NULL, NULL};

/* --- output --- */

static enum rt_status convert(struct rt_trace *trace, const struct options *options, struct rt_error *err)
{
	struct cmd_output out;
	if (!options->to->write)
		return rt_export_file(trace, options->output, err);
	enum rt_status status = cmd_output_open(&out, options->output, err);
	if (status)
		return status;
	status = options->to->write(trace, out.file, err);
	return cmd_output_close(&out, status ? status : rt_trace_memory(trace, err), err);
}

int cmd_convert(int argc, char **argv)
{
	struct options options = {0};
	struct rt_trace *trace;
	struct rt_error err = {0};
	cmd_parse(&parser, argc, argv, 0, &options);
	if (options.output)
		progress_begin_reading();
	else
		progress_begin_copying();
	if (cmd_open_trace(options.path, &options.trace, &trace, &err)) {
		progress_end();
		return cmd_fail(&err);
	}
	progress_watch(trace);
	enum rt_status converted = convert(trace, &options, &err);
	progress_end();
	int status = converted ? cmd_fail(&err) : EXIT_CLEAN;
	if (status == EXIT_CLEAN)
		cmd_warn_incomplete(trace);
	rt_trace_free(trace);
	return status;
}
