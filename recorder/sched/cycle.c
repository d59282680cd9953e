/* Whether a plan's deadlock stands; see follow.h. */
#include "recorder/sched/follow.h"
#include "recorder/sched/sched.h"

/* True if it waits for a lock that it has itself, as the goal's only thread. Whether it may take it again (a recursive
 * one) shows in what becomes of it. */
static bool waits_for_itself(const struct rt_task *task)
{
	return rt_follow_plan->goal_count == 1 && rt_step_waits(&task->next) &&
	       rt_sched_keeps(task, rt_step_lock(&task->next), task->next.op == RT_OP_ACQUIRE_SHARED);
}

/* True if another thread of the goal is seen to have what it waits for. */
static bool waits_for_one(const struct rt_task *task)
{
	for (uint32_t i = 0; i < rt_follow_plan->goal_count; i++) {
		const struct rt_task *other = rt_follow_task(rt_follow_plan->goals[i].thread);

		if (other && rt_sched_waits_for(task, other))
			return true;
	}
	return false;
}

/* At a load it waits for a future's result, if for no static local's guard. */
bool rt_follow_awaits_any(const struct rt_task *task)
{
	return task->next.op == RT_OP_BARRIER_ARRIVE || task->next.op == RT_OP_WAIT_BEGIN ||
	       (task->next.op == RT_OP_ATOMIC_LOAD && !waits_for_one(task)) ||
	       (task->next.op == RT_OP_SEM_WAIT && rt_step_waits(&task->next) && rt_sem_is_zero(task->next.object));
}

/* True if another thread of the goal blocks it. */
static bool is_blocked(const struct rt_task *task)
{
	return rt_follow_awaits_any(task) || waits_for_one(task) || waits_for_itself(task);
}

/* Each thread is at a wait that another one of them blocks, so none can ever go on. */
bool rt_follow_cycle_stands(void)
{
	for (uint32_t i = 0; i < rt_follow_plan->goal_count; i++) {
		const struct rt_task *task = rt_follow_task(rt_follow_plan->goals[i].thread);

		if (!task || !is_blocked(task))
			return false;
	}
	return rt_follow_plan->goal_count != 0;
}

bool rt_follow_cycle_is_open(void)
{
	for (uint32_t i = 0; i < rt_follow_plan->goal_count; i++) {
		const struct rt_task *task = rt_follow_task(rt_follow_plan->goals[i].thread);

		if (task && (rt_follow_awaits_any(task) || waits_for_itself(task)))
			return true;
	}
	return false;
}
