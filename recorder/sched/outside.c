/*
 * Threads that are outside: in a call that may block, or in a library that has threads of its own, where they roam.
 * They have no turn, and queue for it when they are back.
 */
#include "recorder/sched/sched.h"

#include "recorder/runtime/syscall.h"

#include <poll.h>

void rt_turn_has_foreign(void)
{
	rt_sched.foreign = true;
}

void rt_turn_handles(void)
{
	rt_sched.handles = true;
	rt_sched.foreign |= rt_sched.times;
}

void rt_turn_times(void)
{
	rt_sched.times = true;
	rt_sched.foreign |= rt_sched.handles;
}

void rt_turn_leaves(uintptr_t pc)
{
	if (rt_sched_is_free() || rt_sched.live == 1)
		return;
	rt_turn_step(RT_OP_NONE, 0, 0, pc, 0, false);
	struct rt_task *t = rt_sched_enter();
	rt_thread.patience = 0; /* a handler's first access asks for the turn */
	rt_sched_goes_outside(t);
	rt_sched_leave();
}

bool rt_turn_is_outside(void)
{
	return rt_thread.task && rt_thread.task->state == RT_OUTSIDE;
}

bool rt_turn_is_roaming(void)
{
	return rt_thread.task && rt_thread.task->roams;
}

void rt_turn_roams(uintptr_t pc)
{
	if (rt_sched_is_free())
		return;
	rt_turn_hold(pc);
	struct rt_task *t = rt_sched_enter();
	t->roams = true;
	rt_sched_goes_outside(t);
	rt_sched_leave();
}

void rt_turn_comes(uint64_t gate, unsigned n, uintptr_t pc)
{
	if (!rt_turn_is_roaming())
		return;
	struct rt_task *t = rt_sched_enter();
	unsigned others = n ? rt_sched_waiters(RT_OP_BARRIER_LEAVE, gate) : 0;
	t->roams = false;
	t->next = (struct rt_step){.op = RT_OP_NONE, .pc = pc, .count = t->next.count + 1};
	if (others + 1 < n) {
		rt_sched.outside--;
		t->waits = gate;
		t->waits_op = RT_OP_BARRIER_LEAVE;
		t->wakes = 0;
		t->state = RT_BLOCKED;
		rt_sched.blocked++;
		t->unsettled = false;
		rt_sched_offer();
		rt_sched_await(t);
	} else {
		for (unsigned i = 0; i < others; i++)
			rt_sched_wake(rt_sched.enabled[i]);
		rt_sched_queue(t);
	}
	rt_sched_leave();
	rt_thread_begin_late();
}

void rt_turn_takes(uint64_t lock, uintptr_t pc)
{
	if (rt_sched_is_free())
		return;
	rt_turn_step(RT_OP_ACQUIRE, lock, 0, pc, 0, true);
	for (bool held = true; held && rt_controlled;) {
		rt_sched_lock();
		held = rt_sched_is_held(rt_thread.task);
		rt_sched_unlock();
		if (held)
			rt_turn_block(RT_OP_ACQUIRE, lock, RT_FOREVER, false);
	}
}

void rt_turn_returns(uintptr_t pc)
{
	rt_turn_hold(pc);
}

bool rt_turn_polls(struct pollfd *fds, unsigned n, struct rt_until until, uintptr_t pc)
{
	enum { SECOND_NS = 1000000000 };
	struct timespec none = {0, 0};

	if (rt_sched_is_free() || rt_sched.live == 1)
		return false;
	if (until.time && (until.time->tv_nsec < 0 || until.time->tv_nsec >= SECOND_NS))
		return false;
	rt_turn_step(RT_OP_NONE, 0, 0, pc, until.time ? RT_F_TIMED : 0, false);
	if (RT_SYSCALL(SYS_ppoll, fds, n, &none, NULL, 0) != 0)
		return true;
	rt_thread.task->fds = fds;
	rt_thread.task->fd_count = n;
	rt_turn_block(RT_OP_NONE, 0, until, true); /* the call that follows is where the thread is cancelled */
	return true;
}
