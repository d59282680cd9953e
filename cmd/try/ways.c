/* Plans for the runs of a replay; see ways.h. */
#include "cmd/try/ways.h"

#include "lib/base/vec.h"
#include "lib/report/steps.h"

#include <stdlib.h>
#include <string.h>

bool way_can_search(const struct report *r, const struct anomaly *a)
{
	const struct model *m = r->analysis->model;
	return (a->kind == ANOMALY_RACE && !anomaly_is_of_blocks(m, a)) || a->kind == ANOMALY_ATOMICITY ||
	       a->kind == ANOMALY_ASV || (a->kind == ANOMALY_DEADLOCK && !anomaly_is_stuck(m, a));
}

bool way_has_schedule(const struct report *r, const struct anomaly *a)
{
	return a->schedule || anomaly_is_stuck(r->analysis->model, a);
}

/* By the recorded run itself, with all that its threads did before they were stuck. That they are again is seen by how
 * the run ends. */
static enum rt_status way_by_recording(const struct report *r, const struct rebuilt *rebuilt, struct rt_plan **plan,
                                       struct rt_error *err)
{
	struct rt_trace *trace = r->analysis->trace;
	struct plan_run *runs = NULL;
	size_t count = 0, capacity = 0;
	struct rt_pass pass;
	bool ok = true;
	for (struct rt_event *e = rt_pass_first(&pass, trace, err); e && ok; e = rt_pass_next(&pass)) {
		if (count && runs[count - 1].thread == e->thread) {
			runs[count - 1].to = e->ordinal;
			continue;
		}
		ok = vec_reserve(&runs, &capacity, (uint64_t)count + 1, sizeof *runs);
		if (ok)
			runs[count++] = (struct plan_run){e->thread, e->ordinal, e->ordinal};
	}
	const struct plan_request request = {.kind = GOAL_SEQUENCE, .runs = runs, .run_count = count};
	enum rt_status status = ok ? pass.status : rt_error_set(err, RT_EMEMORY, "no memory for the plan of a run");
	if (!status)
		status = plan_make(trace, &request, rebuilt, plan, err);
	if (!status)
		(*plan)->open = 1;
	free(runs);
	return status;
}

enum rt_status way_by_schedule(const struct report *r, const struct anomaly *a, const struct rebuilt *rebuilt,
                               struct rt_plan **plan, struct rt_error *err)
{
	if (!a->schedule)
		return way_by_recording(r, rebuilt, plan, err);
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

/* What is found in the trace of a run. All three are the caller's, whatever is returned. */
static enum rt_status analyze_run(const char *path, enum anomaly_kind kind, struct rt_trace **trace,
                                  struct analysis **a, struct report **r, struct rt_error *err)
{
	struct analysis_options options = {
	    .kinds = 1u << kind, .limits.of[LIMIT_SCHEDULE_STEPS] = UINT64_MAX, .prove.guess = true};
	struct report_options report_options = {.least = VERDICT_CONDITIONAL};
	*trace = NULL;
	*a = NULL;
	*r = NULL;
	enum rt_status status = rt_trace_open(path, trace, err);
	if (!status)
		status = analysis_run(*trace, &options, a, err);
	return status ? status : report_create(*a, &report_options, r, err);
}

/* The report's first entry from `from` on with the fingerprint; their number: there is none. */
static size_t entry_of(const struct report *r, const char *fingerprint, size_t from)
{
	while (from < r->count && strcmp(r->entries[from].fingerprint, fingerprint) != 0)
		from++;
	return from;
}

enum rt_status way_by_rerun(const char *path, enum anomaly_kind kind, const char *fingerprint, struct rt_trace **trace,
                            struct rt_plan **plan, struct rt_error *err)
{
	struct analysis *a;
	struct report *r;
	enum rt_status status = analyze_run(path, kind, trace, &a, &r, err);
	size_t i = status ? 0 : entry_of(r, fingerprint, 0);
	while (!status && i < r->count && !r->entries[i].anomaly->schedule)
		i = entry_of(r, fingerprint, i + 1);
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

/* True if it is observed in the run that this is the trace of. */
static bool is_observed(const char *path, enum anomaly_kind kind, const char *fingerprint)
{
	struct rt_error ignored = {0};
	struct rt_trace *trace;
	struct analysis *a;
	struct report *r;
	bool is = false;
	if (!analyze_run(path, kind, &trace, &a, &r, &ignored))
		for (size_t i = entry_of(r, fingerprint, 0); i < r->count && !is; i = entry_of(r, fingerprint, i + 1))
			is = r->entries[i].anomaly->verdict >= VERDICT_OBSERVED;
	report_free(r);
	analysis_free(a);
	rt_trace_free(trace);
	return is;
}

void way_take_stuck(const struct report *r, size_t entry, const char *path, struct replay_run *run)
{
	const struct report_entry *e = &r->entries[entry];
	if (run->kind == OUTCOME_TIMEOUT && is_observed(path, e->anomaly->kind, e->fingerprint)) {
		run->kind = OUTCOME_CONFIRMED;
		free(run->why);
		run->why = NULL;
	}
	run->end_differs &= run->kind != OUTCOME_CONFIRMED;
}
