/* What a plan is asked for, from a script; see plan.h. */
#include "lib/schedule/plan.h"

#include <stdlib.h>

/* The kind of a goal that has none given, by its events' operations; script_judge determines it in the same way. */
static enum rt_status find_kind(struct plan_request *q, struct rt_trace *trace, struct rt_error *err)
{
	struct rt_pass pass;
	uint32_t waits = 0, accesses = 0;
	for (struct rt_event *e = rt_pass_first(&pass, trace, err); e; e = rt_pass_next(&pass))
		for (uint32_t k = 0; k < q->goal_count; k++) {
			if (q->goal[k].thread != e->thread || q->goal[k].from != e->ordinal)
				continue;
			waits += script_is_wait(e->op);
			accesses += rt_op_is_access(e->op);
		}
	q->kind = q->goal_count > 1 && waits == q->goal_count                                     ? GOAL_DEADLOCK
	          : q->goal_count == 2 && accesses == 2 && q->goal[0].thread != q->goal[1].thread ? GOAL_RACE
	                                                                                          : GOAL_SEQUENCE;
	return pass.status;
}

enum rt_status plan_request_of(const struct script *s, struct rt_trace *trace, struct plan_request *request,
                               struct rt_error *err)
{
	uint32_t *threads = script_threads(s, trace);
	struct plan_run *runs = calloc(s->step_count + 1, sizeof *runs);
	enum rt_status status = RT_OK;
	if (!threads || !runs)
		status = rt_error_set(err, RT_EMEMORY, "no memory for the plan of a run");
	*request = (struct plan_request){.runs = runs, .run_count = s->step_count, .goal_count = s->goal_count};
	for (size_t i = 0; !status && i < s->step_count; i++)
		runs[i] = (struct plan_run){threads[s->steps[i].name], s->steps[i].from, s->steps[i].to};
	for (uint32_t i = 0; !status && i < s->goal_count; i++)
		request->goal[i] = (struct plan_run){threads[s->goal[i].name], s->goal[i].ordinal, s->goal[i].ordinal};
	request->kind = s->kind;
	if (!status && !s->kind_given)
		status = find_kind(request, trace, err);
	free(threads);
	if (status) {
		free(runs);
		request->runs = NULL;
	}
	return status;
}
