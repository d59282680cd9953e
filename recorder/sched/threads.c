/* Controlled threads: their creation, first turn and end; the beginning of control, and its end in a forked child. */
#include "recorder/sched/sched.h"

#include "recorder/runtime/syscall.h"

static struct rt_task *task_of(const struct rt_slot *slot)
{
	return rt_sched.tasks + (slot - rt_channel_slot(rt_channel, 0));
}

/* Behind its elder siblings, cousins and all others. Tasks of OpenMP may begin in another order than they were made. */
static void insert(struct rt_task *t)
{
	t->before = rt_sched.last;
	while (t->before && t->before->thread > t->thread)
		t->before = t->before->before;
	t->after = t->before ? t->before->after : rt_sched.first;
	*(t->before ? &t->before->after : &rt_sched.first) = t;
	*(t->after ? &t->after->before : &rt_sched.last) = t;
	rt_sched.live++;
	rt_sched.control->threads++;
}

static void take_out(struct rt_task *t)
{
	*(t->before ? &t->before->after : &rt_sched.first) = t->after;
	*(t->after ? &t->after->before : &rt_sched.last) = t->before;
	rt_sched.live--;
}

static uintptr_t start_of(struct rt_slot *slot)
{
	const struct rt_private *p = rt_private_of(slot);

	return p && p->start ? (uintptr_t)p->start : p ? (uintptr_t)p->start_c11 : 0;
}

static void make(struct rt_slot *slot, enum rt_state state)
{
	struct rt_task *t = task_of(slot);

	*t = (struct rt_task){.thread = slot->thread,
	                      .parent = slot->parent,
	                      .child_number = slot->child_number,
	                      .start = start_of(slot),
	                      .state = state,
	                      .next = {.op = RT_OP_BEGIN}};
	insert(t);
}

/* The thread that this is of is the caller. */
static void inhabit(struct rt_task *t)
{
	t->data = &rt_thread;
	t->quantum = RT_QUANTUM;
	t->tid = (int32_t)RT_SYSCALL(SYS_gettid);
	t->calls = rt_sched_calls(t);
	rt_thread.task = t;
	rt_thread.patience = RT_QUANTUM;
}

void rt_turn_created(struct rt_slot *slot)
{
	bool roams = rt_turn_is_roaming();

	rt_busy_begin();
	rt_sched_lock();
	make(slot, roams ? RT_OUTSIDE : RT_READY);
	task_of(slot)->roams = task_of(slot)->unsettled = roams;
	rt_sched.outside += roams;
	rt_sched_unlock();
	rt_sched_watch();
	rt_busy_end();
}

bool rt_turn_begin(struct rt_slot *slot, uintptr_t pc)
{
	struct rt_task *t = task_of(slot);

	inhabit(t);
	t->next.pc = pc;
	if (t->roams)
		return false;
	rt_sched_enter();
	rt_sched_offer();
	rt_sched_await(t);
	rt_sched_leave();
	return true;
}

void rt_turn_end(void)
{
	struct rt_task *t = rt_thread.task;

	if (!t)
		return;
	rt_turn_comes(0, 0, 0);
	rt_turn_hold(0);
	rt_sched_enter();
	if (rt_sched_settle(t))
		rt_sched_lock();
	for (struct rt_task *other = rt_sched.first; other; other = other->after)
		if (other->state == RT_BLOCKED && other->waits_op == RT_OP_JOIN && other->waits == t->thread)
			rt_sched_unblock(other);
	t->state = RT_ENDED;
	take_out(t);
	rt_thread.task = NULL;
	rt_sched.dying = t->tid == (int32_t)RT_SYSCALL(SYS_getpid) ? 0 : t->tid; /* the process's own stays */
	struct rt_task *next = rt_sched_pick(NULL);
	if (next)
		rt_sched_log(t, next);
	rt_sched_give(next);
	rt_sched_leave();
}

struct rt_task *rt_turn_task_begins(struct rt_slot *slot, bool lone, uintptr_t pc)
{
	struct rt_task *runner = rt_thread.task, *t = task_of(slot);

	if (!runner)
		return NULL;
	rt_sched_enter();
	make(slot, RT_OUTSIDE);
	t->roams = t->unsettled = true;
	t->lone = lone;
	rt_sched.outside++;
	inhabit(t);
	t->next.pc = pc;
	runner->unsettled = false;
	rt_sched_unlock();
	rt_sched_leave();
	return runner;
}

/* The thread goes on in the library. */
void rt_turn_task_ends(struct rt_task *runner)
{
	rt_turn_hold(0);
	struct rt_task *t = rt_sched_enter();

	t->state = RT_ENDED;
	take_out(t);
	rt_sched.outside--; /* it is counted again */
	rt_thread.task = runner;
	rt_thread.patience = (int32_t)runner->quantum;
	rt_sched_goes_outside(runner);
	rt_sched_leave();
}

bool rt_turn_lives(uint32_t thread)
{
	rt_busy_begin();
	rt_sched_lock();
	bool lives = rt_sched_task(thread) != NULL;
	rt_sched_unlock();
	rt_busy_end();
	return lives;
}

void rt_turn_canceled(struct rt_thread *thread)
{
	struct rt_task *t = thread->task;

	if (!t)
		return;
	rt_busy_begin();
	rt_sched_lock();
	t->canceled = true;
	if (t->state == RT_BLOCKED && t->cancelable)
		rt_sched_unblock(t);
	rt_sched_unlock();
	rt_busy_end();
}

/* ---- Beginning and end ---- */

void rt_turn_start(struct rt_slot *slot)
{
	rt_sched = (struct rt_sched){.control = rt_channel_control(rt_channel)};
	if (!rt_sched.control || !rt_sched_begin(rt_channel->slot_count))
		return;
	make(slot, RT_RUNNING);
	rt_sched.holder = task_of(slot);
	inhabit(rt_sched.holder);
	rt_controlled = true;
	rt_time_by_turns(true);
}

/* All RT_OF_RUN variables. */
extern char rt_of_run_start[] __asm__("__start_rt_of_run") __attribute__((visibility("hidden")));
extern char rt_of_run_stop[] __asm__("__stop_rt_of_run") __attribute__((visibility("hidden")));

/* In a forked child: its one thread runs free. */
static void forked(void)
{
	if (!rt_controlled)
		return;
	for (char *p = rt_of_run_start; p < rt_of_run_stop; p++)
		*(volatile char *)p = 0;
	rt_controlled = rt_turn_told = false;
	rt_thread.task = NULL;
	rt_thread.in_turn = false;
	rt_time_by_turns(false);
}
RT_CALL_AT(RT_AT_CHILD, forked);
