/* racetrace replay: makes the program take the schedule of an anomaly. */
#include "cmd/replay/replay.h"
#include "cmd/replay/repeat.h"

#include "cmd/base/command.h"
#include "cmd/base/common.h"
#include "cmd/base/memory.h"
#include "cmd/base/reports.h"
#include "cmd/base/setting.h"
#include "cmd/try/runner.h"
#include "lib/base/input.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	OPT_ANOMALY = 'a',
	OPT_JOBS = 'j',
	OPT_ALL = 256,
	OPT_FINDING,
	OPT_VERDICT,
	OPT_TIMEOUT,
	OPT_TIME_LIMIT,
	OPT_ATTEMPTS,
	OPT_BEFORE,
	OPT_RESOLVE,
	OPT_REPEAT,
	OPT_HOLD,
	OPT_DEBUGGER,
	OPT_SAMPLE,
	OPT_INPUT,
	OPT_SEED
};

struct settings {
	struct rt_trace_options input;
	struct replay_options replay;
	struct cmd_reports reports;
	const char *path;  /* of a trace, a report or a schedule */
	const char *trace; /* of a schedule; NULL: the report's */
	uint64_t max_memory;
	bool seed_given;
};

static const struct argp_option options[] = {
    {"anomaly", OPT_ANOMALY, "ID", 0, "Replay this anomaly, such as R1; without it, all that are observed or proved",
     0},
    {"all", OPT_ALL, NULL, 0, "Replay every anomaly that can be, the strongest verdicts first", 0},
    {"attempts", OPT_ATTEMPTS, "N", 0, "Try at most N ways to an anomaly that is not confirmed (3)", 0},
    {"before", OPT_BEFORE, "COMMAND", 0,
     "Let the shell do COMMAND before each run, such as to remove what the one before has written", 0},
    {"debugger", OPT_DEBUGGER, "COMMAND", OPTION_ARG_OPTIONAL,
     "Do the same as --hold, and start a debugger there (gdb), with each thread right before its event", 0},
    {"finding", OPT_FINDING, "ID", 0, "Replay the anomalies of this finding, such as F1", 0},
    {"hold", OPT_HOLD, NULL, 0, "Stop the process where the anomaly is reached, each thread right before its event", 0},
    {"input", OPT_INPUT, "FILE", 0,
     "Let the program read FILE from standard input (the file that the recorded run read)", 0},
    {"jobs", OPT_JOBS, "N", 0, "Make N runs at once (1)", 0},
    {"repeat", OPT_REPEAT, "N", 0, "Make each run N times, and count how often it is confirmed (1)", 0},
    {"resolve", OPT_RESOLVE, "ORDER", 0,
     "Execute the first or the second access of a race first, as the report lists them, or try both orders (both)", 0},
    {"sample", OPT_SAMPLE, "N", 0, "Replay N of the anomalies, chosen by the seed", 0},
    {"seed", OPT_SEED, "N", 0,
     "Choose by N which thread goes on after the schedule (1); of a report of several runs: repeat the run with this "
     "seed",
     0},
    {"time-limit", OPT_TIME_LIMIT, "TIME", 0, "Try nothing further after this time", 0},
    {"timeout", OPT_TIMEOUT, "TIME", 0, "End a run after this time (20)", 0},
    {"trace", 't', "TRACE", 0, "The trace of the schedule; a report names its own", 0},
    {"verdict", OPT_VERDICT, "LIST", 0,
     "Replay the anomalies with these verdicts: observed,proved,predicted,conditional", 0},
    {0}};

static const char doc[] =
    "Runs the recorded program, or PROGRAM, with the schedules of the anomalies that 'racetrace analyze' finds in "
    "TRACE. "
    "Reports what happens: confirmed, diverged, stuck, timeout or failed. A report in a file has the anomalies "
    "that "
    "were not replayed too. If TRACE is a report of several runs, it repeats the run of a finding that is the end of "
    "a run.\v"
    "Exit status: 0 if something was confirmed, 1 if nothing was, 2 for wrong use, 3 if TRACE cannot be "
    "read.";

/* Those that --verdict takes. */
static const char *verdict_at(int i)
{
	int verdict = VERDICT_CONDITIONAL + i;
	return verdict <= VERDICT_OBSERVED ? verdict_name((enum verdict)verdict) : NULL;
}

static const char *const resolve_names[] = {"first", "second", "both", NULL};
static const uint32_t resolve_orders[] = {1u << OUTCOME_FIRST, 1u << OUTCOME_SECOND,
                                          1u << OUTCOME_FIRST | 1u << OUTCOME_SECOND};

