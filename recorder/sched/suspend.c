/*
 * Suspend: the naive strategy of "Effective and Precise Dynamic Detection of Hidden Races" (Cai and Cao 2015), section
 * 3. Each thread that is about to take a lock is suspended, and when all are, one of them goes on. So is one that is at
 * a place which the strategy was told.
 */
#include "recorder/sched/strategy.h"

static bool is_suspended(const struct rt_task *t)
{
	return (rt_step_acquires(&t->next) || rt_sched_place(&t->next, 0) != RT_NO_PLACE) && t->since != t->next.count;
}

static bool goes_on(struct rt_task *current)
{
	if (!is_suspended(current))
		return true;
	rt_sched_result()->postponed++;
	return false;
}

static struct rt_task *choose(struct rt_task *current, struct rt_task *const *enabled, unsigned n)
{
	struct rt_task *t = rt_sched_any_that(enabled, n, is_suspended, false);

	(void)current;
	if (t || rt_sched_awaits_sleeper())
		return t;
	t = rt_sched_any(enabled, n);
	rt_sched_result()->thrashed++;
	t->since = t->next.count;
	return t;
}

const struct rt_strategy rt_strategy_suspend = {
    .name = "suspend", .goes_on = goes_on, .choose = choose, .wakes = rt_sched_wakes_any};
