/*
 * Looks for a sequence of events, as of an atomicity violation, where the plan has no steps. After AtomFuzzer (Park and
 * Sen, FSE 2008). Threads go on by chance, but one that has executed an event of the sequence is held before its next
 * one. It is held until the other thread has executed what comes in between. A thread with more than one event must be
 * in a critical section from its first to its last one: that is their region.
 */
#include "recorder/sched/follow.h"
#include "recorder/sched/sched.h"

enum { PATIENCE = 20000 };                             /* decisions for which a thread is held */
enum { NEAR = 16 };                                    /* bytes: accesses of one cell begin within them */
static RT_OF_RUN struct rt_task *found[RT_PLAN_GOALS]; /* the task of each event that was executed */
static RT_OF_RUN uint64_t cells[RT_PLAN_GOALS];        /* its address */
static RT_OF_RUN uint32_t reached;                     /* events that were executed, in the sequence's order */
static RT_OF_RUN uint64_t held_for;
static RT_OF_RUN uint64_t salt; /* of this run; 0: not drawn yet */

static bool is_at(const struct rt_task *task, uint32_t i)
{
	const struct rt_plan_site *site = PART(const struct rt_plan_site, sites) + rt_follow_plan->goals[i].mark;

	return rt_follow_is_at(site, &task->next);
}

static bool needs_region(uint32_t role)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < rt_follow_plan->goal_count; i++)
		n += rt_follow_plan->goals[i].thread == role;
	return n > 1;
}

static bool in_region(const struct rt_task *task)
{
	return task->data && task->data->held_count;
}

/* True if the task's step can be the i-th event: its thread and its memory are those of the events before it. */
static bool can_be(const struct rt_task *task, uint32_t i)
{
	uint32_t role = rt_follow_plan->goals[i].thread, cell = rt_follow_plan->goals[i].cell;

	if (!is_at(task, i) || (role < reached && found[role] != task) || (needs_region(role) && !in_region(task)))
		return false;
	for (uint32_t k = 0; k < reached; k++)
		if (rt_follow_plan->goals[k].thread != role && found[k] == task)
			return false;
	return cell >= reached || (task->next.object < cells[cell] + NEAR && cells[cell] < task->next.object + NEAR);
}

/* The locks that made a region of a thread's events were released: these do not count any more. */
void rt_sequence_look(void)
{
	for (uint32_t i = 0; i < reached; i++)
		if (needs_region(rt_follow_plan->goals[i].thread) && !in_region(found[i]))
			reached = i;
}

/* The task goes on with its step. True: that was the last event of the sequence. */
static bool advance(struct rt_task *task)
{
	if (reached && task == found[0] && is_at(task, 0) && !can_be(task, reached)) /* once more in its region */
		reached = 0;
	if (!can_be(task, reached))
		return false;
	found[reached] = task;
	cells[reached] = task->next.object;
	return ++reached == rt_follow_plan->goal_count;
}

/* One time in four a thread is not held: it may be in a later round of a loop that the others get there. */
static bool is_let_by(const struct rt_task *task)
{
	enum { SHIFT = 62, ROUNDS = 64 };
	uint64_t mixed = (salt ^ task->next.count * ROUNDS ^ task->thread) * UINT64_C(0x9e3779b97f4a7c15);

	return mixed >> SHIFT == 0;
}

/* True if the task would execute an event of the sequence out of its order. */
static bool is_early(const struct rt_task *task)
{
	if ((uint64_t)(uintptr_t)task->own == task->next.count || can_be(task, reached) || is_let_by(task))
		return false;
	for (uint32_t i = reached + 1; i < rt_follow_plan->goal_count; i++) {
		uint32_t role = rt_follow_plan->goals[i].thread;

		if (is_at(task, i) && (role >= reached || found[role] == task))
			return true;
	}
	return false;
}

struct rt_task *rt_sequence_seek(struct rt_task *current, struct rt_task *const *enabled, unsigned n)
{
	struct rt_task **early, **others;
	unsigned early_count = 0, other_count = 0;
	struct rt_task *task;

	if (!rt_seek_make_room())
		return rt_strategy_random.choose(current, enabled, n);
	early = rt_seek_kept;
	others = rt_seek_others;
	salt = salt ? salt : rt_sched_random() | 1;
	rt_sequence_look();
	for (unsigned i = 0; i < n; i++)
		if (is_early(enabled[i]))
			early[early_count++] = enabled[i];
		else
			others[other_count++] = enabled[i];
	if (!other_count && early_count)
		other_count = rt_seek_yielding(is_early);
	held_for = early_count ? held_for + 1 : 0;
	if (rt_seek_awaits_outside(early_count && !other_count) ||
	    (!other_count && (!early_count || rt_sched_awaits_sleeper())))
		return NULL; /* time passes */
	if (!early_count || (other_count && held_for <= PATIENCE)) {
		task = rt_strategy_random.choose(current, others, other_count);
	} else {
		task = early[rt_sched_random() % early_count];
		task->own = (void *)(uintptr_t)task->next.count;
		held_for = 0;
	}
	if (advance(task))
		rt_follow_confirmed();
	return task;
}
