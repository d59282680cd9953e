/*
 * POS: "Partial Order Aware Concurrency Sampling" (Yuan, Yang, Gu 2018). Each pending step has a random priority, and
 * the enabled one of the highest goes on. Steps that conflict with it get new priorities, so that a step that was
 * low does not stay behind all that come.
 */
#include "recorder/sched/strategy.h"

static uint64_t priority(struct rt_task *t)
{
	if (t->since != t->next.count || !t->rank) {
		t->since = t->next.count;
		t->rank = rt_sched_random() | 1;
	}
	return t->rank;
}

static struct rt_task *choose(struct rt_task *current, struct rt_task *const *enabled, unsigned n)
{
	struct rt_task *best = rt_sched_highest(enabled, n, priority);

	(void)current;
	for (unsigned i = 0; i < n; i++)
		if (enabled[i] != best && rt_steps_conflict(&enabled[i]->next, &best->next))
			enabled[i]->rank = 0;
	return best;
}

static struct rt_task *wakes(struct rt_task *signaller, struct rt_task *const *waiters, unsigned n)
{
	(void)signaller;
	return rt_sched_highest(waiters, n, priority);
}

const struct rt_strategy rt_strategy_pos = {.name = "pos", .choose = choose, .wakes = wakes};
