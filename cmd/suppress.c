/* racetrace suppress: suppressions of a report's findings. */
#include "cmd/base/command.h"
#include "cmd/base/common.h"
#include "cmd/base/output.h"
#include "lib/report/saved.h"

#include <argp.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct settings {
	const char *path, *output;
	char **ids; /* NULL-terminated; NULL: all */
};

static const struct argp_option options[] = {{"output", 'o', "FILE", 0, "Write to FILE instead of standard output", 0},
                                             {0}};

static const char doc[] =
    "Writes suppressions of the findings of a JSON report, of all or of those with these IDs, for 'racetrace analyze "
    "--suppressions'. Each has a comment that says what it is about.\v"
    "Exit status: 0; 2 for wrong use or a file that is no report; 3 if the output cannot be written.";

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct settings *s = state->input;
	switch (key) {
	case 'o':
		s->output = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num == 0) {
			s->path = arg;
			return 0;
		}
		s->ids = state->argv + state->next - 1;
		state->next = state->argc;
		return 0;
	case ARGP_KEY_END:
		cmd_need_argument(state, s->path, "report", "'racetrace analyze -f json' writes one");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static bool is_wanted(const struct settings *s, const struct saved_finding *f)
{
	for (char **id = s->ids; id && *id; id++)
		if (!strcmp(*id, f->id))
			return true;
	return !s->ids && !f->known;
}

static enum rt_status check_ids(const struct settings *s, const struct saved_report *r, struct rt_error *err)
{
	for (char **id = s->ids; id && *id; id++) {
		size_t i = 0;
		while (i < r->count && strcmp(r->findings[i].id, *id) != 0)
			i++;
		if (i == r->count)
			return rt_error_set(err, RT_EUSAGE, "there is no finding '%s' in '%s'", *id, s->path);
	}
	return RT_OK;
}

static void put_rule(FILE *out, const struct saved_finding *f)
{
	fprintf(out, "# %s, %s: %s", cmd_text(f->level).text, cmd_text(f->verdict).text, cmd_text(f->title).text);
	if (*f->file)
		fprintf(out, " (%s:%" PRIu32 ")", cmd_text(f->file).text, f->line);
	fprintf(out, "\nfinding:%s\n", f->fingerprint);
}

int cmd_suppress(int argc, char **argv)
{
	static const struct argp argp = {options, parse, "REPORT [ID...]", doc, NULL, NULL, NULL};
	struct settings s = {0};
	struct saved_report report = {0};
	struct rt_error err = {0};
	struct cmd_output output;
	cmd_parse(&argp, argc, argv, 0, &s);
	enum rt_status status = saved_read(s.path, &report, &err);
	if (!status)
		status = check_ids(&s, &report, &err);
	if (!status && !(status = cmd_output_open(&output, s.output, &err))) {
		for (size_t i = 0; i < report.count; i++)
			if (is_wanted(&s, &report.findings[i]))
				put_rule(output.file, &report.findings[i]);
		status = cmd_output_close(&output, RT_OK, &err);
	}
	saved_release(&report);
	return status ? cmd_fail(&err) : EXIT_CLEAN;
}
