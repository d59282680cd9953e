/* Plans for the runs of a replay; see ways.h. */
#include "cmd/try/ways.h"

#include "lib/report/steps.h"

#include <stdlib.h>
#include <string.h>

bool way_can_search(const struct report *r, const struct anomaly *a)
{
	const struct model *m = r->analysis->model;
	return (a->kind == ANOMALY_RACE && !anomaly_is_of_blocks(m, a)) || a->kind == ANOMALY_ATOMICITY ||
	       a->kind == ANOMALY_ASV || (a->kind == ANOMALY_DEADLOCK && !anomaly_is_stuck(m, a));
}

enum rt_status way_by_schedule(const struct report *r, const struct anomaly *a, const struct rebuilt *rebuilt,
                               struct rt_plan **plan, struct rt_error *err)
{
	const struct model *m = r->analysis->model;
	const struct goal goal = goal_of(a);
	struct plan_request request = {.kind = goal.kind, .goal_count = a->event_count};
	struct steps steps;
	if (!steps_init(&steps, m, r->descriptions, a))
		return rt_error_set(err, RT_EMEMORY, "no memory for the plan of a run");
	struct plan_run *runs = calloc(steps.count + 1, sizeof *runs);
	enum rt_status status = runs ? RT_OK : rt_error_set(err, RT_EMEMORY, "no memory for the plan of a run");
	for (size_t i = 0; !status && i < steps.count; i++)
		runs[i] = (struct plan_run){steps.items[i].thread, steps.items[i].from, steps.items[i].to};
	for (uint32_t i = 0; i < a->event_count; i++) {
		uint64_t ordinal = description_ordinal(r->descriptions, m->events[a->events[i]].number);
		request.goal[i] = (struct plan_run){model_thread_of(m, a->events[i]), ordinal, ordinal};
	}
	request.runs = runs;
	request.run_count = steps.count;
	if (!status)
		status = plan_make(r->analysis->trace, &request, rebuilt, plan, err);
	free(runs);
	steps_release(&steps);
	return status;
}

static struct plan_position position_of(const struct model *m, uint32_t event)
{
	const struct model_site *site = &m->sites[m->events[event].site];
	return (struct plan_position){.pc = site->pc,
	                              .op = model_op(m, event),
	                              .thread = model_thread_of(m, event),
	                              .cell = m->events[event].object,
	                              .cells = site->cells};
}

/* Threads may change wherever there are races: what a thread sees there decides where it goes. */
enum rt_status way_by_search(const struct report *r, const struct anomaly *a, const struct rebuilt *rebuilt,
                             struct rt_plan **plan, struct rt_error *err)
{
	enum { FURTHER = 1024 };
	const struct model *m = r->analysis->model;
	struct plan_position goal[ANOMALY_EVENTS_MAX], further[FURTHER];
	size_t count = 0;
	for (uint32_t i = 0; i < a->event_count; i++)
		goal[i] = position_of(m, a->events[i]);
	for (size_t i = 0; i < r->count && count + 2 <= FURTHER; i++) {
		const struct anomaly *other = r->entries[i].anomaly;
		if (other->kind != ANOMALY_RACE || anomaly_is_of_blocks(m, other))
			continue;
		further[count++] = position_of(m, other->events[0]);
		further[count++] = position_of(m, other->events[1]);
	}
	return plan_search(r->analysis->trace, goal_of(a).kind, goal, a->event_count, further, count, rebuilt, plan,
	                   err);
}

enum rt_status way_by_runs(struct rt_trace *trace, const struct plan_run *runs, size_t count, uint32_t last,
                           struct rt_plan **plan, struct rt_error *err)
{
	const struct plan_run *goal = &runs[count - 1];
	struct plan_request request = {.kind = GOAL_SEQUENCE,
	                               .runs = runs,
	                               .run_count = count,
	                               .goal = {{goal->thread, goal->to, goal->to}},
	                               .goal_count = 1};
	enum rt_status status = plan_make(trace, &request, NULL, plan, err);
	if (!status)
		(*plan)->last = last + 1;
	return status;
}

enum rt_status way_by_rerun(const char *path, enum anomaly_kind kind, const char *fingerprint, struct rt_trace **trace,
                            struct rt_plan **plan, struct rt_error *err)
{
	struct analysis_options options = {
	    .kinds = 1u << kind, .limits.of[LIMIT_SCHEDULE_STEPS] = UINT64_MAX, .prove.guess = true};
	struct report_options report_options = {.least = VERDICT_CONDITIONAL};
	struct analysis *a = NULL;
	struct report *r = NULL;
	enum rt_status status = rt_trace_open(path, trace, err);
	if (status)
		return status;
	status = analysis_run(*trace, &options, &a, err);
	if (!status)
		status = report_create(a, &report_options, &r, err);
	size_t i = 0;
	while (!status && i < r->count &&
	       (strcmp(r->entries[i].fingerprint, fingerprint) != 0 || !r->entries[i].anomaly->schedule))
		i++;
	if (!status)
		status = i < r->count ? way_by_schedule(r, r->entries[i].anomaly, NULL, plan, err)
		                      : rt_error_set(err, RT_EINPUT, "the run does not have it");
	report_free(r);
	analysis_free(a);
	if (status) {
		rt_trace_free(*trace);
		*trace = NULL;
	}
	return status;
}
