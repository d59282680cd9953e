/*
 * Seccomp filters of the recorded program that the recorder cannot see: installed by a system call instruction in the
 * program's own code. Such programs are known by their code, and are asked after while they run.
 */
#ifndef RECORDER_COLLECTOR_CONFINE_H
#define RECORDER_COLLECTOR_CONFINE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* By which calls the code of the module at this path may install a filter without the C library: a set of
 * RT_MAY_CONFINE. Empty also if the file cannot be read or belongs to the C library or the compiler's runtime; only the
 * first 64 MiB of code are looked at. */
uint32_t confine_may(const char *path);

/* The number of filters that this process runs under; RT_FILTERS_UNKNOWN without /proc. */
uint32_t confine_own(void);
/* The same of another process's main thread. */
uint32_t confine_of(pid_t pid);

/* True if the thread has more filters than this, or if that cannot be determined. Where it has another number here, in
 * a PID namespace, that is asked of all threads of the process. */
bool confine_is(pid_t pid, pid_t tid, uint32_t filters);

#endif
