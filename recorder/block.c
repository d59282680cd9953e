/*
 * Calls that may block without being synchronisation: a time mark after each, so that what comes after is not taken for
 * as old as what went before. Others that read or write the caller's memory are in io.c, stdio.c and calls_*.c.
 */
#include "recorder/call.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/select.h>
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
CALL(int, flock, (int fd, int operation), (fd, operation), , BLOCKS)
CALL(int, lockf, (int fd, int command, off_t length), (fd, command, length), , BLOCKS)
CALL(int, fsync, (int fd), (fd), , BLOCKS)
CALL(int, fdatasync, (int fd), (fd), , BLOCKS)

/* What is waited for is read, what came is written. */
static void polls(unsigned op, const struct pollfd *fds, nfds_t n, uintptr_t pc)
{
	for (nfds_t i = 0; i < n && rt_recording(); i++)
		if (op == RT_OP_READ)
			IN_N(&fds[i], offsetof(struct pollfd, revents));
		else
			OUT(&fds[i].revents);
}
CALL(int, poll, (struct pollfd * fds, nfds_t n, int timeout), (fds, n, timeout), polls(RT_OP_READ, fds, n, pc), BLOCKS;
     if (r >= 0) polls(RT_OP_WRITE, fds, n, pc))
CALL(int, ppoll, (struct pollfd * fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask),
     (fds, n, timeout, mask), polls(RT_OP_READ, fds, n, pc);
     IN(timeout); IN(mask), BLOCKS; if (r >= 0) polls(RT_OP_WRITE, fds, n, pc))
/* Bytes of a set that are looked at: whole words. */
static size_t set_size(int n)
{
	return n > 0 ? ((size_t)n + NFDBITS - 1) / NFDBITS * sizeof(fd_mask) : 0;
}
#define SETS(access)                                                                                                   \
	access(read, set_size(n));                                                                                     \
	access(written, set_size(n));                                                                                  \
	access(failed, set_size(n))
CALL(int, select, (int n, fd_set *read, fd_set *written, fd_set *failed, struct timeval *timeout),
     (n, read, written, failed, timeout), SETS(IN_N);
     IN(timeout), BLOCKS; WHEN(r >= 0, SETS(OUT_N); OUT(timeout)))
CALL(int, pselect,
     (int n, fd_set *read, fd_set *written, fd_set *failed, const struct timespec *timeout, const sigset_t *mask),
     (n, read, written, failed, timeout, mask), SETS(IN_N);
     IN(timeout); IN(mask), BLOCKS; WHEN(r >= 0, SETS(OUT_N)))
