/* The options of `racetrace record`. */
#ifndef CMD_RECORD_OPTIONS_H
#define CMD_RECORD_OPTIONS_H

#include "cmd/record/strategy.h"
#include "cmd/record/trigger.h"

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What sees the program's accesses. */
enum recorder {
	RECORDER_AUTO, /* the instrumentation of the program, or else Valgrind */
	RECORDER_TSAN,
	RECORDER_VALGRIND,
	RECORDER_SYNC /* nothing does */
};

/* The statuses of env and timeout. */
enum { EXIT_DEADLOCK = 124, EXIT_NOT_EXECUTABLE = 126, EXIT_NOT_FOUND = 127 };

struct record_options {
	const char *output;
	char **command;
	uint32_t ring_kib; /* KiB of ring a thread */
	uint64_t ring;     /* bytes of the trace, which is the last part of the run; 0: all of it */
	uint32_t threads;  /* alive at once */
	uint32_t exit_sleep_ms;
	uint32_t vary;   /* seed; 0: not */
	bool only_first; /* process */
	enum recorder recorder;
	bool sync_only;      /* after inspect: the program is uninstrumented, and its accesses are not recorded */
	bool preload;        /* the program may be uninstrumented: a library that it loads is instrumented */
	bool serial;         /* threads take turns */
	uint32_t seed;       /* by which they do */
	bool fix_time;       /* and clocks count them */
	bool spurious;       /* and waits for conditions may end by themselves */
	bool children;       /* and so do those of other processes */
	const char *outcome; /* file for what comes of it; NULL: none */
	struct strategy_options strategy;
	bool values;
	struct trigger trigger; /* ends of the program for which the trace is written */
	bool unkept;            /* the trace is about to be removed */
	pid_t pid;              /* process that is recorded for a while; 0: one is started */
	uint64_t time_ms;       /* it is recorded at most so long; 0: no limit */
	bool idle;              /* the program is only started, for --pid later */
	const char *plan;       /* file of the plan that they follow, and of what becomes of it; NULL: none */
	bool verbose;
	const char *other; /* an option that does not go with --pid and --idle; NULL: there is none */
};

/* The input is a struct record_options with the defaults; a wrong option ends the program with a message. */
extern const struct argp record_argp;

/* True with --strategy=native: the system decides which thread runs. */
bool record_is_native(const struct record_options *o);

#endif
