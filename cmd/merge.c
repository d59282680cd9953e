/* racetrace merge: one report of the parts that 'racetrace analyze --shard' wrote. */
#include "cmd/analyze/analyze.h"
#include "cmd/base/command.h"

#include <argp.h>
#include <stdlib.h>

struct settings {
	struct cmd_reports reports;
	char **paths;
	size_t count;
};

static const char doc[] =
    "Makes one report of all parts that 'racetrace analyze --shard=I/N' wrote. It is the report that 'racetrace "
    "analyze' writes without --shard. The trace is read again; it must be where it was.\v"
    "Exit status: as of 'racetrace analyze'; 3 too if a part is missing, damaged or of another analysis.";

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct settings *s = state->input;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &s->reports;
		return 0;
	case ARGP_KEY_ARG:
		s->paths[s->count++] = arg;
		return 0;
	case ARGP_KEY_END:
		cmd_need_argument(state, s->count ? s->paths[0] : NULL, "part",
		                  "'racetrace analyze --shard=1/2 -o FILE TRACE' writes one");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int cmd_merge(int argc, char **argv)
{
	static const struct argp_child children[] = {{&cmd_reports_argp, 0, NULL, 0}, {0}};
	static const struct argp argp = {NULL, parse, "PART...", doc, children, NULL, NULL};
	struct settings s = {.paths = calloc((size_t)argc + 1, sizeof *s.paths)};
	struct rt_error err = {0};
	struct parts *parts;
	if (!s.paths) {
		rt_error_set(&err, RT_EMEMORY, "no memory for the arguments");
		return cmd_fail(&err);
	}
	cmd_parse(&argp, argc, argv, 0, &s);
	enum rt_status status = parts_open(s.paths, s.count, &parts, &err);
	free(s.paths);
	if (status)
		return cmd_fail(&err);
	int result = cmd_analyze_parts(parts, &s.reports);
	parts_free(parts);
	return result;
}
