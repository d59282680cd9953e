/* racetrace explore: runs a program many times under a strategy, and reports what all the runs show. */
#include "cmd/explore/explore.h"
#include "cmd/base/known.h"

#include "cmd/base/command.h"
#include "cmd/base/interrupt.h"
#include "cmd/base/reports.h"
#include "cmd/base/setting.h"

#include <argp.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct explore_strategy strategies[] = {
    {"predict", "random", predict_next, NULL, predict_ended, predict_merged, predict_release},
    {"random", "random", NULL, NULL, NULL, NULL, NULL},
    {"native", NULL, NULL, NULL, NULL, NULL, NULL},
    {"racefuzzer", "random", racefuzzer_next, NULL, racefuzzer_ended, racefuzzer_merged, racefuzzer_release},
    {"systematic", "systematic", systematic_next, systematic_came, NULL, NULL, systematic_release},
    {"pct", "pct", learning_next, NULL, NULL, learning_merged, NULL},
    {"drfinder", "drfinder", learning_next, NULL, NULL, learning_merged, NULL},
    {"pos", "pos", NULL, NULL, NULL, NULL, NULL},
    {"noise", "noise", NULL, NULL, NULL, NULL, NULL},
    {"suspend", "suspend", NULL, NULL, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL, NULL, NULL},
};

enum {
	OPT_DEPTH = 256,
	OPT_STRATEGY,
	OPT_RUNS,
	OPT_TIME,
	OPT_SEED,
	OPT_TIMEOUT,
	OPT_BEFORE,
	OPT_INPUT,
	OPT_INPUTS,
	OPT_PAIRS,
	OPT_PREEMPTIONS,
	OPT_REDUCTION,
	OPT_SEARCH,
	OPT_TRACES,
	OPT_SOURCE_ROOT
};
enum { RUNS = 10 };

struct settings {
	struct explore_options explore;
	struct cmd_reports reports;
	char **program;
	bool runs_given;
	struct cmd_known known;
};

static const struct argp_option options[] = {
    {"before", OPT_BEFORE, "COMMAND", 0,
     "Let the shell do COMMAND before each run, such as to remove what the one before has written", 0},
    {"depth", OPT_DEPTH, "N", 0,
     "The depth of the bugs that pct aims at (3), or of the stacks that drfinder looks at (12)", 0},
    {"input", OPT_INPUT, "FILE", 0, "Let the program read FILE from standard input (/dev/null)", 0},
    {"inputs", OPT_INPUTS, "DIR", 0,
     "Explore the program with each file of DIR: as the argument @@, or else from standard input", 0},
    {"jobs", 'j', "N", 0, "Make N runs at once (1)", 0},
    {"pairs", OPT_PAIRS, "REPORT", 0, "With racefuzzer: aim at the anomalies of REPORT (JSON) alone", 0},
    {"preemptions", OPT_PREEMPTIONS, "N", 0,
     "With systematic: at most N times in an execution the turn is taken from a thread that could go on (any number)",
     0},
    {"reduction", OPT_REDUCTION, "WHAT", 0,
     "With systematic: threads change at each step (none), where others may notice (partial, the default), or not "
     "where "
     "a lock has protected the variable so far (full, which may miss races)",
     0},
    {"runs", OPT_RUNS, "N", 0, "Make at most N runs, of each input or test (10; systematic: all)", 0},
    {"search", OPT_SEARCH, "ORDER", 0, "With systematic: dfs (the default), bfs or random", 0},
    {"seed", OPT_SEED, "N", 0, "Seed of the first run; each further one has the next number (1)", 0},
    {"source-root", OPT_SOURCE_ROOT, "DIR", 0, "Show source lines of files below DIR too", 0},
    {"strategy", OPT_STRATEGY, "NAME", 0,
     "How the runs differ: predict (the default), random, native, racefuzzer, systematic, drfinder, pct, pos, noise, "
     "suspend",
     0},
    {"time", OPT_TIME, "TIME", 0, "End after this time, which inputs and tests share; the first run may take longer",
     0},
    {"timeout", OPT_TIMEOUT, "TIME", 0, "End a run after this time (20); it hangs, unless it makes progress", 0},
    {"traces", OPT_TRACES, "DIR", 0, "Keep in DIR the traces of the runs that the findings are shown of", 0},
    {0}};

