/*
 * Calls that may block without being synchronisation: a time mark after each, so that what comes after is not taken for
 * as old as what went before. Others that read or write the caller's memory are in kernel_calls.h, stdio.c and
 * calls_*.c.
 */
#include "recorder/intercept/call.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

CALL(unsigned, sleep, (unsigned seconds), (seconds), , BLOCKS)
CALL(int, usleep, (useconds_t microseconds), (microseconds), , BLOCKS)
CALL(int, nanosleep, (const struct timespec *duration, struct timespec *rest), (duration, rest), IN(duration), BLOCKS;
     if (r == -1 && errno == EINTR) OUT(rest))
CALL(int, clock_nanosleep, (clockid_t clock, int flags, const struct timespec *duration, struct timespec *rest),
     (clock, flags, duration, rest), IN(duration), BLOCKS;
     if (r == EINTR && !(flags & TIMER_ABSTIME)) OUT(rest))
CALL(int, sched_yield, (void), (), , BLOCKS)
CALL(int, pause, (void), (), , BLOCKS)
CALL(int, sigsuspend, (const sigset_t *set), (set), IN(set), BLOCKS)
CALL(int, lockf, (int fd, int command, off_t length), (fd, command, length), , BLOCKS)
CALL(int, fsync, (int fd), (fd), , BLOCKS)
CALL(int, fdatasync, (int fd), (fd), , BLOCKS)
