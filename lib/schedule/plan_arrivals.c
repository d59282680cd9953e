/*
 * Goals that are the end of a wait at a barrier, or for a condition that is not signalled. A run can be stopped before
 * the arrival, not behind it: the arrival is the goal instead, and its thread runs up to there. So is the wait's begin.
 */
#include "lib/schedule/planner.h"

#include <stdlib.h>
#include <string.h>

/* By event of the goal: what it stands for. */
struct arrivals {
	uint64_t last[ANOMALY_EVENTS_MAX];  /* ordinal of the thread's last arrival or begin of a wait */
	uint64_t mutex[ANOMALY_EVENTS_MAX]; /* of the end of a wait for a condition, 0 */
	uint64_t found[ANOMALY_EVENTS_MAX]; /* ordinal of what is the goal instead, 0 */
};

/* Adds a thread's hold of one of the mutexes, or removes it. holds: by wait, then by thread's goal. */
static void follow_mutex(const struct arrivals *a, uint32_t count, const struct rt_event *e, uint32_t k,
                         int holds[ANOMALY_EVENTS_MAX][ANOMALY_EVENTS_MAX])
{
	bool waits = e->op == RT_OP_WAIT_BEGIN || e->op == RT_OP_WAIT_END;
	bool takes = e->op == RT_OP_ACQUIRE || e->op == RT_OP_WAIT_END;
	for (uint32_t i = 0; i < count; i++)
		if (a->mutex[i] && (waits ? e->arg : e->addr) == a->mutex[i] &&
		    (waits || rt_op_group(e->op) == RT_GROUP_LOCK))
			holds[i][k] += takes ? 1 : -1;
}

/* A wait whose mutex another thread of the goal holds there waits for that, and has been signalled. */
static enum rt_status leave_signalled(struct rt_trace *trace, const struct plan_request *q, struct arrivals *a,
                                      struct rt_error *err)
{
	int holds[ANOMALY_EVENTS_MAX][ANOMALY_EVENTS_MAX] = {{0}};
	struct rt_pass pass;
	for (struct rt_event *e = rt_pass_first(&pass, trace, err); e; e = rt_pass_next(&pass))
		for (uint32_t k = 0; k < q->goal_count; k++)
			if (q->goal[k].thread == e->thread && e->ordinal < q->goal[k].from)
				follow_mutex(a, q->goal_count, e, k, holds);
	for (uint32_t i = 0; i < q->goal_count; i++)
		for (uint32_t k = 0; k < q->goal_count; k++)
			if (a->mutex[i] && i != k && holds[i][k] > 0)
				a->found[i] = 0;
	return pass.status;
}

static enum rt_status find_arrivals(struct rt_trace *trace, const struct plan_request *q, struct arrivals *a,
                                    struct rt_error *err)
{
	struct rt_pass pass;
	uint32_t left = q->goal_count;
	bool waits = false;
	for (struct rt_event *e = rt_pass_first(&pass, trace, err); e && left; e = rt_pass_next(&pass))
		for (uint32_t i = 0; i < q->goal_count; i++) {
			if (q->goal[i].thread != e->thread)
				continue;
			if (e->op == RT_OP_BARRIER_ARRIVE || e->op == RT_OP_WAIT_BEGIN)
				a->last[i] = e->ordinal;
			if (q->goal[i].from != e->ordinal)
				continue;
			bool wait = e->op == RT_OP_WAIT_END;
			a->found[i] = wait || e->op == RT_OP_BARRIER_LEAVE ? a->last[i] : 0;
			a->mutex[i] = wait ? e->arg : 0;
			waits |= wait;
			left--;
		}
	return waits && !pass.status ? leave_signalled(trace, q, a, err) : pass.status;
}

/* Leaves out what the thread does from the event on. */
static void cut(struct plan_run *runs, size_t *count, uint32_t thread, uint64_t event)
{
	size_t kept = 0;
	for (size_t i = 0; i < *count; i++) {
		struct plan_run run = runs[i];
		if (run.thread == thread && run.to >= event)
			run.to = event - 1;
		if (run.from <= run.to)
			runs[kept++] = run;
	}
	*count = kept;
}

enum rt_status planner_arrivals(struct rt_trace *trace, struct plan_request *q, struct plan_run **made,
                                struct rt_error *err)
{
	struct arrivals arrivals = {0};
	*made = NULL;
	enum rt_status status = q->kind == GOAL_DEADLOCK ? find_arrivals(trace, q, &arrivals, err) : RT_OK;
	for (uint32_t i = 0; !status && i < q->goal_count; i++) {
		if (!arrivals.found[i])
			continue;
		if (!*made && !(*made = malloc((q->run_count + 1) * sizeof **made)))
			return rt_error_set(err, RT_EMEMORY, "no memory for a schedule");
		if (q->runs != *made && q->run_count)
			memcpy(*made, q->runs, q->run_count * sizeof **made);
		q->runs = *made;
		cut(*made, &q->run_count, q->goal[i].thread, arrivals.found[i]);
		q->goal[i].from = arrivals.found[i];
	}
	return status;
}
