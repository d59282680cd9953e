/* racetrace diff: what is new in a report, and what is gone. */
#include "cmd/base/command.h"
#include "cmd/base/common.h"
#include "cmd/base/output.h"
#include "lib/report/json_writer.h"
#include "lib/report/saved.h"

#include <argp.h>
#include <inttypes.h>
#include <string.h>

enum { NEW, GONE, BOTH, SETS };
static const char *const formats[] = {"text", "json", NULL};

struct settings {
	const char *paths[2], *output;
	bool json;
};

static const struct argp_option options[] = {{"format", 'f', "FORMAT", 0, "text (the default) or json", 0},
                                             {"output", 'o', "FILE", 0, "Write to FILE instead of standard output", 0},
                                             {0}};

static const char doc[] =
    "Compares the findings of two JSON reports by their fingerprints, which added lines do not change.\v"
    "Exit status: 0 if NEW has no error that OLD lacks, 1 if it has one, 2 for wrong use or a file that is no report.";

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct settings *s = state->input;
	switch (key) {
	case 'f':
		s->json = cmd_word(state, "a format", formats, arg) > 0;
		return 0;
	case 'o':
		s->output = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num > 1)
			argp_error(state, "too many arguments: '%s'", arg);
		s->paths[state->arg_num] = arg;
		return 0;
	case ARGP_KEY_END:
		cmd_need_argument(state, s->paths[1], s->paths[0] ? "second report" : "report",
		                  "'racetrace analyze -f json' writes one");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* A place in the list: the finding's id, level, verdict, title and first line. */
static void put_text(FILE *out, char sign, const struct saved_finding *f)
{
	fprintf(out, "%c %s %s, %s: %s", sign, cmd_text(f->id).text, cmd_text(f->level).text, cmd_text(f->verdict).text,
	        cmd_text(f->title).text);
	if (*f->file)
		fprintf(out, " (%s:%" PRIu32 ")", cmd_text(f->file).text, f->line);
	putc('\n', out);
}

static void put_json(struct json_writer *w, const struct saved_finding *f)
{
	jw_object(w, NULL);
	jw_text(w, "id", f->id);
	jw_text(w, "level", f->level);
	jw_text(w, "verdict", f->verdict);
	jw_text(w, "title", f->title);
	jw_text_or_null(w, "file", f->file);
	jw_number_or_null(w, "line", f->line);
	jw_text(w, "fingerprint", f->fingerprint);
	jw_object_end(w);
}

struct comparison {
	struct saved_report of[2];
	struct json_writer w;
	FILE *out;
	bool json;
	size_t counts[SETS];
	bool new_error;
};

/* The findings of one report that the other lacks, or that both have. */
static void put_set(struct comparison *c, int set)
{
	static const char *const names[SETS] = {"new", "gone", "unchanged"};
	const struct saved_report *r = &c->of[set != GONE], *other = &c->of[set == GONE];
	if (c->json)
		jw_array(&c->w, names[set]);
	for (size_t i = 0; i < r->count; i++) {
		const struct saved_finding *f = &r->findings[i];
		if ((saved_find(other, f->fingerprint) != NULL) != (set == BOTH))
			continue;
		c->counts[set]++;
		c->new_error |= set == NEW && !strcmp(f->level, "error");
		if (c->json)
			put_json(&c->w, f);
		else if (set != BOTH)
			put_text(c->out, set == NEW ? '+' : '-', f);
	}
	if (c->json)
		jw_array_end(&c->w);
}

static void compare(struct comparison *c)
{
	if (c->json) {
		jw_object(&c->w, NULL);
		jw_text(&c->w, "schema", "racetrace.diff/1");
	}
	for (int set = 0; set < SETS; set++)
		put_set(c, set);
	if (c->json) {
		jw_object_end(&c->w);
		putc('\n', c->out);
	} else {
		fprintf(c->out, "findings: %zu new, %zu gone, %zu unchanged\n", c->counts[NEW], c->counts[GONE],
		        c->counts[BOTH]);
	}
}

int cmd_diff(int argc, char **argv)
{
	static const struct argp argp = {options, parse, "OLD NEW", doc, NULL, NULL, NULL};
	struct settings s = {0};
	struct comparison c = {0};
	struct rt_error err = {0};
	struct cmd_output output;
	cmd_parse(&argp, argc, argv, 0, &s);
	enum rt_status status = saved_read(s.paths[0], &c.of[0], &err);
	if (!status)
		status = saved_read(s.paths[1], &c.of[1], &err);
	if (!status && !(status = cmd_output_open(&output, s.output, &err))) {
		c.out = c.w.out = output.file;
		c.json = s.json;
		compare(&c);
		status = cmd_output_close(&output, RT_OK, &err);
	}
	saved_release(&c.of[0]);
	saved_release(&c.of[1]);
	return status ? cmd_fail(&err) : c.new_error ? EXIT_FOUND : EXIT_CLEAN;
}
