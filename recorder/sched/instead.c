/*
 * Which thread goes on where the one that the plan has next cannot: one that it joins, one that the plan has nothing
 * more of, or none, as what it waits for comes by itself. If nothing does, the plan is stuck.
 */
#include "recorder/sched/follow.h"
#include "recorder/sched/sched.h"

/*
 * True if the thread, which was put outside as it computed, has computed for longer since than the whole recorded run
 * took, or for very long: it spins on what no hook shows, and waits for a thread that waits for it.
 */
static bool spins_outside(const struct rt_task *t)
{
	enum { LEAST_MS = 1000, MOST_MS = 10000, MS = 1000000 };
	uint64_t recorded = rt_follow_plan->recorded_ms, limit = LEAST_MS + recorded + recorded / 2;

	if (!recorded || limit > MOST_MS)
		limit = MOST_MS;
	return t->computed && rt_sched_ran(t->tid) - t->computed > limit * MS;
}

bool rt_follow_is_outside(const struct rt_task *task)
{
	return task->state == RT_OUTSIDE && (!task->roams || task->unsettled) && !spins_outside(task);
}

/* True if a thread that is outside or waits for a time may come back, whatever the others do. */
static bool somebody_comes_back(void)
{
	bool any_polled = false;

	for (const struct rt_task *t = rt_sched.first; t; t = t->after) {
		if (rt_follow_is_outside(t) || (t->state == RT_BLOCKED && t->wakes))
			return true;
		any_polled |= rt_follow_is_polled(t);
	}
	return any_polled && rt_sched_waited() < RT_AWAIT_POLLED_NS;
}

struct rt_task *rt_follow_joined(struct rt_task *task, struct rt_task *const *enabled, unsigned n)
{
	for (uint32_t i = 0; task && i < rt_follow_plan->thread_count; i++) {
		state_t *s;

		if (task->next.op != RT_OP_JOIN)
			return NULL;
		task = rt_sched_task((uint32_t)task->next.object);
		s = task ? rt_follow_state(task) : NULL;
		if (!s || (s != &rt_follow_nobody && s->last_step > rt_follow_plan->step))
			return NULL;
		if (rt_follow_can_go(enabled, n, task)) {
			if (!is_between(s, task))
				rt_follow_executes(s, &task->next, NO_MATTER);
			return task;
		}
	}
	return NULL;
}

bool rt_follow_comes(const state_t *s, const struct rt_task *task)
{
	static RT_OF_RUN bool looks;
	uint32_t number = thread_of(s)->child_number;
	bool unmade = !task && s->task == RT_PLAN_NONE && number > RT_CHILD_ADOPTED && number <= RT_CHILD_TASK;
	bool ticks = task && task->state == RT_BLOCKED && rt_sched.handles && rt_sched.times;
	bool is = (unmade || ticks) && rt_sched_waited() < RT_AWAIT_POLLED_NS;

	rt_sched.polling += is;
	rt_sched.polling -= looks;
	looks = is;
	return is;
}

/*
 * True if the thread waits for what others do, of which the plan says nothing: a library, until it makes the thread;
 * OpenMP's, until it begins as a task, which one of them has to come for, or inside the library, or for its team; or
 * another process, for its answer.
 */
static bool awaits_others(const state_t *s, const struct rt_task *task)
{
	if (!task)
		return thread_of(s)->child_number > RT_CHILD_ADOPTED;
	return task->roams || (task->state == RT_BLOCKED && task->waits_op == RT_OP_BARRIER_LEAVE) ||
	       rt_follow_is_polled(task);
}

static bool is_of_goal(const state_t *s)
{
	for (uint32_t i = 0; i < rt_follow_plan->goal_count; i++)
		if (rt_follow_plan->goals[i].thread == (uint32_t)(s - states()))
			return true;
	return false;
}

/* True if the plan has no more steps of the thread, nor the goal. */
static bool is_beside(const state_t *s)
{
	return s == &rt_follow_nobody || (s->last_step <= rt_follow_plan->step && !is_of_goal(s));
}

/* True if the thread can go on without leaving its marks, and without an event of the goal. */
static bool can_be_ahead(state_t *s, const struct rt_task *task)
{
	return is_between(s, task) ||
	       (rt_follow_compare(s, &task->next) != OTHER_EVENT && !rt_follow_is_goal(s, s->mark));
}

/* A thread beside the plan; with ahead, also one whose steps come later. NULL: none. */
static struct rt_task *beside(struct rt_task *const *enabled, unsigned n, bool ahead)
{
	unsigned count = 0;

	for (unsigned i = 0; i < n; i++) {
		state_t *s = rt_follow_state(enabled[i]);

		if (is_beside(s) || (ahead && can_be_ahead(s, enabled[i])))
			rt_seek_others[count++] = enabled[i];
	}
	if (!count)
		return NULL;
	struct rt_task *task = rt_sched_any(rt_seek_others, count);
	state_t *s = rt_follow_state(task);

	if (!is_between(s, task))
		rt_follow_executes(s, &task->next, is_beside(s) ? NO_MATTER : rt_follow_compare(s, &task->next));
	return task;
}

/*
 * True if the thread is a task of OpenMP that none of the team has come for. The plan may have those that could run
 * others, which have to end first: which one sleeps, and which looks for tasks, is not known of the recording.
 */
static bool awaits_team(const state_t *s, const struct rt_task *task)
{
	enum { STEPS_MOST = 10000 };
	static RT_OF_RUN unsigned steps;

	return !task && s->task == RT_PLAN_NONE && thread_of(s)->child_number > RT_CHILD_TASK && steps++ < STEPS_MOST;
}

bool rt_follow_spins(const state_t *s, const struct rt_task *task)
{
	enum { SPIN_NS = 250000000, TURN_STEPS = 16 }; /* TURN_STEPS: of a spin that also looks at plain variables */
	static RT_OF_RUN uint64_t began, step, mark;
	static RT_OF_RUN const state_t *spinner;

	bool turns = task->repeats >= RT_SPIN_REPEATS && rt_sched.steps - task->yielded_at <= TURN_STEPS;

	if (spinner != s || step != rt_follow_plan->step || mark != s->mark ||
	    (!turns && task->yielded_at + 1 != rt_sched.steps)) {
		spinner = s;
		step = rt_follow_plan->step;
		mark = s->mark;
		began = rt_sched.now;
	}
	return rt_sched.now - began > SPIN_NS && rt_sched.live > 1 && !somebody_comes_back();
}

struct rt_task *rt_follow_instead(const state_t *s, struct rt_task *task, bool comes, struct rt_task *const *enabled,
                                  unsigned n, bool *stuck)
{
	struct rt_task *joined = task ? rt_follow_joined(task, enabled, n) : NULL;
	bool alone = (comes || (task && rt_follow_is_polled(task))) && rt_sched_waited() < RT_AWAIT_ALONE_NS;

	if (!joined && !alone && awaits_others(s, task) && rt_seek_make_room())
		joined = beside(enabled, n, false);
	if (joined || comes || somebody_comes_back())
		return joined;
	if (awaits_team(s, task) && rt_seek_make_room())
		joined = beside(enabled, n, true);
	*stuck = !joined;
	return joined;
}