static const char doc[] =
    "Runs PROGRAM again and again, each time with another order of its threads. Reports the concurrency bugs that the "
    "runs show or allow. Each run is recorded and analyzed; a finding that several have is one finding. Crashes, "
    "failed "
    "assertions, sanitizers' reports, hangs, and statuses that differ are findings too.\v"
    "An interrupt ends the exploration; the report is about the runs made so far. Exit status: 0 if no finding is an "
    "error, 1 if one is, 2 for wrong use, 3 if the program cannot be recorded.";

static const char *strategy_at(int i)
{
	return strategies[i].name;
}
static const char *reduction_at(int i)
{
	return i < EXECUTIONS_REDUCTIONS ? executions_reduction_name((enum executions_reduction)i) : NULL;
}
static const char *order_at(int i)
{
	return i < EXECUTIONS_ORDERS ? executions_order_name((enum executions_order)i) : NULL;
}

static const struct cmd_setting settings[] = {
    CMD_SETS_NUMBER(OPT_DEPTH, struct explore_options, depth, "a depth", 1, 64),
    CMD_SETS(OPT_INPUT, struct explore_options, input),
    CMD_SETS(OPT_INPUTS, struct explore_options, inputs),
    CMD_SETS(OPT_PAIRS, struct explore_options, pairs),
    CMD_SETS_NUMBER(OPT_PREEMPTIONS, struct explore_options, preemptions, "the number of preemptions", 0, 1000),
    CMD_SETS_NUMBER(OPT_SEED, struct explore_options, seed, "a seed", 1, UINT32_MAX),
    CMD_SETS(OPT_SOURCE_ROOT, struct explore_options, source_root),
    CMD_SETS(OPT_BEFORE, struct explore_options, before),
    CMD_SETS_TIME(OPT_TIME, struct explore_options, time_ms, "the time limit", false),
    CMD_SETS(OPT_TRACES, struct explore_options, traces),
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct settings *s = state->input;
	struct explore_options *o = &s->explore;
	if (cmd_set(settings, key, arg, state, o))
		return 0;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &s->reports;
		state->child_inputs[1] = &s->known;
		o->known = &s->known;
		return 0;
	case 'j':
		o->jobs = cmd_jobs(state, arg);
		return 0;
	case OPT_REDUCTION:
		o->reduction =
		    (enum executions_reduction)cmd_name(state, "a reduction", arg, strlen(arg), reduction_at);
		return 0;
	case OPT_SEARCH:
		o->order = (enum executions_order)cmd_name(state, "an order of search", arg, strlen(arg), order_at);
		return 0;
	case OPT_RUNS:
		s->runs_given = true;
		o->runs = cmd_number(state, "the number of runs", arg, 1, UINT32_MAX);
		return 0;
	case OPT_STRATEGY:
		o->strategy = &strategies[cmd_name(state, "a strategy", arg, strlen(arg), strategy_at)];
		return 0;
	case OPT_TIMEOUT:
		o->timeout_ms = cmd_timeout_ms(state, arg);
		return 0;
	default:
		return cmd_parse_program(key, state, &s->program);
	}
}

