/*
 * Calls that may block without being synchronisation: a time mark after each, so that what comes after is not taken for
 * as old as what went before. Those that read or write the caller's memory are in io.c and calls_*.c.
 */
#include "recorder/sync.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

#define BLOCKS(type, name, parameters, arguments)                                                                      \
	RT_INTERPOSE(type, name, parameters)                                                                           \
	{                                                                                                              \
		type result = RT_REAL(name) arguments;                                                                 \
		rt_emit_time();                                                                                        \
		return result;                                                                                         \
	}

BLOCKS(unsigned, sleep, (unsigned seconds), (seconds))
BLOCKS(int, usleep, (useconds_t microseconds), (microseconds))
BLOCKS(int, nanosleep, (const struct timespec *duration, struct timespec *remaining), (duration, remaining))
BLOCKS(int, clock_nanosleep, (clockid_t clock, int flags, const struct timespec *duration, struct timespec *remaining),
       (clock, flags, duration, remaining))
BLOCKS(int, sched_yield, (void), ())
BLOCKS(int, pause, (void), ())
BLOCKS(int, sigsuspend, (const sigset_t *set), (set))
BLOCKS(int, poll, (struct pollfd * fds, nfds_t n, int timeout), (fds, n, timeout))
BLOCKS(int, ppoll, (struct pollfd * fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask),
       (fds, n, timeout, mask))
BLOCKS(int, select, (int n, fd_set *r, fd_set *w, fd_set *e, struct timeval *timeout), (n, r, w, e, timeout))
BLOCKS(int, pselect, (int n, fd_set *r, fd_set *w, fd_set *e, const struct timespec *timeout, const sigset_t *mask),
       (n, r, w, e, timeout, mask))
BLOCKS(int, flock, (int fd, int operation), (fd, operation))
BLOCKS(int, lockf, (int fd, int command, off_t length), (fd, command, length))
BLOCKS(int, fsync, (int fd), (fd))
BLOCKS(int, fdatasync, (int fd), (fd))