static const struct cmd_setting settings[] = {
    CMD_SETS(OPT_ANOMALY, struct settings, replay.anomaly),
    CMD_SETS(OPT_FINDING, struct settings, replay.finding),
    CMD_SETS_TIME(OPT_TIME_LIMIT, struct settings, replay.time_limit_ms, "the time limit", false),
    CMD_SETS_NUMBER(OPT_ATTEMPTS, struct settings, replay.attempts, "the number of attempts", 1, 1000),
    CMD_SETS(OPT_BEFORE, struct settings, replay.before),
    CMD_SETS_NUMBER(OPT_REPEAT, struct settings, replay.repeat, "the number of repeats", 1, 1000000),
    CMD_SETS(OPT_HOLD, struct settings, replay.hold),
    CMD_SETS_NUMBER(OPT_SAMPLE, struct settings, replay.sample, "the number of anomalies", 1, UINT32_MAX),
    CMD_SETS(OPT_INPUT, struct settings, replay.input),
    CMD_SETS('t', struct settings, trace),
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct settings *s = state->input;
	if (cmd_set(settings, key, arg, state, s))
		return 0;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &s->input;
		state->child_inputs[1] = &s->max_memory;
		state->child_inputs[2] = &s->reports;
		return 0;
	case OPT_ALL:
		s->replay.verdicts = UINT32_MAX;
		return 0;
	case OPT_VERDICT:
		s->replay.verdicts = cmd_names(state, "a verdict to replay", arg, verdict_at) << VERDICT_CONDITIONAL;
		return 0;
	case OPT_TIMEOUT:
		s->replay.timeout_ms = cmd_timeout_ms(state, arg);
		return 0;
	case OPT_RESOLVE:
		s->replay.orders = resolve_orders[cmd_word(state, "an order", resolve_names, arg)];
		return 0;
	case OPT_DEBUGGER:
		s->replay.hold = true;
		s->replay.debugger = arg ? arg : "gdb";
		return 0;
	case OPT_SEED:
		s->replay.seed = cmd_number(state, "a seed", arg, 1, UINT32_MAX);
		s->seed_given = true;
		return 0;
	case OPT_JOBS:
		s->replay.jobs = cmd_jobs(state, arg);
		return 0;
	case ARGP_KEY_ARG:
		if (s->path)
			argp_error(state, "too many arguments: '%s': the program comes after '--'", arg);
		s->path = arg;
		return 0;
	case ARGP_KEY_END:
		cmd_need_argument(state, s->path, "trace", CMD_TRACE_HINT);
		if (s->replay.hold && !s->replay.anomaly)
			argp_error(state, "%s needs --anomaly", s->replay.debugger ? "--debugger" : "--hold");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* A cmd_reports_writer of a struct replay_result, which is of no anomaly. */
static enum rt_status write_result(const void *result, const struct report_format *format, bool color, FILE *out,
                                   struct rt_error *err)
{
	(void)color;
	if (!strcmp(format->name, "text")) {
		fputs("replay: ", out);
		report_replay_lines(NULL, NULL, result, "  ", out);
	} else if (!strcmp(format->name, "json")) {
		report_replay_json(result, out);
	} else {
		return rt_error_set(err, RT_EUSAGE, "the replay of a schedule has no %s: give text or json",
		                    format->name);
	}
	return RT_OK;
}

static enum rt_status write_report(struct settings *s, cmd_reports_writer *write, const void *arg, struct rt_error *err)
{
	enum rt_status status = cmd_reports_open(&s->reports, "json", err);
	if (status)
		return status;
	return cmd_reports_close(&s->reports, cmd_reports_write(&s->reports, write, arg, err), err);
}

static enum rt_status replay(struct settings *s, struct rt_trace *trace, bool *confirmed, struct rt_error *err)
{
	struct analysis_options analysis = {.model = {.admit = cmd_admit, .admit_arg = &s->max_memory},
	                                    .prove.guess = true,
	                                    .limits.of[LIMIT_SCHEDULE_STEPS] = UINT64_MAX,
	                                    .jobs = s->replay.jobs};
	struct report_options report = {.least = VERDICT_CONDITIONAL, .anomalies = true};
	struct analysis *a;
	struct report *r;
	enum rt_status status = analysis_run(trace, &analysis, &a, err);
	if (status)
		return status;
	status = report_create(a, &report, &r, err);
	if (!status) {
		status = replay_report(r, &s->replay, confirmed, err);
		report_keep(r, cmd_reports_in_file(&s->reports) ? VERDICT_PREDICTED : VERDICTS, true);
		r->finding = cmd_reports_in_file(&s->reports) ? NULL : s->replay.finding;
		r->by_anomaly = s->replay.anomaly || s->replay.verdicts != replay_defaults.verdicts;
		if (!status)
			status = report_join(r, err);
		if (!status)
			status = write_report(s, cmd_report_write, r, err);
		report_free(r);
	}
	analysis_free(a);
	return status;
}

/* The run of a report of several runs. *done: false if there is none to be repeated. */
static enum rt_status repeat_run(struct settings *s, FILE *file, bool *confirmed, bool *done, struct rt_error *err)
{
	struct repeated result = {0};
	*done = false;
	if (s->replay.anomaly || s->trace || s->replay.program)
		return RT_OK;
	enum rt_status status = replay_repeat(file, s->path, s->replay.finding, s->seed_given ? s->replay.seed : 0,
	                                      s->replay.timeout_ms, s->replay.before, &result, done, err);
	if (!status && *done) {
		*confirmed = result.same;
		status = write_report(s, repeated_write, &result, err);
	}
	free(result.command);
	return status;
}

/* A schedule, or that of a report's anomaly. */
static enum rt_status replay_file(struct settings *s, FILE *file, bool *confirmed, struct rt_error *err)
{
	struct script *script = NULL;
	struct rt_trace *trace = NULL;
	struct replay_result *result = NULL;
	bool repeated;
	enum rt_status status = repeat_run(s, file, confirmed, &repeated, err);
	if (status || repeated)
		return status;
	status = script_read(file, s->path, s->replay.anomaly, &script, err);
	const char *path = s->trace                                                     ? s->trace
	                   : script && script->trace && strcmp(script->trace, "-") != 0 ? script->trace
	                                                                                : NULL;
	bool gone = !s->trace && path && access(path, R_OK) != 0;
	if (!status && gone && !s->replay.program)
		status = rt_error_set(err, RT_EUSAGE,
		                      "the trace of '%s' is gone ('%s'): give another one with --trace; 'explore "
		                      "--traces=DIR' keeps the traces of an exploration",
		                      s->path, path);
	if (gone)
		path = NULL;
	if (!status && !path && !s->replay.program)
		status = rt_error_set(err, RT_EUSAGE,
		                      "'%s' does not name its trace: give it with --trace, or the program after '--'",
		                      s->path);
	if (!status && path)
		status = cmd_open_trace(path, &s->input, &trace, err);
	if (!status && trace)
		status = script_unfold(script, trace, err);
	if (!status && script->recorded)
		status = rt_error_set(err, RT_EUSAGE,
		                      "the schedule of '%s' begins with recorded events: give its trace with --trace",
		                      s->path);
	if (!status && (status = replay_script(script, trace, &s->replay, &result, err)) == RT_EINPUT)
		rt_error_context(err, "'%s'", s->path);
	if (!status) {
		*confirmed = result->confirmed != 0;
		status = write_report(s, write_result, result, err);
	}
	replay_free(result);
	rt_trace_free(trace);
	script_free(script);
	return status;
}

static enum rt_status replay_trace(struct settings *s, FILE *file, bool *confirmed, struct rt_error *err)
{
	struct rt_trace *trace = NULL;
	enum rt_status status = cmd_open_trace_of(file, s->path, &s->input, &trace, err);
	if (!status)
		status = replay(s, trace, confirmed, err);
	rt_trace_free(trace);
	return status;
}

int cmd_replay(int argc, char **argv)
{
	static const struct argp_child children[] = {
	    {&cmd_trace_argp, 0, NULL, 0}, {&cmd_memory_argp, 0, NULL, 0}, {&cmd_reports_argp, 0, NULL, 0}, {0}};
	static const struct argp argp = {options, parse, "TRACE [-- PROGRAM [ARGUMENT...]]", doc, children, NULL, NULL};
	struct settings s = {.replay = replay_defaults};
	struct rt_error err = {0};
	bool confirmed = false;
	int before = 1;
	while (before < argc && strcmp(argv[before], "--") != 0)
		before++;
	if (before + 1 < argc)
		s.replay.program = argv + before + 1;
	cmd_parse(&argp, before, argv, 0, &s);
	if (s.replay.before) /* it is not to meet another run */
		s.replay.jobs = 1;
	enum rt_status status = runner_keep_input(s.replay.input, &err);
	FILE *file = status ? NULL : rt_input_file(s.path, &err);
	status = !file                    ? err.status
	         : cmd_holds_script(file) ? replay_file(&s, file, &confirmed, &err)
	                                  : replay_trace(&s, file, &confirmed, &err);
	if (file)
		fclose(file);
	return status ? cmd_fail(&err) : confirmed ? EXIT_CLEAN : EXIT_FOUND;
}
