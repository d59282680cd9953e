/*
 * Noise, after ConTest (Edelstein et al., Multithreaded Java program test generation, 2002): a share of the threads
 * that are about to take a lock wait first, for a random time. Otherwise random.
 */
#include "recorder/sched/strategy.h"

enum { SHARE = 4, LONGEST_NS = 1000000 }; /* one acquire of SHARE waits, for up to this virtual time */

/* Waits before the step at hand. */
static bool waits(const struct rt_task *t)
{
	return t->since == t->next.count && rt_sched_now() < t->rank;
}

static bool goes_on(struct rt_task *current)
{
	if (rt_step_acquires(&current->next) && rt_sched_random() % SHARE == 0) {
		current->since = current->next.count;
		current->rank = rt_sched_now() + rt_sched_random() % LONGEST_NS;
		rt_sched_result()->postponed++;
		return false;
	}
	return !rt_sched_hesitates();
}

static struct rt_task *choose(struct rt_task *current, struct rt_task *const *enabled, unsigned n)
{
	struct rt_task *first = enabled[0];
	struct rt_task *other = rt_sched_any_that(enabled, n, waits, false);

	(void)current;
	for (unsigned i = 0; i < n; i++)
		if (enabled[i]->rank < first->rank)
			first = enabled[i];
	return other ? other : first; /* time passes until the first one has waited */
}

const struct rt_strategy rt_strategy_noise = {
    .name = "noise", .goes_on = goes_on, .choose = choose, .wakes = rt_sched_wakes_any};
