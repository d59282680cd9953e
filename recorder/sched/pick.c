/*
 * Which thread goes on. A thread that pauses, waits or is outside cannot; of the others the strategy chooses. Before a
 * run is called deadlocked all threads that find out by a try whether they need to wait try once more.
 */
#include "recorder/sched/sched.h"

#include "recorder/runtime/syscall.h"

#include <poll.h>

#define YIELD_STEPS 4096u /* for which a thread that yielded, or is tired, waits for others at most */

static bool keeps_from(const struct rt_task *other, const struct rt_task *t)
{
	return other != t && other->data != t->data &&
	       rt_sched_keeps(other, rt_step_lock(&t->next), t->next.op == RT_OP_ACQUIRE_SHARED);
}

/* True if another thread holds it, by what events say; a thread may hold it unseen, or have released it unseen. */
bool rt_sched_is_held(const struct rt_task *t)
{
	if (t->next.op == RT_OP_JOIN)
		return rt_sched_task((uint32_t)t->next.object) != NULL;
	for (const struct rt_task *other = rt_sched.first; other; other = other->after)
		if (keeps_from(other, t))
			return true;
	return false;
}

/* The tasks that hold locks: mostly few, where a hundred may wait for one. */
struct holders {
	const struct rt_task *tasks[8];
	unsigned count;
};

static struct holders find_holders(void)
{
	struct holders h = {.count = 0};

	for (const struct rt_task *t = rt_sched.first; t; t = t->after)
		if (t->data && t->data->held_count) {
			if (h.count < sizeof h.tasks / sizeof *h.tasks)
				h.tasks[h.count] = t;
			h.count++;
		}
	return h;
}

static bool is_held(const struct rt_task *t, const struct holders *h)
{
	if (t->next.op == RT_OP_JOIN || h->count > sizeof h->tasks / sizeof *h->tasks)
		return rt_sched_is_held(t);
	for (unsigned i = 0; i < h->count; i++)
		if (keeps_from(h->tasks[i], t))
			return true;
	return false;
}

static bool lets_others(const struct rt_task *t)
{
	return (t->yielded && rt_sched.steps - t->yielded_at < YIELD_STEPS) ||
	       (t->tired && rt_sched.steps - t->tired_at < YIELD_STEPS);
}

static bool is_enabled(const struct rt_task *t, bool held, const struct holders *h)
{
	if (t->state != RT_READY || lets_others(t))
		return false;
	return held || t->interrupted || !t->next.blocks || !is_held(t, h);
}

static unsigned gather(bool held)
{
	struct holders h = find_holders();
	unsigned n = 0;

	for (struct rt_task *t = rt_sched.first; t; t = t->after)
		if (is_enabled(t, held, &h))
			rt_sched.enabled[n++] = t;
	return n;
}

/* Those that are tired are enabled again. */
static unsigned gather_tired(void)
{
	for (struct rt_task *t = rt_sched.first; t; t = t->after)
		t->tired = false;
	return gather(false);
}

/*
 * Threads that compute for long come behind all that could go on. Threads that spin or yield come behind those that
 * pause, too, whose time passes meanwhile; then those that by events would wait. But only once: one that pauses again
 * and again may wait for what a thread that yielded holds.
 */
static unsigned enabled(void)
{
	unsigned n = gather(false);

	n = n ? n : gather_tired();
	if (n)
		return n;
	if (rt_sched_jump())
		n = gather(false);
	for (struct rt_task *t = rt_sched.first; t; t = t->after)
		t->yielded = false;
	if (!n)
		n = gather(false);
	return n ? n : gather(true);
}

bool rt_sched_looks_again(const struct rt_task *t)
{
	return t->waits_op == RT_OP_ACQUIRE || t->waits_op == RT_OP_ACQUIRE_SHARED || t->waits_op == RT_OP_SEM_WAIT ||
	       t->waits_op == RT_OP_ONCE_SEEN || t->waits_op == RT_OP_HB_AFTER || t->waits_op == RT_OP_JOIN;
}

/* True if the thread finds out by a try whether it can do what it waits for. */
bool rt_sched_may_try(const struct rt_task *t)
{
	return t->state == RT_BLOCKED && t->waits_op != RT_OP_JOIN && rt_sched_looks_again(t);
}

/* All try again, in case it was given unseen. False: they have, and no step was done since. */
static bool last_chance(void)
{
	bool any = false;

	if (rt_sched.chance == rt_sched.steps)
		return false;
	rt_sched.chance = rt_sched.steps;
	for (struct rt_task *t = rt_sched.first; t; t = t->after)
		if (rt_sched_may_try(t)) {
			rt_sched_unblock(t);
			t->last_chance = true;
			any = true;
		}
	return any;
}

/* Those whose descriptors are ready go on. Those that wait for other processes try again from time to time. */
static void poll_tasks(void)
{
	enum { PAUSE_NS = 2000000 };
	static RT_OF_RUN uint64_t looked;
	struct timespec none = {0, 0};
	uint64_t now = rt_sched_real_ns(CLOCK_MONOTONIC);
	bool again = now - looked >= PAUSE_NS;

	looked = again ? now : looked;
	for (struct rt_task *t = rt_sched.first; t; t = t->after)
		if (t->state == RT_BLOCKED &&
		    (t->shares ? again : t->fds && RT_SYSCALL(SYS_ppoll, t->fds, t->fd_count, &none, NULL, 0) != 0)) {
			rt_sched.naps += t->fds && t->wakes; /* a timer's descriptor is ready again and again */
			rt_sched_unblock(t);
		}
}

struct rt_task *rt_sched_pick(struct rt_task *current)
{
	while (rt_sched.live) {
		if (rt_sched.polling)
			poll_tasks();
		unsigned n = enabled();
		struct rt_task *chosen = n ? rt_sched.strategy->choose(current, rt_sched.enabled, n) : NULL;

		if (chosen)
			return chosen;
		if (rt_sched.outside || rt_sched.foreign || rt_sched.polling)
			break;
		if (rt_sched_jump() || (!n && last_chance()))
			continue;
		if (n) /* the strategy waits for nothing: that is no deadlock */
			return rt_sched_any(rt_sched.enabled, n);
		if (rt_sched.handles && !rt_sched.overdue)
			break;
		if (rt_sched.strategy->stuck)
			rt_sched.strategy->stuck();
		rt_sched_end(RT_END_DEADLOCK);
	}
	return NULL;
}
