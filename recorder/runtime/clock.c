/* The recorder's clocks: the time stamp counter, where it is one clock for all processors, or the system's. */
#include "recorder/runtime/core.h"
#include "recorder/runtime/syscall.h"
#include "recorder/runtime/turn.h"

#include <cpuid.h>
#include <time.h>

bool rt_tsc;

/* No system call where the kernel has the time in the process's own memory. */
RT_NEXT(int, clock_gettime, (clockid_t clock, struct timespec *to));
static bool has_tsc;
uint64_t rt_now_slow(void)
{
	struct timespec t;

	if (rt_controlled || rt_watched)
		return 0;
	if (RT_UNLIKELY(rt_thread.timeless)) /* the last known time must do */
		return rt_channel ? atomic_load(&rt_channel->clock) : 0;
	if (has_tsc)
		return __builtin_ia32_rdtsc() >> 6;
	RT_REAL(clock_gettime)(CLOCK_MONOTONIC, &t); /* ours is recorded */
	return ((uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec) >> 5;
}

void rt_time_by_turns(bool is)
{
	rt_tsc = has_tsc && !is;
}

void rt_time_forbidden(void)
{
	rt_tsc = false; /* all threads go the slow way, where it is seen which one this is */
	rt_thread.timeless = true;
}

/* In a sandbox, which may forbid the system call of clock_gettime, the approximate time. 0: there is none. */
uint64_t rt_milliseconds(void)
{
	if (rt_thread.timeless)
		return 0;
	if (rt_guarded)
		return __builtin_ia32_rdtsc() >> 21; /* of 2.1 GHz */
	struct timespec t;
	RT_REAL(clock_gettime)(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* The time stamp counter is the same on all processors and runs on while they sleep. */
static bool invariant_tsc(void)
{
	unsigned a, b, c, d;

	return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & 1u << 8);
}

void rt_time_start(void)
{
	rt_tsc = has_tsc = invariant_tsc();
}
