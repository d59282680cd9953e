/*
 * PCT: "A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs" (Burckhardt, Kothari, Musuvathi,
 * Nagarakatte 2010). Threads have random priorities, and the enabled one of the highest goes on. At d-1 random ones of
 * the run's k steps the running thread's priority becomes lower than all: d-1 at the first, 1 at the last. A bug of
 * depth d in n threads is found with a probability of at least 1/(n k^(d-1)). k is that of an earlier run.
 *
 * A thread that makes twice as many steps and more may loop until another one does something: it becomes the last. So
 * does one that only computes, for as long as the scheduler lets any do so while others wait.
 */
#include "recorder/sched/strategy.h"

enum { DEPTH = 3, DEPTH_MAX = 64, STEPS = 1000, PATIENCE = 20000 };
#define LOWEST (UINT64_C(1) << 32) /* of change points */

static RT_OF_RUN uint64_t points[DEPTH_MAX]; /* rising */
static RT_OF_RUN unsigned point_count, passed;
static RT_OF_RUN uint64_t patience, last; /* a thread's number of steps; threads that became the last */

static bool init(const struct rt_control *control)
{
	uint64_t k = rt_sched_aims->steps ? rt_sched_aims->steps : STEPS;
	unsigned depth = rt_sched_aims->depth ? rt_sched_aims->depth : DEPTH;

	(void)control;
	passed = 0;
	last = 0;
	patience = 2 * k + PATIENCE;
	point_count = (depth < DEPTH_MAX ? depth : DEPTH_MAX) - 1;
	for (unsigned i = 0; i < point_count; i++) {
		uint64_t point = 1 + rt_sched_random() % k;
		unsigned at = i;

		for (; at > 0 && points[at - 1] > point; at--)
			points[at] = points[at - 1];
		points[at] = point;
	}
	return true;
}

/* A thread's first one; higher than all that change points give. */
static uint64_t priority(struct rt_task *t)
{
	if (!t->rank)
		t->rank = (rt_sched_random() | UINT64_C(1) << 63);
	return t->rank;
}

static void becomes_last(struct rt_task *t)
{
	t->rank = LOWEST - ++last;
	t->since = 0;
}

static bool goes_on(struct rt_task *current)
{
	while (passed < point_count && rt_sched_steps() >= points[passed]) {
		current->rank = LOWEST + point_count - passed;
		passed++;
	}
	if (++current->since >= patience)
		becomes_last(current);
	return false;
}

static struct rt_task *choose(struct rt_task *current, struct rt_task *const *enabled, unsigned n)
{
	if (current && current->tired)
		becomes_last(current);
	return rt_sched_highest(enabled, n, priority);
}

static struct rt_task *wakes(struct rt_task *signaller, struct rt_task *const *waiters, unsigned n)
{
	(void)signaller;
	return rt_sched_highest(waiters, n, priority);
}

const struct rt_strategy rt_strategy_pct = {
    .name = "pct", .init = init, .goes_on = goes_on, .choose = choose, .wakes = wakes};
