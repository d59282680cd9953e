/*
 * Threads that have just gone outside. A call that may block mostly comes back at once, or wakes another thread that
 * is outside, as in libgomp. If others got the turn at once, the moment at which it comes back would decide the run. So
 * no thread has the turn until all that may be on their way are back, or sleep in the kernel.
 *
 * The same after an operation that may have woken one that slept there, before the next step of the thread that did it.
 *
 * A thread that comes back first gives the turn itself if no other is on its way. Otherwise the watcher looks. A thread
 * sleeps if the kernel says so twice, and that it has not run in between: a wake-up that is under way is seen then.
 */
#include "recorder/sched/sched.h"

#include "recorder/confined.h"
#include "recorder/runtime/text.h"

/* Of processor time: a thread that has had more of it computes. Where that is not known, and of real time in any case:
 * it is as with any other thread that is outside then. */
#define RUN_LIMIT_NS UINT64_C(50000000)
#define UNKNOWN_LIMIT_NS UINT64_C(100000000)
#define LIMIT_NS UINT64_C(5000000000)

static bool read_about(int32_t tid, const char *file, char *text, size_t size)
{
	char name[64];

	rt_append_text(rt_append_number(rt_append_text(name, "/proc/self/task/"), (uint64_t)tid), file);
	return rt_read_file(name, text, size);
}

char rt_sched_look_at(int32_t tid, uint64_t *times)
{
	static char text[RT_STATUS_MAX]; /* under the lock */

	if (!read_about(tid, "/status", text, sizeof text))
		return 0;
	const char *count = times ? rt_status_text(text, "voluntary_ctxt_switches:") : NULL;
	if (times)
		*times = rt_status_number(count);
	return times && !*count ? 0 : *rt_status_text(text, "State:");
}

uint64_t rt_sched_ran(int32_t tid)
{
	char text[64];

	return read_about(tid, "/schedstat", text, sizeof text) ? rt_status_number(text) : 0;
}

static bool is_on_its_way(const struct rt_task *t)
{
	return t->state == RT_OUTSIDE && t->unsettled;
}

bool rt_sched_is_settling(void)
{
	if (!rt_sched.settling)
		return false;
	for (const struct rt_task *t = rt_sched.first; t; t = t->after)
		if (is_on_its_way(t))
			return true;
	rt_sched.settling = false;
	return false;
}

void rt_sched_goes_outside(struct rt_task *t)
{
	bool wakes = t->roams || t->woke;

	t->state = RT_OUTSIDE;
	t->unsettled = true;
	t->woke = false;
	rt_sched.outside++;
	for (struct rt_task *other = rt_sched.first; other; other = other->after) {
		other->unsettled |= wakes && other->state == RT_OUTSIDE;
		other->slept = 0;
		other->ran = 0;
	}
	rt_sched.settling = true;
	rt_sched.left = t;
	rt_sched.settles_since = rt_sched_real_ns(CLOCK_MONOTONIC);
	rt_sched_give(NULL);
	rt_sched_watch();
}

void rt_turn_woke(void)
{
	if (rt_thread.task && rt_sched.outside)
		rt_thread.task->woke = true;
}

bool rt_sched_settle(struct rt_task *t)
{
	/* Even if all are back by now: that must not decide which way this goes. */
	if (!t->woke || rt_sched.holder != t)
		return false;
	rt_sched_goes_outside(t);
	rt_sched_lock();
	rt_sched_queue(t);
	return true;
}

/* True if the thread, which is awake, is not waited for any longer. */
static bool computes(struct rt_task *t, uint64_t real)
{
	uint64_t ran = t->tid ? rt_sched_ran(t->tid) : 0;

	if (!ran)
		return real >= (t->tid ? UNKNOWN_LIMIT_NS : LIMIT_NS);
	if (!t->ran)
		t->ran = ran;
	return ran - t->ran >= RUN_LIMIT_NS || real >= LIMIT_NS;
}

/* Looks at all that may be on their way. True: they sleep, or are not waited for any longer. */
static bool all_sleep(void)
{
	uint64_t real = rt_sched_real_ns(CLOCK_MONOTONIC) - rt_sched.settles_since;
	bool all = true;

	for (struct rt_task *t = rt_sched.first; t; t = t->after) {
		if (!is_on_its_way(t))
			continue;
		uint64_t times = 0;
		char state = t->tid ? rt_sched_look_at(t->tid, &times) : 'R';
		bool asleep = state == 'S', still = asleep && t->slept == times + 1;
		t->slept = asleep ? times + 1 : 0;
		all &= still || !state || (!asleep && computes(t, real));
	}
	return all;
}

void rt_sched_look_outside(void)
{
	enum { PAUSE_US = 20 };

	while (rt_controlled) {
		rt_pause_us(PAUSE_US);
		rt_sched_lock();
		if (rt_sched.holder || !rt_sched_is_settling()) {
			rt_sched_unlock();
			return;
		}
		if (all_sleep()) {
			for (struct rt_task *t = rt_sched.first; t; t = t->after)
				t->unsettled = false;
			rt_sched.settling = false;
			rt_sched_give(rt_sched_pick_settled());
			return;
		}
		rt_sched_unlock();
	}
}

struct rt_task *rt_sched_pick_settled(void)
{
	struct rt_task *next = rt_sched_pick(NULL);

	if (rt_sched.left && next && next != rt_sched.left)
		rt_sched_log(rt_sched.left, next);
	rt_sched.left = NULL;
	return next;
}

void rt_sched_offer(void)
{
	if (rt_sched.holder || rt_sched_is_settling())
		rt_sched_unlock();
	else
		rt_sched_give(rt_sched_pick_settled());
}
