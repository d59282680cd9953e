/* What the commands on traces have in common; see common.h. */
#include "cmd/base/common.h"

#include "cmd/base/command.h"

#include "lib/base/text.h"
#include "lib/report/report.h"
#include "recorder/collector/late.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

struct cmd_text cmd_text(const char *text)
{
	struct cmd_text out;
	rt_text_escape(out.text, sizeof out.text, text, strlen(text));
	return out;
}

enum { OPT_STRICT = 512, OPT_SKIP_UNKNOWN };

static const struct argp_option trace_options[] = {
    {"strict", OPT_STRICT, NULL, 0, "Refuse an STD trace that would be read with a warning", 10},
    {"skip-unknown", OPT_SKIP_UNKNOWN, NULL, 0, "Skip lines of an STD trace whose operation is unknown", 10},
    {0}};

static error_t parse_trace_option(int key, char *arg, struct argp_state *state)
{
	struct rt_trace_options *options = state->input;
	(void)arg;
	switch (key) {
	case OPT_STRICT:
		options->strict = true;
		return 0;
	case OPT_SKIP_UNKNOWN:
		options->skip_unknown = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp cmd_trace_argp = {.options = trace_options, .parser = parse_trace_option};
const struct argp_child cmd_input_children[] = {{&cmd_trace_argp, 0, NULL, 0}, {0}};

error_t cmd_parse_input(int key, char *arg, struct argp_state *state, const char **path,
                        struct rt_trace_options *options)
{
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = options;
		return 0;
	case ARGP_KEY_ARG:
		cmd_take_argument(state, path, arg);
		return 0;
	case ARGP_KEY_END:
		cmd_need_argument(state, *path, "trace", CMD_TRACE_HINT);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

void cmd_warn(const struct rt_trace *trace)
{
	const struct rt_trace_info *info = rt_trace_info(trace);
	for (uint32_t i = 0; i < info->warning_count; i++) {
		const struct rt_warning *w = &info->warnings[i];
		fprintf(stderr, "racetrace: warning: '%s' line %" PRIu64 ": %s", cmd_text(info->path).text, w->line,
		        w->text);
		if (w->count > 1)
			fprintf(stderr, " (and %" PRIu64 " more such events)", w->count - 1);
		putc('\n', stderr);
	}
}

/* What remains to be done of a trace that was opened. */
static enum rt_status opened(struct rt_trace **trace, struct rt_error *err)
{
	enum rt_status status = late_resolve(*trace, err);
	if (status) {
		rt_trace_free(*trace);
		*trace = NULL;
	}
	return status;
}

enum rt_status cmd_open_quietly(const char *path, const struct rt_trace_options *options, struct rt_trace **out,
                                struct rt_error *err)
{
	enum rt_status status = rt_trace_open_as(path, options, out, err);
	return status ? status : opened(out, err);
}

enum rt_status cmd_open_trace(const char *path, const struct rt_trace_options *options, struct rt_trace **out,
                              struct rt_error *err)
{
	enum rt_status status = cmd_open_quietly(path, options, out, err);
	if (!status)
		cmd_warn(*out);
	return status;
}

enum rt_status cmd_open_trace_of(FILE *file, const char *path, const struct rt_trace_options *options,
                                 struct rt_trace **out, struct rt_error *err)
{
	/* The stream may have read ahead: the trace is read from the file's beginning. */
	int fd = fcntl(fileno(file), F_DUPFD_CLOEXEC, 0);
	if (fd < 0 || fflush(file) || lseek(fd, 0, SEEK_SET))
		return rt_error_set(err, RT_ESYSTEM, "cannot read '%s': %s", path, strerror(errno));
	enum rt_status status = rt_trace_open_input(fd, path, options, out, err);
	if (!status && !(status = opened(out, err)))
		cmd_warn(*out);
	return status;
}

void cmd_warn_incomplete(const struct rt_trace *trace)
{
	const struct rt_trace_info *info = rt_trace_info(trace);
	if (!info->complete)
		fprintf(stderr, "racetrace: '%s' is incomplete: %s\n", info->path,
		        info->incomplete_why ? cmd_text(info->incomplete_why).text : "it was cut short");
}

struct cmd_text cmd_position(const struct rt_trace *trace, uint64_t pc)
{
	struct cmd_text out;
	size_t n;
	const struct rt_frame *frame = rt_trace_frames(trace, pc, &n);
	if (n && frame->text)
		return cmd_text(frame->text);
	if (n && frame->file) {
		struct cmd_text file = cmd_text(frame->file),
		                function = cmd_text(frame->function ? frame->function : "");
		const char *between = frame->function ? " " : "";
		if (!frame->line)
			snprintf(out.text, sizeof out.text, "%.300s%s%.200s", file.text, between, function.text);
		else if (!frame->column)
			snprintf(out.text, sizeof out.text, "%.280s:%u%s%.200s", file.text, frame->line, between,
			         function.text);
		else
			snprintf(out.text, sizeof out.text, "%.270s:%u:%u%s%.200s", file.text, frame->line,
			         frame->column, between, function.text);
		return out;
	}
	if (n && frame->function)
		return cmd_text(frame->function);
	if (pc)
		snprintf(out.text, sizeof out.text, "0x%" PRIx64, pc);
	else
		out.text[0] = '\0';
	return out;
}

struct cmd_text cmd_address(const struct rt_trace *trace, uint64_t addr)
{
	struct rt_variable v;
	struct cmd_text out;
	const char *name = rt_trace_object_name(trace, addr);
	if (name)
		return cmd_text(name);
	if (!rt_trace_variable(trace, addr, &v)) {
		snprintf(out.text, sizeof out.text, "0x%" PRIx64, addr);
		return out;
	}
	/* The members of a mutex are internal to the C library: "queue.mutex.__data.__lock" becomes "queue.mutex". */
	char *inside = addr == v.address ? strstr(v.name, ".__") : NULL;
	if (inside)
		*inside = '\0';
	out = cmd_text(v.name);
	if (addr > v.address) {
		size_t length = strlen(out.text);
		snprintf(out.text + length, sizeof out.text - length, "+%" PRIu64, addr - v.address);
	}
	return out;
}

static void print_object(const struct rt_trace *trace, const struct rt_event *e, char *out, size_t size)
{
	const struct rt_trace_info *info = rt_trace_info(trace);
	enum rt_group group = rt_op_group(e->op);
	bool other = rt_event_is_of_thread(e);
	if (other && e->addr < info->thread_count)
		snprintf(out, size, "%s", cmd_text(info->threads[e->addr].name).text);
	else if (other || e->op == RT_OP_LOST)
		snprintf(out, size, "%" PRIu64, e->addr);
	else if (group == RT_GROUP_CONDITION && e->arg)
		snprintf(out, size, "%s %s", cmd_address(trace, e->addr).text, cmd_address(trace, e->arg).text);
	else if (e->addr)
		snprintf(out, size, "%s", cmd_address(trace, e->addr).text);
	else
		out[0] = '\0';
	size_t at = strlen(out);
	if (group == RT_GROUP_BLOCKING)
		at += (size_t)snprintf(out + at, size - at, "%sfor %s", at ? " " : "", rt_op_name((unsigned)e->arg));
	else if (e->arg && group != RT_GROUP_CONDITION)
		at += (size_t)snprintf(out + at, size - at, "%s[%" PRIu64 "]", at ? " " : "", e->arg);
	bool waits = e->op == RT_OP_BLOCK && (e->arg == RT_OP_HB_AFTER || e->flags & RT_F_VALUE);
	if (at < size && waits)
		at += (size_t)snprintf(out + at, size - at, " %s", rt_call_name(rt_call_kind(e->value)));
	if (at < size && waits && rt_call_descriptor(e->value) >= 0)
		at += (size_t)snprintf(out + at, size - at, " %d", (int)rt_call_descriptor(e->value));
	if (at < size && e->flags & RT_F_VALUE && !waits)
		at += (size_t)snprintf(out + at, size - at, " =%" PRId64, (int64_t)e->value);
	const char *order = rt_op_is_atomic(e->op) || e->op == RT_OP_FENCE ? rt_memory_order_name(e->order) : NULL;
	if (at < size && order)
		at += (size_t)snprintf(out + at, size - at, "%s%s", at ? " " : "", order);
	for (unsigned bit = 1; bit < 8; bit++)
		if (at < size && e->flags >> bit & 1)
			at += (size_t)snprintf(out + at, size - at, "%s%s", at ? " " : "", rt_flag_name(e->op, bit));
}

void cmd_print_event(const struct rt_trace *trace, const struct rt_event *e, const char *end)
{
	char object[2048];
	const struct rt_trace_info *info = rt_trace_info(trace);
	const char *thread = e->thread < info->thread_count ? info->threads[e->thread].name : "?";
	print_object(trace, e, object, sizeof object);
	struct cmd_text position = cmd_position(trace, e->pc);
	printf("%8" PRIu64 " %-10s %7" PRIu64 " %-15s %-28s%s%s%s\n", e->number, cmd_text(thread).text, e->ordinal,
	       rt_op_name(e->op), object, position.text[0] ? " " : "", position.text, end);
}

bool cmd_holds_script(FILE *file)
{
	char start[4096];
	size_t n = fread(start, 1, sizeof start - 1, file), blank;
	start[n] = '\0';
	rewind(file);
	blank = strspn(start, " \t\r\n");
	return start[blank] == '{' && !strstr(start, "\"racetrace.events/");
}

const struct report_format *cmd_report_format(const struct argp_state *state, const char *name)
{
	const struct report_format *format = report_find(name);
	char known[128] = "";
	if (format)
		return format;
	for (const struct report_format *f = report_formats; f->name; f++)
		snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", *known ? ", " : "", f->name);
	argp_error(state, "'%s' is not a format: there are %s", name, known);
	return NULL;
}
