/*
 * Looks for the goal of a plan that has no steps. RaceFuzzer (Sen, PLDI 2008), and the same for deadlocks: threads go
 * on by chance, but one that comes to a site of the goal is held there. It is held until another one is at a site as
 * well, and both accesses are pending on the same memory, or until each acquire waits for another. If all that could go
 * on are held, or too long, one is released.
 */
#include "recorder/sched/follow.h"
#include "recorder/sched/sched.h"

enum { PATIENCE = 20000 }; /* decisions for which a thread is held */
static RT_OF_RUN struct rt_task *found[RT_PLAN_GOALS];
static RT_OF_RUN uint64_t held_for;
struct rt_task **rt_seek_kept, **rt_seek_others;

/* Index of the goal's site that the thread is at, RT_PLAN_NONE: at none. */
static uint32_t site_at(const struct rt_task *task)
{
	const struct rt_plan_site *sites = PART(const struct rt_plan_site, sites);

	for (uint32_t i = 0; i < rt_follow_plan->goal_count; i++)
		if (rt_follow_is_at(&sites[rt_follow_plan->goals[i].mark], &task->next))
			return i;
	return RT_PLAN_NONE;
}

bool rt_seek_is_at_goal(const struct rt_task *task)
{
	return site_at(task) != RT_PLAN_NONE;
}

struct rt_task *rt_seek_found(unsigned i)
{
	return found[i];
}

/* True if it is at a site and was not released from it. */
static bool is_kept(const struct rt_task *task)
{
	return (uint64_t)(uintptr_t)task->own != task->next.count && site_at(task) != RT_PLAN_NONE;
}

static bool find_race(struct rt_task *const *tasks, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < n; k++) {
			if (i == k || site_at(tasks[i]) != 0 ||
			    (site_at(tasks[k]) != 1 &&
			     (rt_follow_plan->goals[0].mark != rt_follow_plan->goals[1].mark ||
			      site_at(tasks[k]) != 0)))
				continue;
			found[0] = tasks[i];
			found[1] = tasks[k];
			if (rt_follow_pending(tasks[i], tasks[k]))
				return true;
		}
	return false;
}

/* Follows which thread each one waits for. */
static bool find_cycle(struct rt_task *const *tasks, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		const struct rt_task *at = tasks[i];
		bool open = false;

		for (unsigned length = 0; length < n; length++) {
			unsigned k = 0;

			while (k < n && !rt_sched_waits_for(at, tasks[k]))
				k++;
			if (k == n)
				break;
			at = tasks[k];
			open |= rt_follow_awaits_any(at);
			if (at == tasks[i]) {
				rt_follow_plan->open = open;
				return true;
			}
		}
	}
	return false;
}

bool rt_seek_make_room(void)
{
	static RT_OF_RUN unsigned room; /* of each */

	if (room >= rt_sched.live)
		return true;
	unsigned more = 2 * rt_sched.live;
	struct rt_task **k = rt_sched_memory(more * sizeof *k), **o = rt_sched_memory(more * sizeof *o);

	if (!k || !o)
		return false;
	rt_seek_kept = k;
	rt_seek_others = o;
	room = more;
	return true;
}

unsigned rt_seek_yielding(bool (*is_held)(const struct rt_task *))
{
	unsigned n = 0;

	for (struct rt_task *t = rt_sched.first; t; t = t->after)
		if (t->state == RT_READY && (t->yielded || t->tired) && !is_held(t))
			rt_seek_others[n++] = t;
	return n;
}

/* True if a thread is outside, or waits without a time for a descriptor or another process. */
static bool is_anybody_outside(void)
{
	for (const struct rt_task *t = rt_sched.first; t; t = t->after)
		if (rt_follow_is_outside(t) || (rt_follow_is_polled(t) && !t->wakes))
			return true;
	return false;
}

bool rt_seek_awaits_outside(bool only_held)
{
	enum { MOST_IN_VAIN = 5, MOST_WAITS = 20 };
	static RT_OF_RUN unsigned in_vain, waits; /* waits: since one that was held was released */
	static RT_OF_RUN uint64_t steps;
	static RT_OF_RUN bool looks;
	bool may = only_held && in_vain < MOST_IN_VAIN && is_anybody_outside();
	bool late = may && rt_sched_waited() >= RT_AWAIT_AT_GOAL_NS;

	waits += may && steps != rt_sched.steps;
	steps = rt_sched.steps;
	in_vain += late;
	bool is = may && !late && waits <= MOST_WAITS;
	waits = may && !is ? 0 : waits;
	rt_sched.polling += is;
	rt_sched.polling -= looks;
	looks = is;
	return is;
}

struct rt_task *rt_seek(struct rt_task *current, struct rt_task *const *enabled, unsigned n)
{
	struct rt_task **kept, **others;
	unsigned kept_count = 0, other_count = 0;

	if (rt_follow_plan->kind == RT_PLAN_SEQUENCE)
		return rt_sequence_seek(current, enabled, n);
	if (!rt_seek_make_room())
		return rt_strategy_random.choose(current, enabled, n);
	kept = rt_seek_kept;
	others = rt_seek_others;
	for (struct rt_task *t = rt_sched.first; t; t = t->after)
		if (t->state == RT_READY && is_kept(t))
			kept[kept_count++] = t;
	if (rt_follow_plan->kind == RT_PLAN_RACE ? find_race(kept, kept_count) : find_cycle(kept, kept_count)) {
		rt_follow_confirmed();
		return NULL;
	}
	for (unsigned i = 0; i < n; i++)
		if (!is_kept(enabled[i]))
			others[other_count++] = enabled[i];
	if (!other_count && kept_count)
		other_count = rt_seek_yielding(is_kept);
	if (rt_seek_awaits_outside(kept_count && !other_count) || (!other_count && rt_sched_awaits_sleeper()))
		return NULL; /* time passes */
	held_for = kept_count ? held_for + 1 : 0;
	if (kept_count && (!other_count || held_for > PATIENCE)) {
		/* Of those that cannot go on none, unless others can. */
		struct rt_task *task = other_count ? rt_sched_any(kept, kept_count) : rt_sched_any(enabled, n);

		held_for = 0;
		task->own = (void *)(uintptr_t)task->next.count;
		if (rt_follow_among(enabled, n, task))
			return task;
	}
	return other_count ? rt_strategy_random.choose(current, others, other_count) : NULL;
}
