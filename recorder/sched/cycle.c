/* Whether a plan's deadlock stands; see follow.h. */
#include "recorder/sched/follow.h"
#include "recorder/sched/sched.h"

/* The lock that the thread is about to acquire, also at the end of a wait that was signalled, the semaphore or the
 * once-routine; 0: none. */
static uint64_t lock_wanted(const struct rt_task *task)
{
	if (task->next.op == RT_OP_WAIT_END)
		return task->next.arg;
	return rt_step_waits(&task->next) ? task->next.object : 0;
}

/* True if one of the other threads of the goal holds the lock, or the semaphore. */
static bool is_held(uint64_t lock, bool shared, uint32_t thread)
{
	for (uint32_t i = 0; i < rt_follow_plan->goal_count; i++) {
		uint32_t other = rt_follow_plan->goals[i].thread;
		const struct rt_plan_held *h = rt_follow_held(&states()[other], lock);
		const struct rt_task *task = rt_follow_task(other);

		if (other != thread && ((h && !(h->shared && shared)) || (task && rt_sched_took_last(task, lock))))
			return true;
	}
	return false;
}

/* True if it joins one of the threads of the goal, which has not ended. */
static bool is_joined(const struct rt_step *e)
{
	const struct rt_task *joined = e->flags & RT_F_TIMED ? NULL : rt_sched_task((uint32_t)e->object);

	for (uint32_t i = 0; joined && i < rt_follow_plan->goal_count; i++)
		if (rt_follow_task(rt_follow_plan->goals[i].thread) == joined)
			return true;
	return false;
}

/* True if it comes to a barrier, or waits for a post of a semaphore that is zero. */
static bool awaits_others(const struct rt_task *task)
{
	return task->next.op == RT_OP_BARRIER_ARRIVE ||
	       (task->next.op == RT_OP_SEM_WAIT && rt_step_waits(&task->next) && rt_sem_is_zero(task->next.object));
}

/* Each thread is at a wait that another one of them blocks, so none can ever go on. */
bool rt_follow_cycle_stands(void)
{
	for (uint32_t i = 0; i < rt_follow_plan->goal_count; i++) {
		uint32_t thread = rt_follow_plan->goals[i].thread;
		const struct rt_task *task = rt_follow_task(thread);
		uint64_t lock = task ? lock_wanted(task) : 0;
		bool joins = task && task->next.op == RT_OP_JOIN && is_joined(&task->next);

		if (!joins && !(task && awaits_others(task)) &&
		    (!lock || !is_held(lock, task->next.op == RT_OP_ACQUIRE_SHARED, thread)))
			return false;
	}
	return rt_follow_plan->goal_count != 0;
}

bool rt_follow_cycle_is_open(void)
{
	for (uint32_t i = 0; i < rt_follow_plan->goal_count; i++) {
		const struct rt_task *task = rt_follow_task(rt_follow_plan->goals[i].thread);

		if (task && awaits_others(task))
			return true;
	}
	return false;
}
