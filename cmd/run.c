/* racetrace run: record, analyze, replay and report in one go. */
#include "cmd/base/command.h"
#include "cmd/base/common.h"
#include "cmd/base/known.h"
#include "cmd/base/library.h"
#include "cmd/base/memory.h"
#include "cmd/base/reports.h"
#include "cmd/base/scratch.h"
#include "cmd/base/setting.h"
#include "cmd/base/siblings.h"
#include "cmd/replay/replay.h"
#include "cmd/try/foreground.h"
#include "cmd/try/runner.h"
#include "lib/base/clock.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OPT_BEFORE = 256, OPT_SERIAL, OPT_NO_CONFIRM, OPT_TIME, OPT_TIMEOUT, OPT_TIME_LIMIT, OPT_TRACE };

struct settings {
	struct cmd_reports reports;
	struct cmd_known known;
	const char *trace; /* NULL: it is not kept */
	char **command;
	const char *serial; /* seed; NULL: threads run as they come */
	bool no_confirm;
	bool timed;       /* --timeout was given */
	uint64_t time_ms; /* after which the recorded run gets SIGTERM; 0: never */
	uint32_t jobs;
	struct replay_options replay; /* time_limit_ms 0: nothing that is only predicted or conditional is tried */
};

static const struct argp_option options[] = {
    {"before", OPT_BEFORE, "COMMAND", 0,
     "Let the shell do COMMAND before each run, such as to remove what the one before has written", 0},
    {"jobs", 'j', "N", 0, "Analyze and replay in N processes (1)", 0},
    {"no-confirm", OPT_NO_CONFIRM, NULL, 0, "Do not run the program again with the schedules that were found", 0},
    {"serial", OPT_SERIAL, "SEED", OPTION_ARG_OPTIONAL, "Record one thread at a time, as 'racetrace record' does", 0},
    {"time", OPT_TIME, "TIME", 0, "End the recorded run after this time, by SIGTERM", 0},
    {"time-limit", OPT_TIME_LIMIT, "TIME", 0, "Try what is only predicted or conditional for this time (30); 0: do not",
     0},
    {"timeout", OPT_TIMEOUT, "TIME", 0, "End a run with a schedule after this time (20)", 0},
    {"trace", OPT_TRACE, "FILE", 0, "Keep the trace as FILE", 0},
    {0}};

static const char doc[] = "Records a run of PROGRAM and analyzes it. Runs the program again with the schedules of what "
                          "is observed or proved, then of what is only predicted or conditional. Reports the "
                          "concurrency bugs.\v"
                          "Exit status: 1 if a finding is an error, 2 for wrong use, 3 if the "
                          "program cannot be recorded; "
                          "otherwise that of the program.";

static const struct cmd_setting settings[] = {
    CMD_SETS(OPT_BEFORE, struct settings, replay.before),
    CMD_SETS(OPT_NO_CONFIRM, struct settings, no_confirm),
    CMD_SETS_TIME(OPT_TIME, struct settings, time_ms, "the time", false),
    CMD_SETS_TIME(OPT_TIME_LIMIT, struct settings, replay.time_limit_ms, "the time limit", true),
    CMD_SETS(OPT_TRACE, struct settings, trace),
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct settings *s = state->input;
	if (cmd_set(settings, key, arg, state, s))
		return 0;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &s->reports;
		state->child_inputs[1] = &s->known;
		return 0;
	case 'j':
		s->jobs = cmd_jobs(state, arg);
		return 0;
	case OPT_SERIAL:
		if (arg)
			cmd_number(state, "a seed", arg, 0, UINT32_MAX);
		s->serial = arg ? arg : "1";
		return 0;
	case OPT_TIMEOUT:
		s->replay.timeout_ms = cmd_timeout_ms(state, arg);
		s->timed = true;
		return 0;
	default:
		return cmd_parse_program(key, state, &s->command);
	}
}

