/*
 * A run in the foreground: with this process's streams, and for as long as it takes. Signals that other processes send
 * to this one are passed on; those of the terminal reach the run by themselves. If it does not end then, a second one
 * kills what it has made. When it has ended, so do all processes that it has left.
 */
#ifndef CMD_TRY_FOREGROUND_H
#define CMD_TRY_FOREGROUND_H

#include "lib/base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct foreground_end {
	int status; /* as from waitpid */
	int signal; /* the first one that was to end it, of the time that was up SIGTERM; 0: none */
};

/*
 * argv is a command of this program, which passes signals on to the program that it runs, and writes what it has when
 * that is killed. name: of that program, for messages. limit_ms: it gets SIGTERM after so long; 0: never.
 */
enum rt_status foreground_run(char *const *argv, const char *name, uint64_t limit_ms, struct foreground_end *end,
                              struct rt_error *err);

#endif
