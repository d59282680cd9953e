/* Names of traces: the argument of -o, with its % sequences replaced. */
#ifndef RECORDER_COLLECTOR_NAME_H
#define RECORDER_COLLECTOR_NAME_H

#include "lib/base/error.h"

#include <sys/types.h>

/*
 * The name for a process's trace; the caller owns *name. %p: number of the process; %n: base name of the program; %t:
 * the local time of the call, YYYYMMDD-HHMMSS; %q{VAR}: the environment variable, nothing if it is not set; %%: a %.
 * RT_EUSAGE for any other sequence.
 */
enum rt_status name_expand(const char *pattern, pid_t pid, const char *program, char **name, struct rt_error *err);

/* True if the pattern names each process's trace differently. */
bool name_has_process(const char *pattern);

#endif
