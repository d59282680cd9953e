/* Random: at a step, now and then, another thread goes on, each enabled one as likely as another. */
#include "recorder/sched/strategy.h"

static bool goes_on(struct rt_task *current)
{
	(void)current;
	return !rt_sched_hesitates();
}

static struct rt_task *choose(struct rt_task *current, struct rt_task *const *enabled, unsigned n)
{
	(void)current;
	return rt_sched_any(enabled, n);
}

const struct rt_strategy rt_strategy_random = {
    .name = "random", .goes_on = goes_on, .choose = choose, .wakes = rt_sched_wakes_any};
