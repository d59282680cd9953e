/* Options of racetrace record; see options.h. */
#include "cmd/record/options.h"

#include "cmd/base/command.h"
#include "cmd/base/setting.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

enum {
	OPTION_NO_CHILDREN = 256,
	OPTION_SYNC_ONLY,
	OPTION_EXIT_SLEEP,
	OPTION_VARY,
	OPTION_PRELOAD,
	OPTION_FIX_TIME,
	OPTION_OUTCOME,
	OPTION_SERIAL,
	OPTION_PLAN,
	OPTION_UNKEPT,
	OPTION_VALUES,
	OPTION_STRATEGY,
	OPTION_PATTERN,
	OPTION_AT,
	OPTION_DEPTH,
	OPTION_LEARN,
	OPTION_CHILDREN,
	OPTION_SPURIOUS,
	OPTION_RECORDER,
	OPTION_RING,
	OPTION_TRIGGER,
	OPTION_PID,
	OPTION_TIME,
	OPTION_IDLE
};

static const char *const recorder_names[] = {"auto", "tsan", "valgrind", "sync", NULL};
static const char *const children_names[] = {"free", "controlled", NULL};

static uint32_t random_seed(void)
{
	uint32_t seed = 0;
	while (!seed)
		if (getrandom(&seed, sizeof seed, 0) < 0)
			seed = (uint32_t)getpid();
	return seed;
}

bool record_is_native(const struct record_options *o)
{
	return o->strategy.name && strcmp(o->strategy.name, STRATEGY_NATIVE) == 0;
}

static uint64_t parse_ring(struct argp_state *state, const char *arg)
{
	enum { LEAST = 64 << 10 };
	uint64_t size = cmd_size(arg);
	if (size < LEAST)
		argp_error(state, "the size of a --ring must be at least 64K, such as 16M or 1G, not '%s'", arg);
	return size;
}

/* Options that need others. */
static void check_control(struct argp_state *state, struct record_options *o)
{
	const char *needs = o->fix_time                                ? "--fix-time"
	                    : o->spurious                              ? "--spurious"
	                    : o->children                              ? "--children=controlled"
	                    : strategy_has_aims(&o->strategy)          ? "each of --pattern, --at, --depth and --learn"
	                    : o->outcome && !record_is_native(o)       ? "--outcome"
	                    : o->strategy.name && !record_is_native(o) ? "--strategy"
	                                                               : NULL;
	if (needs && !o->serial)
		argp_error(state, "%s needs --serial", needs);
	if (record_is_native(o) && o->serial)
		argp_error(state,
		           "the threads of a --serial run do not run as they come: --strategy=native is without it");
}

/* A process is recorded that runs already: it has no options of a start. */
static void check_pid(struct argp_state *state, const struct record_options *o)
{
	const char *how = o->pid ? "--pid" : o->idle ? "--idle" : NULL;
	if (o->pid && o->idle)
		argp_error(state, "--idle starts a program, and --pid records one that runs");
	if (o->pid && o->command)
		argp_error(state, "--pid records a process that runs: no program is started");
	if (how && o->other)
		argp_error(state, "%s does not go with %s", o->other, how);
	if (o->pid && o->trigger.kind && o->trigger.kind != TRIGGER_FINDING)
		argp_error(state,
		           "of --trigger only finding goes with --pid: a process's parent alone is told its status");
	if (o->idle && o->trigger.kind)
		argp_error(state, "--trigger does not go with --idle");
	if (o->time_ms && !o->pid)
		argp_error(state, "--time needs --pid");
}

/* The name of an option that is about a program's start or its order. */
static const char *name_of_other(int key)
{
	static const int fine[] = {'o', 'v', OPTION_RING, OPTION_TRIGGER, OPTION_PID, OPTION_TIME, OPTION_IDLE};
	static char name[32];
	for (size_t i = 0; i < sizeof fine / sizeof *fine; i++)
		if (fine[i] == key)
			return NULL;
	for (const struct argp_option *a = record_argp.options; a->name; a++)
		if (a->key == key) {
			snprintf(name, sizeof name, "--%s", a->name);
			return name;
		}
	return NULL;
}

