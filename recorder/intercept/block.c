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

/* A call that threads which take turns do in a way of their own. */
#define CALL_BY_TURNS(type, name, parameters, arguments, before, after, turns)                                         \
	RT_INTERPOSE(type, name, parameters)                                                                           \
	{                                                                                                              \
		const uintptr_t pc = RT_PC;                                                                            \
		(void)pc;                                                                                              \
		before;                                                                                                \
		AWAITS(TIME);                                                                                          \
		type r = RT_CANCELABLE(type, pc, rt_turn_mine() ? (turns) : RT_REAL(name) arguments);                  \
		rt_call_over();                                                                                        \
		after;                                                                                                 \
		return r;                                                                                              \
	}

static int sleep_by_turns(clockid_t clock, const struct timespec *time, uintptr_t pc)
{
	rt_testcancel(pc);
	rt_turn_sleep(RT_UNTIL(clock, time), pc);
	rt_testcancel(pc);
	return 0;
}

static int yield_by_turns(uintptr_t pc)
{
	rt_turn_yield(pc);
	return 0;
}

/* A pause without time lets other threads run. */
static int usleep_by_turns(useconds_t us, uintptr_t pc)
{
	enum { SECOND_US = 1000000 };
	struct timespec t = {us / SECOND_US, (long)(us % SECOND_US) * 1000};
	return us ? sleep_by_turns(RT_CLOCK_DURATION, &t, pc) : yield_by_turns(pc);
}

static bool is_time(const struct timespec *t)
{
	enum { SECOND_NS = 1000000000 };
	return t && t->tv_sec >= 0 && t->tv_nsec >= 0 && t->tv_nsec < SECOND_NS;
}

CALL_BY_TURNS(unsigned, sleep, (unsigned seconds), (seconds), , BLOCKS,
              (unsigned)sleep_by_turns(RT_CLOCK_DURATION, &(struct timespec){seconds, 0}, pc))
CALL_BY_TURNS(int, usleep, (useconds_t microseconds), (microseconds), , BLOCKS, usleep_by_turns(microseconds, pc))
CALL_BY_TURNS(int, nanosleep, (const struct timespec *duration, struct timespec *rest), (duration, rest), IN(duration),
              BLOCKS;
              if (r == -1 && errno == EINTR) OUT(rest),
              is_time(duration) ? sleep_by_turns(RT_CLOCK_DURATION, duration, pc) : RT_REAL(nanosleep)(duration, rest))
CALL_BY_TURNS(int, clock_nanosleep,
              (clockid_t clock, int flags, const struct timespec *duration, struct timespec *rest),
              (clock, flags, duration, rest), IN(duration), BLOCKS;
              if (r == EINTR && !(flags & TIMER_ABSTIME)) OUT(rest),
              is_time(duration) ? sleep_by_turns(flags &TIMER_ABSTIME ? clock : RT_CLOCK_DURATION, duration, pc)
                                : RT_REAL(clock_nanosleep)(clock, flags, duration, rest))
CALL_BY_TURNS(int, sched_yield, (void), (), , BLOCKS, yield_by_turns(pc))
CALL(int, pause, (void), (), LEAVES; AWAITS(SIGNAL), RETURNS; BLOCKS)
CALL(int, sigsuspend, (const sigset_t *set), (set), IN(set); LEAVES; AWAITS(SIGNAL), RETURNS; BLOCKS)
CALL(int, lockf, (int fd, int command, off_t length), (fd, command, length), LEAVES;
     rt_call_begins(RT_CALL_FILE_LOCK, fd, 0, 0, RT_CALL_NO_HOLDER, pc), RETURNS; BLOCKS)
CALL(int, fsync, (int fd), (fd), , BLOCKS)
CALL(int, fdatasync, (int fd), (fd), , BLOCKS)
