/*
 * Runs of a program that end, whatever it does: within a time, with all processes that it has made, and with as much of
 * its output as is wanted.
 *
 * Each run has a process of its own that looks after it, the keeper. It is the subreaper of all that the program makes,
 * so that a daemon is still its descendant. It ends them by their numbers, also when it is told to end or when its
 * parent dies. Runs are independent of one another: any number of them may be under way.
 */
#ifndef CMD_TRY_RUNNER_H
#define CMD_TRY_RUNNER_H

#include "lib/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Bytes that are kept of what a run writes to a stream: the first ones. */
enum { RUN_OUTPUT_KEPT = 16384 };

struct run_options {
	char *const *argv;   /* found by PATH */
	const char *input;   /* what standard input is read from; NULL: /dev/null */
	const char *before;  /* what the shell does before it, within the same time; NULL: nothing */
	unsigned timeout_ms; /* of the run */
	unsigned grace_ms;   /* then everything but argv's own process is killed, which gets so long to end by itself */
	const char *growing; /* a file that grows while the program does something; NULL: none */
	bool terminal;       /* its output is not taken, it has the caller's streams */
};

enum run_end_kind { RUN_EXITED, RUN_SIGNALED, RUN_TIMEOUT, RUN_INTERRUPTED, RUN_NOT_STARTED };

struct run_output {
	uint64_t bytes;  /* written in all */
	uint64_t digest; /* of all of them, XXH64 */
	uint32_t kept;   /* bytes of text */
	char text[RUN_OUTPUT_KEPT];
};

struct run_end {
	enum run_end_kind kind;
	int value; /* status or signal of argv's own process; of NOT_STARTED errno */
	uint64_t duration_ns;
	bool grew; /* TIMEOUT: the file did late in the time */
	struct run_output out, err;
};

struct runner;

/* True if the shell did the command of --before; otherwise that was said. What it prints to standard output is dropped.
 */
bool runner_prepare(const char *command);
/*
 * An input of runs that can be read once, "-" or a pipe, is kept until this process ends: each run that is given the
 * same pointer reads all of it. There is one such input. NULL: none.
 */
enum rt_status runner_keep_input(const char *path, struct rt_error *err);
/* Starts a run. On RT_OK *out is owned by the caller. */
enum rt_status runner_start(const struct run_options *options, struct runner **out, struct rt_error *err);
/* Readable when runner_ended has something to do. */
int runner_fd(const struct runner *r);
/* How the run has ended, borrowed; NULL: it has not yet. Does not wait. */
const struct run_end *runner_ended(struct runner *r);
/* Waits for its end. */
const struct run_end *runner_wait(struct runner *r);
/* The first line that racetrace itself has written to standard error, without "racetrace: ", borrowed; NULL: none. */
const char *run_own_line(const struct run_end *end, size_t *length);
/* Ends the run if it has not ended. NULL is allowed. */
void runner_free(struct runner *r);

#endif
