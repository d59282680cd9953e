/*
 * Time by turns. It passes with steps and quanta, and where all threads that are left pause it jumps to the end of the
 * first pause. So a wait may be over before its time. A program that looks at a clock is not to see that: its clocks
 * are ahead of the system's by what was skipped.
 */
#include "recorder/sched/sched.h"

#include "recorder/runtime/syscall.h"

uint64_t rt_sched_real_ns(clockid_t clock)
{
	struct timespec t = {0, 0};

	RT_SYSCALL(SYS_clock_gettime, clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#define SECOND_NS UINT64_C(1000000000)

/* Clocks that count from 1970 begin on a day in September 2001, others a while after the system's start. */
static uint64_t logical_ns(clockid_t clock)
{
	enum { DAY = 1000000000, WHILE = 1000 };
	bool since_1970 = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
	bool since_start = clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID;

	return rt_sched.now + (since_1970 ? DAY : since_start ? 0 : WHILE) * SECOND_NS;
}

static bool time_is_logical(void)
{
	return rt_sched.control->flags & RT_CONTROL_FIX_TIME;
}

/* By how much the program's clock is ahead, ns. */
static uint64_t skipped(clockid_t clock)
{
	bool of_processor = clock < 0 || clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID;

	return of_processor ? 0 : __atomic_load_n(&rt_sched.skipped, __ATOMIC_RELAXED);
}

static uint64_t program_ns(clockid_t clock)
{
	return rt_sched_real_ns(clock) + skipped(clock);
}

/* A wait that ends then is over now. */
static void skip_to(uint64_t due)
{
	uint64_t now = program_ns(CLOCK_MONOTONIC);

	if (due > now)
		__atomic_fetch_add(&rt_sched.skipped, due - now, __ATOMIC_RELAXED);
}

static void add_skipped(clockid_t clock, struct timespec *to)
{
	uint64_t ns = skipped(clock) + (uint64_t)to->tv_nsec;

	to->tv_sec += (time_t)(ns / SECOND_NS);
	to->tv_nsec = (long)(ns % SECOND_NS);
}

void rt_turn_clock(clockid_t clock, struct timespec *to)
{
	if (!rt_thread.task || !to)
		return;
	if (!time_is_logical()) {
		add_skipped(clock, to);
		return;
	}
	rt_busy_begin();
	rt_sched_lock();
	rt_sched_tick(RT_STEP_NS);
	uint64_t ns = logical_ns(clock);
	rt_sched_unlock();
	rt_busy_end();
	*to = (struct timespec){(time_t)(ns / SECOND_NS), (long)(ns % SECOND_NS)};
}

/*
 * How long a wait is to take. A program that waits until a time has computed it from the clock a moment ago, so what is
 * left is a little less than what it meant. Rounded up, equal runs have equal waits.
 */
static uint64_t duration(struct rt_until until)
{
	enum { FINE = 1000000, COARSE = 10000000 };
	uint64_t at = (uint64_t)until.time->tv_sec * 1000000000u + (uint64_t)until.time->tv_nsec, now, left;

	if (until.time->tv_sec < 0)
		return 0;
	if (until.clock == RT_CLOCK_DURATION)
		return at;
	if (time_is_logical()) {
		now = logical_ns(until.clock);
		return at > now ? at - now : 0;
	}
	now = program_ns(until.clock);
	left = at > now ? at - now : 0;
	uint64_t unit = left < 10 * (uint64_t)COARSE ? FINE : COARSE;
	return (left + unit - 1) / unit * unit;
}

void rt_sched_set_alarm(struct rt_task *t, struct rt_until until)
{
	t->timed_out = false;
	t->wakes = t->wakes_real = 0;
	if (!until.time)
		return;
	uint64_t ns = duration(until);
	t->wakes = rt_sched.now + ns + 1;
	t->wakes_real = rt_sched_real_ns(CLOCK_MONOTONIC) + ns;
	t->due = t->wakes_real + rt_sched.skipped;
}

void rt_sched_skip(struct rt_until until)
{
	if (!time_is_logical())
		skip_to(program_ns(CLOCK_MONOTONIC) + duration(until));
}

void rt_sched_unblock(struct rt_task *t)
{
	t->state = RT_READY;
	t->waits = 0;
	t->wakes = 0;
	rt_sched.blocked--;
	rt_sched.polling -= t->fds || t->shares;
	t->fds = NULL;
	t->shares = false;
}

static void time_is_up(struct rt_task *t)
{
	rt_sched_unblock(t);
	t->timed_out = true;
	rt_sched.naps++;
	if (!time_is_logical())
		skip_to(t->due);
}

bool rt_sched_tick(uint64_t ns)
{
	uint64_t next = UINT64_MAX;
	bool any = false;

	rt_sched.now += ns;
	if (RT_UNLIKELY(rt_sched.now < rt_sched.next_wake))
		return false;
	if (rt_sched.next_wake == UINT64_MAX)
		return false;
	for (struct rt_task *t = rt_sched.first; t; t = t->after) {
		if (t->state != RT_BLOCKED || !t->wakes)
			continue;
		if (t->wakes <= rt_sched.now) {
			time_is_up(t);
			any = true;
		} else if (t->wakes < next) {
			next = t->wakes;
		}
	}
	rt_sched.next_wake = next;
	return any;
}

/*
 * True if all that waits for a time is the end of the process, and all that is outside sleeps in a library's pool of
 * threads, as libgomp's do, where only this process gives them work.
 */
static bool only_lingers(void)
{
	for (const struct rt_task *t = rt_sched.first; t; t = t->after)
		if ((t->state == RT_OUTSIDE && (!t->roams || t->unsettled || t->computed)) ||
		    (t->state == RT_BLOCKED && t->wakes && !t->lingers))
			return false;
	return true;
}

/*
 * Time passes until the first wait ends; not if what is outside may come back first. next_wake may be that of a wait
 * which has ended otherwise: then no wait ends at that time, and the next one is tried.
 */
bool rt_sched_jump(void)
{
	if (rt_sched.foreign || rt_sched.polling || (rt_sched.outside && !only_lingers()))
		return false;
	while (rt_sched.next_wake != UINT64_MAX)
		if (rt_sched_tick(rt_sched.next_wake > rt_sched.now ? rt_sched.next_wake - rt_sched.now : 0))
			return true;
	return false;
}
