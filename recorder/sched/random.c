/*
 * Random: at a step, sometimes another thread goes on, each enabled one as likely as another. Often at first, so that
 * small programs see many interleavings; rarely in long runs, where each change of threads costs more than the step.
 */
#include "recorder/sched/strategy.h"

#define OFTEN 4u     /* mean number of steps between decisions at first */
#define RARE 256u    /* and in the end */
#define SLOWING 200u /* steps after which the mean is one more */

static uint64_t steps, wait;

static void draw(void)
{
	uint64_t mean = OFTEN + steps / SLOWING;

	if (mean > RARE)
		mean = RARE;
	wait = rt_sched_random() % (2 * mean);
}

static bool init(const struct rt_control *control)
{
	(void)control;
	draw();
	return true;
}

static bool goes_on(struct rt_task *current)
{
	(void)current;
	steps++;
	return wait-- > 0;
}

static struct rt_task *choose(struct rt_task *current, struct rt_task *const *enabled, unsigned n)
{
	(void)current;
	draw();
	return enabled[n > 1 ? rt_sched_random() % n : 0];
}

static struct rt_task *wakes(struct rt_task *signaller, struct rt_task *const *waiters, unsigned n)
{
	(void)signaller;
	return waiters[rt_sched_random() % n];
}

const struct rt_strategy rt_strategy_random = {
    .name = "random", .init = init, .goes_on = goes_on, .choose = choose, .wakes = wakes};