static const struct cmd_setting settings[] = {
    CMD_SETS('o', struct record_options, output),
    CMD_SETS_NUMBER('t', struct record_options, threads, "the number of threads", 1, 1 << 20),
    CMD_SETS_NUMBER(OPTION_EXIT_SLEEP, struct record_options, exit_sleep_ms, "the time to sleep at exit", 0, INT32_MAX),
    CMD_SETS_TIME(OPTION_TIME, struct record_options, time_ms, "the time", false),
    CMD_SETS(OPTION_IDLE, struct record_options, idle),
    CMD_SETS(OPTION_UNKEPT, struct record_options, unkept),
    CMD_SETS(OPTION_OUTCOME, struct record_options, outcome),
    CMD_SETS(OPTION_FIX_TIME, struct record_options, fix_time),
    CMD_SETS_NUMBER(OPTION_DEPTH, struct record_options, strategy.depth, "a depth", 1, 64),
    CMD_SETS(OPTION_SPURIOUS, struct record_options, spurious),
    CMD_SETS(OPTION_NO_CHILDREN, struct record_options, only_first),
    CMD_SETS(OPTION_PRELOAD, struct record_options, preload),
    CMD_SETS(OPTION_VALUES, struct record_options, values),
    CMD_SETS('v', struct record_options, verbose),
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct record_options *o = state->input;
	o->other = o->other ? o->other : name_of_other(key);
	if (cmd_set(settings, key, arg, state, o))
		return 0;
	switch (key) {
	case 'r':
		o->ring_kib = cmd_number(state, "the size of a ring", arg, 4, 1 << 20);
		if (o->ring_kib & (o->ring_kib - 1))
			argp_error(state, "the size of a ring must be a power of two, not '%s'", arg);
		return 0;
	case OPTION_RING:
		o->ring = parse_ring(state, arg);
		return 0;
	case OPTION_PID:
		o->pid = (pid_t)cmd_number(state, "a process id", arg, 1, INT32_MAX);
		return 0;
	case OPTION_TRIGGER:
		if (!trigger_parse(arg, &o->trigger))
			argp_error(state,
			           "a --trigger is failure, exit, exit=STATUS, signal, signal=NAME, finding or "
			           "finding=LEVEL, not '%s'",
			           arg);
		return 0;
	case OPTION_VARY:
		o->vary = arg ? cmd_number(state, "a seed", arg, 1, UINT32_MAX) : random_seed();
		return 0;
	case OPTION_SERIAL:
		o->serial = true;
		o->values = true;
		o->seed = arg ? cmd_number(state, "a seed", arg, 0, UINT32_MAX) : 1;
		return 0;
	case OPTION_PLAN:
		o->plan = arg;
		o->serial = true;
		o->seed = o->seed ? o->seed : 1;
		return 0;
	case OPTION_STRATEGY:
		strategy_take_name(state, &o->strategy, arg);
		return 0;
	case OPTION_PATTERN:
		strategy_take_pattern(state, &o->strategy, arg);
		return 0;
	case OPTION_AT:
		strategy_take_place(state, &o->strategy, arg);
		return 0;
	case OPTION_LEARN:
		strategy_take_outcome(state, &o->strategy, arg);
		return 0;
	case OPTION_CHILDREN:
		o->children = cmd_word(state, "a way to run children", children_names, arg) > 0;
		return 0;
	case OPTION_SYNC_ONLY:
		o->recorder = RECORDER_SYNC;
		return 0;
	case OPTION_RECORDER:
		o->recorder = (enum recorder)cmd_word(state, "a recorder", recorder_names, arg);
		return 0;
	case ARGP_KEY_END:
		check_pid(state, o);
		check_control(state, o);
		return 0;
	case ARGP_KEY_NO_ARGS:
		if (o->pid)
			return 0;
		return cmd_parse_program(key, state, &o->command);
	default:
		return cmd_parse_program(key, state, &o->command);
	}
}

