/*
 * Goals that are the end of a wait at a barrier. A run can be stopped before the arrival, not behind it: the arrival is
 * the goal instead, and its thread runs up to there.
 */
#include "lib/schedule/planner.h"

#include <stdlib.h>
#include <string.h>

/* Of each event of the goal that ends a wait at a barrier: the ordinal of its arrival; 0 of the others. */
static enum rt_status find_arrivals(struct rt_trace *trace, const struct plan_request *q,
                                    uint64_t arrivals[ANOMALY_EVENTS_MAX], struct rt_error *err)
{
	uint64_t last[ANOMALY_EVENTS_MAX] = {0};
	struct rt_pass pass;
	uint32_t left = q->goal_count;
	for (struct rt_event *e = rt_pass_first(&pass, trace, err); e && left; e = rt_pass_next(&pass))
		for (uint32_t i = 0; i < q->goal_count; i++) {
			if (q->goal[i].thread != e->thread)
				continue;
			if (e->op == RT_OP_BARRIER_ARRIVE)
				last[i] = e->ordinal;
			if (q->goal[i].from == e->ordinal) {
				arrivals[i] = e->op == RT_OP_BARRIER_LEAVE ? last[i] : 0;
				left--;
			}
		}
	return pass.status;
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
	uint64_t arrivals[ANOMALY_EVENTS_MAX] = {0};
	*made = NULL;
	enum rt_status status = q->kind == GOAL_DEADLOCK ? find_arrivals(trace, q, arrivals, err) : RT_OK;
	for (uint32_t i = 0; !status && i < q->goal_count; i++) {
		if (!arrivals[i])
			continue;
		if (!*made && !(*made = malloc((q->run_count + 1) * sizeof **made)))
			return rt_error_set(err, RT_EMEMORY, "no memory for a schedule");
		if (q->runs != *made && q->run_count)
			memcpy(*made, q->runs, q->run_count * sizeof **made);
		q->runs = *made;
		cut(*made, &q->run_count, q->goal[i].thread, arrivals[i]);
		q->goal[i].from = arrivals[i];
	}
	return status;
}
