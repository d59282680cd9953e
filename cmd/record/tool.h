/* The Valgrind tool that runs a program without instrumentation (recorder/valgrind). */
#ifndef CMD_RECORD_TOOL_H
#define CMD_RECORD_TOOL_H

#include "lib/base/error.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Threads that the tool has room for at once. Each costs it 7 KB of memory, whether it is there or not, and Valgrind
 * can map memory for 7,400.
 */
#define TOOL_THREADS 6000

struct tool {
	char *path;           /* of the tool; NULL: there is none */
	char **argv;          /* its command line, the program's behind its own options */
	char *shell;          /* what a shell has to do to execute something by the tool; NULL: it cannot be told */
	const char *launcher; /* Valgrind's, by which the tool runs what the program executes; NULL: it is not there */
};

/* Finds the tool. It may be missing where racetrace was built without Valgrind's files: the error says what to do then.
 */
enum rt_status tool_find(struct tool *t, const char *program, struct rt_error *err);
struct tool_program {
	const char *path;
	char **command;
	bool turns; /* its threads take turns */
};
/* Makes the command line, which keeps pointers to the program's. */
enum rt_status tool_prepare(struct tool *t, const struct tool_program *program, struct rt_error *err);
void tool_release(struct tool *t);

#endif