static const struct argp_option option_table[] = {
    {"output", 'o', "FILE", 0,
     "Write the trace to FILE (trace.zst); in FILE, %p is the process id, %n the program's name, %t the time, %q{VAR} "
     "an environment variable",
     0},
    {"at", OPTION_AT, "POSITION", 0,
     "With --serial: plain accesses at POSITION may be where another thread goes on, and a strategy aims at it; "
     "MODULE+OFFSET, for a sequence ROLE/LOCATION:MODULE+OFFSET, or all",
     0},
    {"children", OPTION_CHILDREN, "HOW", 0,
     "With --serial: let forked processes and executed programs run free (the default) or controlled, each by itself",
     0},
    {"depth", OPTION_DEPTH, "N", 0,
     "With --serial: the depth of the bugs that pct aims at (3), or of the stacks that drfinder looks at (12)", 0},
    {"exit-sleep", OPTION_EXIT_SLEEP, "MS", 0,
     "When main returns or exit() is called, let the other threads run for at most MS milliseconds (1000)", 0},
    {"fix-time", OPTION_FIX_TIME, NULL, 0,
     "With --serial: start the clocks at the same time in each run; they go on with what the threads do", 0},
    {"idle", OPTION_IDLE, NULL, 0,
     "Start PROGRAM with the recorder idle, in place of this command: --pid records it later", 0},
    {"learn", OPTION_LEARN, "OUTCOME", 0,
     "With --serial: the strategy learns from an earlier run, of which this is the --outcome", 0},
    {"no-children", OPTION_NO_CHILDREN, NULL, 0, "Record the first process only", 0},
    {"unkept", OPTION_UNKEPT, NULL, OPTION_HIDDEN, "The trace is about to be removed: its path is not printed", 0},
    {"plan", OPTION_PLAN, "FILE", OPTION_HIDDEN, "Let the threads take the turns of FILE, which gets the outcome", 0},
    {"outcome", OPTION_OUTCOME, "FILE", 0,
     "With --serial: write how the run ended, and each change of threads, to FILE (JSON)", 0},
    {"pattern", OPTION_PATTERN, "PATTERN", 0,
     "With --serial: what racefuzzer makes of the positions: a race, a sequence or a deadlock (race)", 0},
    {"pid", OPTION_PID, "PID", 0,
     "Record process PID, which was started with --idle (RACETRACE=idle), until it ends, an interrupt or --time", 0},
    {"preload", OPTION_PRELOAD, NULL, 0, "Record the instrumented libraries that an uninstrumented program loads", 0},
    {"recorder", OPTION_RECORDER, "NAME", 0,
     "Record by instrumentation ('tsan'), by Valgrind, which sees the accesses of any program and is slower "
     "('valgrind'), or synchronisation alone ('sync'); 'auto' (the default) is 'tsan' for a program that is "
     "instrumented, and else 'valgrind'",
     0},
    {"ring", OPTION_RING, "SIZE", 0,
     "Write the last part of the run alone, about SIZE bytes (64K, 16M, 1G): it is kept in memory until the end", 0},
    {"ring-size", 'r', "KIB", 0, "Buffer of each thread in KiB, a power of two (256)", 0},
    {"serial", OPTION_SERIAL, "SEED", OPTION_ARG_OPTIONAL,
     "Run one thread at a time, in an order that SEED (1) decides: the trace's order is exact, and the same SEED gives "
     "the same run",
     0},
    {"spurious", OPTION_SPURIOUS, NULL, 0,
     "With --serial: let waits for conditions sometimes end without a signal, as they may", 0},
    {"strategy", OPTION_STRATEGY, "NAME", 0,
     "With --serial: how SEED decides (random): random, noise, suspend, pct, pos, coverage, racefuzzer or drfinder; "
     "without it: native",
     0},
    {"sync-only", OPTION_SYNC_ONLY, NULL, 0,
     "Record the synchronisation of an uninstrumented program, without its accesses: --recorder=sync", 0},
    {"threads", 't', "N", 0, "Record at most N threads at the same time (32768)", 0},
    {"time", OPTION_TIME, "TIME", 0, "With --pid: record for at most TIME", 0},
    {"trigger", OPTION_TRIGGER, "END", 0,
     "Write the trace only if the program ends so: failure, exit or exit=STATUS (without it: not 0), signal or "
     "signal=NAME; or keep it only if an analysis has a finding: finding or finding=LEVEL (error)",
     0},
    {"values", OPTION_VALUES, NULL, 0, "Record the values that accesses read and wrote, which proves more", 0},
    {"vary", OPTION_VARY, "SEED", OPTION_ARG_OPTIONAL,
     "Start each new thread early or late, as SEED decides (a random one), for a different run", 0},
    {"verbose", 'v', NULL, 0, "Print how much was recorded", 0},
    {0},
};
static const char doc[] =
    "Runs a program and writes a trace of it.\v"
    "The program is found by PATH. It keeps its input, output, arguments, environment, working folder and "
    "signals. Each process that it forks, and each instrumented program that it executes, gets a separate "
    "trace: FILE.PID. While another recording writes FILE, a number is added to the name. The recording lasts "
    "until all these processes have ended, or until it is interrupted.\n\n"
    "The exit status is the program's. If a signal ends the program, the same signal ends this command. "
    "Otherwise: 2 for wrong use, 3 if the program cannot be recorded or the trace cannot be created, 124 if "
    "the threads of a --serial run are deadlocked, 126 if the program cannot be executed, 127 if it is not found.";

const struct argp record_argp = {option_table, parse, "[--] PROGRAM [ARGUMENT...]\n--pid=PID", doc, NULL, NULL, NULL};
