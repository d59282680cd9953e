/* Where reports go; see reports.h. */
#include "cmd/base/reports.h"

#include "cmd/base/command.h"
#include "cmd/base/common.h"
#include "lib/base/text.h"
#include "lib/report/merge.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OPT_COLOR = 0x4000 };
static const char *const colors[] = {[COLOR_AUTO] = "auto", [COLOR_ALWAYS] = "always", [COLOR_NEVER] = "never", NULL};

static const struct argp_option options[] = {
    {"format", 'f', "FORMAT[=FILE]", 0,
     "Format of the report: text (on a terminal, and of run and explore), json (elsewhere), sarif, html, "
     "gcc (lines for editors), "
     "svg (a picture of one finding's threads and schedule) or dot (a graph of one anomaly); auto: by the name of the "
     "file, else text on a terminal and where CI is set (in "
     "the log of a build), json elsewhere. With FILE the report is written there; several formats may be "
     "given",
     0},
    {"output", 'o', "FILE", 0,
     "Write the report to FILE; without --format in the format that its name ends in: .json, .sarif, .html, .txt, "
     ".svg, .dot",
     0},
    {"color", OPT_COLOR, "WHEN", 0,
     "Color the text report: auto (the default: on a terminal, unless NO_COLOR is set or TERM is dumb), always, never",
     0},
    {0}};

/* "FORMAT" or "FORMAT=FILE". */
static void add_format(struct argp_state *state, struct cmd_reports *o, char *arg)
{
	char name[32];
	const char *file = strchr(arg, '=');
	size_t length = file ? (size_t)(file - arg) : strlen(arg);
	snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), arg);
	if (!file && !strcmp(name, "auto")) {
		o->automatic = true;
		return;
	}
	const struct report_format *format = cmd_report_format(state, name);
	if (!file) {
		o->plain = format;
		return;
	}
	if (!file[1])
		argp_error(state, "no file given in '%s'", arg);
	if (o->count == CMD_REPORTS_MAX)
		argp_error(state, "too many reports: at most %d", CMD_REPORTS_MAX);
	o->items[o->count++] = (struct cmd_report){.format = format, .path = file + 1};
}

static void check_paths(struct argp_state *state, const struct cmd_reports *o)
{
	for (size_t i = 0; i < o->count; i++) {
		const char *path = o->items[i].path;
		if (rt_text_ends_in(path, strlen(path), ".zst"))
			argp_error(state, "'%s' has the name of a trace, and a report would be written there", path);
		for (size_t k = 0; k < i; k++)
			if (!strcmp(path, o->items[k].path))
				argp_error(state, "two reports for one file: '%s'", path);
	}
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct cmd_reports *o = state->input;
	switch (key) {
	case 'f':
		add_format(state, o, arg);
		return 0;
	case OPT_COLOR:
		o->color = cmd_word(state, "a time to color", colors, arg);
		return 0;
	case 'o':
		if (o->count == CMD_REPORTS_MAX)
			argp_error(state, "too many reports: at most %d", CMD_REPORTS_MAX);
		o->items[o->count++] = (struct cmd_report){.path = arg};
		return 0;
	case ARGP_KEY_END:
		check_paths(state, o);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp cmd_reports_argp = {.options = options, .parser = parse};

/* The format whose suffix ends the name; NULL: none. */
static const struct report_format *format_of_name(const char *path)
{
	for (const struct report_format *f = report_formats; f->name; f++)
		if (f->suffix && rt_text_ends_in(path, strlen(path), f->suffix))
			return f;
	return NULL;
}

/* True on a terminal; with --format=auto, also in the log of a build service. */
static bool is_read_by_people(const struct cmd_reports *o, const struct cmd_report *item)
{
	const char *ci = getenv("CI");
	return isatty(fileno(item->out.file)) || (o->automatic && ci && *ci && strcmp(ci, "false") != 0);
}

static enum rt_status open_all(struct cmd_reports *o, const char *pipe, struct rt_error *err)
{
	for (size_t i = 0; i < o->count; i++) {
		struct cmd_report *item = &o->items[i];
		enum rt_status status = cmd_output_open(&item->out, item->path, err);
		if (status)
			return status;
		if (!item->format)
			item->format = o->plain;
		if (!item->format && item->path)
			item->format = format_of_name(item->path);
		if (!item->format)
			item->format = report_find(is_read_by_people(o, item) ? "text" : pipe);
	}
	return RT_OK;
}

enum rt_status cmd_reports_open(struct cmd_reports *o, const char *pipe, struct rt_error *err)
{
	bool named = false; /* an --output */
	for (size_t i = 0; i < o->count; i++)
		named |= !o->items[i].format;
	/* Files alone leave standard output empty, unless it was given a format. */
	if (!o->count || (o->plain && !named && o->count < CMD_REPORTS_MAX))
		o->items[o->count++] = (struct cmd_report){0};
	enum rt_status status = open_all(o, pipe, err);
	return status ? cmd_reports_close(o, status, err) : RT_OK;
}

bool cmd_reports_in_file(const struct cmd_reports *o)
{
	for (size_t i = 0; i < o->count; i++)
		if (o->items[i].path)
			return true;
	return false;
}

bool cmd_reports_have(const struct cmd_reports *o, const char *format)
{
	for (size_t i = 0; i < o->count; i++)
		if (o->items[i].format && !strcmp(o->items[i].format->name, format))
			return true;
	return false;
}

const char *cmd_reports_single(const struct cmd_reports *o)
{
	for (size_t i = 0; i < o->count; i++)
		if (o->items[i].format && !o->items[i].format->write_merged)
			return o->items[i].format->name;
	return NULL;
}

static bool has_color(const struct cmd_reports *o, FILE *out)
{
	if (o->color != COLOR_AUTO)
		return o->color == COLOR_ALWAYS;
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
	return isatty(fileno(out)) && !(no_color && *no_color) && !(term && !strcmp(term, "dumb"));
}

enum rt_status cmd_reports_write(struct cmd_reports *o, cmd_reports_writer *write, const void *arg,
                                 struct rt_error *err)
{
	enum rt_status status = RT_OK;
	for (size_t i = 0; i < o->count && !status; i++)
		status = write(arg, o->items[i].format, has_color(o, o->items[i].out.file), o->items[i].out.file, err);
	return status;
}

enum rt_status cmd_report_write(const void *report, const struct report_format *format, bool color, FILE *out,
                                struct rt_error *err)
{
	return report_write(report, format, color, out, err);
}

enum rt_status cmd_merge_write(const void *merge, const struct report_format *format, bool color, FILE *out,
                               struct rt_error *err)
{
	return merge_write(merge, format, color, out, err);
}

enum rt_status cmd_reports_close(struct cmd_reports *o, enum rt_status status, struct rt_error *err)
{
	for (size_t i = 0; i < o->count; i++)
		status = cmd_output_close(&o->items[i].out, status, err);
	return status;
}
