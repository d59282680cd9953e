/*
 * Suspend: the naive strategy of "Effective and Precise Dynamic Detection of Hidden Races" (Cai and Cao 2015), section
 * 3: each thread that is about to take a lock is suspended, and when all are, one of them goes on.
 */
#include "recorder/sched/strategy.h"

static bool is_suspended(const struct rt_task *t)
{
	return rt_step_acquires(&t->next) && t->since != t->next.count;
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
	unsigned others = 0;

	(void)current;
	for (unsigned i = 0; i < n; i++)
		others += !is_suspended(enabled[i]);
	if (!others && rt_sched_awaits_sleeper())
		return NULL;
	if (!others) {
		struct rt_task *t = rt_sched_any(enabled, n);

		rt_sched_result()->thrashed++;
		t->since = t->next.count;
		return t;
	}
	unsigned chosen = (unsigned)(rt_sched_random() % others);
	for (unsigned i = 0;; i++)
		if (!is_suspended(enabled[i]) && chosen-- == 0)
			return enabled[i];
}

static struct rt_task *wakes(struct rt_task *signaller, struct rt_task *const *waiters, unsigned n)
{
	(void)signaller;
	return rt_sched_any(waiters, n);
}

const struct rt_strategy rt_strategy_suspend = {
    .name = "suspend", .goes_on = goes_on, .choose = choose, .wakes = wakes};