/* What the report does not say: runs that failed, or that could not be controlled. */
static void say_shortcomings(const struct exploring *x)
{
	if (x->stopped)
		fprintf(stderr, "racetrace: interrupted: the report is about %" PRIu32 " run%s\n", x->ended,
		        x->ended == 1 ? "" : "s");
	if (x->untried)
		fprintf(stderr, "racetrace: %" PRIu32 " of %" PRIu32 " %s were not run: there was no time left\n",
		        x->untried, x->explored, x->o.inputs ? "inputs" : "tests");
	if (x->slow)
		fprintf(stderr,
		        "racetrace: %" PRIu32 " of %" PRIu32
		        " runs were ended after %g s while they made progress: such "
		        "a run needs a larger --timeout, or less to do\n",
		        x->slow, x->ended, x->o.timeout_ms / 1000.0);
	if (x->failed)
		fprintf(stderr, "racetrace: %" PRIu32 " of %" PRIu32 " runs could not be recorded: %s\n", x->failed,
		        x->ended, x->failure);
	if (x->unkept)
		fprintf(stderr, "racetrace: %" PRIu32 " trace%s could not be kept: %s\n", x->unkept,
		        x->unkept == 1 ? "" : "s", x->why_unkept);
	if (x->uninstrumented[0])
		fprintf(
		    stderr,
		    "racetrace: '%s' is not instrumented: Valgrind runs it, which takes tens of times as long; gcc -g "
		    "-fsanitize=thread makes a program that is recorded faster, and more exactly\n",
		    x->uninstrumented);
	if (x->uncontrollable[0])
		fprintf(stderr, "racetrace: %s\n", x->uncontrollable);
	else if (x->uncontrolled)
		fprintf(stderr,
		        "racetrace: in %" PRIu32 " of %" PRIu32 " runs '%s' could not be run one thread at a time\n",
		        x->uncontrolled, x->ended, x->o.program[0]);
}

static enum rt_status write_report(struct settings *s, struct exploring *x, struct rt_error *err)
{
	enum rt_status status = merge_finish(&x->merge, err);
	if (!status && !merge_any_report(&x->merge) && x->stopped)
		return rt_error_set(err, RT_ESYSTEM, "interrupted before a run has ended: there is nothing to report");
	if (!status && !merge_any_report(&x->merge))
		return rt_error_set(err, RT_EINPUT, "no run could be recorded%s%s", x->failure[0] ? ": " : "",
		                    x->failure);
	say_shortcomings(x);
	if (!status && !(status = cmd_reports_write(&s->reports, cmd_merge_write, &x->merge, err)))
		cmd_known_warn(&s->known);
	return status;
}

int cmd_explore(int argc, char **argv)
{
	static const struct argp_child children[] = {
	    {&cmd_reports_argp, 0, NULL, 0}, {&cmd_known_argp, 0, NULL, 0}, {0}};
	static const struct argp argp = {options, parse, "[--] PROGRAM [ARGUMENT...]", doc, children, NULL, NULL};
	struct settings s = {.explore = {.strategy = &strategies[0],
	                                 .runs = RUNS,
	                                 .jobs = 1,
	                                 .seed = 1,
	                                 .timeout_ms = 20000,
	                                 .reduction = EXECUTIONS_PARTIAL,
	                                 .preemptions = UINT32_MAX}};
	struct sigaction old[INTERRUPTS];
	struct rt_error err = {0};
	cmd_parse(&argp, argc, argv, ARGP_IN_ORDER, &s);
	s.explore.program = s.program;
	if (s.explore.before) /* it is not to meet another run */
		s.explore.jobs = 1;
	if (s.explore.strategy->came && !s.runs_given) /* all executions */
		s.explore.runs = UINT32_MAX;
	struct exploring x = {.o = s.explore, .merge.one_build = true};
	enum rt_status status = cmd_reports_open(&s.reports, "text", &err);
	if (status)
		return cmd_fail(&err);
	const char *single = cmd_reports_single(&s.reports);
	if (single)
		status = rt_error_set(&err, RT_EUSAGE, "the format '%s' is of one trace, not of several runs", single);
	interrupt_take(old); /* until the report is written */
	if (!status)
		status = runner_keep_input(x.o.input, &err);
	if (!status)
		status = explore_targets(&x, &err);
	if (!status)
		status = write_report(&s, &x, &err);
	status = cmd_reports_close(&s.reports, status, &err);
	bool found = x.merge.levels[LEVEL_ERROR] != 0;
	explore_release(&x);
	interrupt_give(old);
	cmd_known_release(&s.known);
	return status ? cmd_fail(&err) : found ? EXIT_FOUND : EXIT_CLEAN;
}