/* Runs `racetrace record`. */
static enum rt_status record(const struct settings *s, const char *trace, struct foreground_end *end,
                             struct rt_error *err)
{
	enum { OWN = 8 };
	char *self, serial[64];
	size_t n = 0, count = 0;
	enum rt_status found = library_own_path(&self, err);
	if (found)
		return found;
	while (s->command[count])
		count++;
	const char **argv = calloc(count + OWN, sizeof *argv);
	if (!argv) {
		free(self);
		return rt_error_set(err, RT_EMEMORY, "no memory for a run");
	}
	argv[n++] = self;
	argv[n++] = "record";
	argv[n++] = "-o";
	argv[n++] = trace;
	snprintf(serial, sizeof serial, "--serial=%s", s->serial ? s->serial : "");
	if (s->serial)
		argv[n++] = serial;
	if (!s->trace)
		argv[n++] = "--unkept";
	argv[n++] = "--";
	memcpy(argv + n, s->command, count * sizeof *argv);
	found = foreground_run((char *const *)(uintptr_t)argv, s->command[0], s->time_ms, end, err);
	free(argv);
	free(self);
	return found;
}

/* A file that is the standard input can be read again from its beginning. */
static const char *input_file(char *path, size_t size)
{
	struct stat st;
	if (fstat(STDIN_FILENO, &st) != 0 || !S_ISREG(st.st_mode))
		return NULL;
	ssize_t n = readlink("/proc/self/fd/0", path, size - 1);
	if (n < 0)
		return NULL;
	path[n] = '\0';
	return path;
}

/* What is certain first, however long it takes; the program decides what the analysis cannot. */
static enum rt_status confirm(const struct settings *s, struct report *r, struct rt_error *err)
{
	bool confirmed;
	struct replay_options o = s->replay;
	o.jobs = o.before ? 1 : s->jobs; /* a run is not to meet another one */
	o.limited = 1u << VERDICT_PREDICTED | 1u << VERDICT_CONDITIONAL;
	if (o.time_limit_ms)
		o.verdicts |= o.limited;
	enum rt_status status = replay_report(r, &o, &confirmed, err);
	report_keep(r, VERDICT_PREDICTED, false);
	r->by_anomaly = false;
	return status ? status : report_join(r, err);
}

static enum rt_status report(struct settings *s, struct rt_trace *trace, bool *found, struct rt_error *err)
{
	uint64_t max_memory = 0;
	struct analysis_options analysis = {.model = {.admit = cmd_admit, .admit_arg = &max_memory},
	                                    .prove.guess = !s->no_confirm && s->replay.time_limit_ms,
	                                    .jobs = s->jobs,
	                                    .available = cmd_allowed_memory(max_memory)};
	struct report_options report_options = {.least = analysis.prove.guess ? VERDICT_CONDITIONAL : VERDICT_PREDICTED,
	                                        .unkept = !s->trace};
	struct analysis *a;
	struct report *r = NULL;
	enum rt_status status = analysis_run(trace, &analysis, &a, err);
	if (status)
		return status;
	cmd_known_use(&s->known, &report_options);
	status = report_create(a, &report_options, &r, err);
	if (!status && !s->no_confirm)
		status = confirm(s, r, err);
	if (!status)
		status = cmd_reports_open(&s->reports, "text", err);
	if (!status)
		status = cmd_reports_close(&s->reports, cmd_reports_write(&s->reports, cmd_report_write, r, err), err);
	if (!status) {
		cmd_known_warn(&s->known);
		*found = r->findings->levels[LEVEL_ERROR] != 0;
	}
	report_free(r);
	analysis_free(a);
	return status;
}

/*
 * The trace that is reported: the program's own, or, where that had one thread and left the work to a process that it
 * forked, as a daemon does, the other one's. Which is said. A replay cannot make that one's schedules happen.
 */
static enum rt_status open_recorded(struct settings *s, const char *path, struct rt_trace **trace, struct rt_error *err)
{
	enum rt_status status = cmd_open_trace(path, NULL, trace, err);
	size_t n = status ? 0 : siblings_count(path);
	if (!n)
		return status;
	char *other = rt_trace_info(*trace)->thread_count < 2 ? siblings_threaded(path) : NULL;
	if (other) {
		rt_trace_free(*trace);
		status = cmd_open_trace(other, NULL, trace, err);
		s->no_confirm = true;
	}
	if (!status && other)
		fprintf(stderr,
		        "racetrace: '%s' had one thread; the report is of process %" PRIu64
		        ", which it made: its schedules are not run\n",
		        s->command[0], rt_trace_info(*trace)->pid);
	n -= other != NULL;
	free(other);
	if (n)
		fprintf(stderr, "racetrace: %zu other process%s recorded, and %s not in this report%s\n", n,
		        n == 1 ? " was" : "es were", n == 1 ? "is" : "are",
		        s->trace ? "" : ": --trace=FILE keeps their traces");
	return status;
}

/* Of a program that a signal ended: the runs with a schedule would all take the whole time, as nothing ends them. */
static void bound_runs(struct settings *s, uint64_t recorded_ns)
{
	enum { LEAST_MS = 2000, TIMES = 2, MS = 1000000 };
	uint64_t bound = LEAST_MS + TIMES * (recorded_ns / MS);
	if (!s->timed && bound < s->replay.timeout_ms)
		s->replay.timeout_ms = (unsigned)bound;
}

static enum rt_status run(struct settings *s, const char *path, int *result, struct rt_error *err)
{
	struct rt_trace *trace;
	bool found = false;
	struct foreground_end end;
	uint64_t began = now_ns();
	if (s->replay.before && !runner_prepare(s->replay.before)) {
		*err = (struct rt_error){.status = RT_EINPUT, .told = true};
		return RT_EINPUT;
	}
	enum rt_status status = record(s, path, &end, err);
	if (status)
		return status;
	*result = WIFSIGNALED(end.status) ? 128 + WTERMSIG(end.status) : WEXITSTATUS(end.status);
	if (end.signal)
		bound_runs(s, now_ns() - began);
	/* It is to end soon: the report is all that is left to do. */
	s->no_confirm |= !s->time_ms && (end.signal == SIGTERM || end.signal == SIGHUP);
	if (access(path, R_OK) != 0) { /* `record` has said why */
		status = rt_error_set(err, RT_EINPUT, "there is no trace");
		err->told = !WIFSIGNALED(end.status);
		return status;
	}
	status = open_recorded(s, path, &trace, err);
	if (!status) {
		status = report(s, trace, &found, err);
		rt_trace_free(trace);
	}
	if (found)
		*result = EXIT_FOUND;
	return status;
}

int cmd_run(int argc, char **argv)
{
	static const struct argp_child children[] = {
	    {&cmd_reports_argp, 0, NULL, 0}, {&cmd_known_argp, 0, NULL, 0}, {0}};
	static const struct argp argp = {options, parse, "[--] PROGRAM [ARGUMENT...]", doc, children, NULL, NULL};
	char folder[SCRATCH_MAX] = "", path[512], input[4096];
	struct settings s = {.jobs = 1, .replay = replay_defaults};
	struct rt_error err = {0};
	int result = EXIT_INPUT;
	s.replay.time_limit_ms = 30000;
	cmd_parse(&argp, argc, argv, ARGP_IN_ORDER, &s);
	s.replay.program = s.command;
	s.replay.input = input_file(input, sizeof input);
	if (!s.trace && scratch_make(folder, &err))
		return cmd_fail(&err);
	snprintf(path, sizeof path, "%s/trace.zst", folder);
	enum rt_status status = run(&s, s.trace ? s.trace : path, &result, &err);
	scratch_remove(folder);
	cmd_known_release(&s.known);
	return status ? cmd_fail(&err) : result;
}
