/*
 * From a schedule of a trace to the plan that a run of the program follows (tracefmt/plan.h). What the trace knows by
 * address becomes what another run knows too.
 */
#ifndef LIB_SCHEDULE_PLAN_H
#define LIB_SCHEDULE_PLAN_H

#include "lib/schedule/rebuilt.h"
#include "lib/schedule/script.h"
#include "tracefmt/plan.h"
#include "tracefmt/trace.h"

/* Runs of one thread's consecutive events, by index into the trace's threads and by ordinals; then the goal. */
struct plan_run {
	uint32_t thread;
	uint64_t from, to;
};
struct plan_request {
	const struct plan_run *runs;
	size_t run_count;
	struct plan_run goal[ANOMALY_EVENTS_MAX]; /* from is the event */
	uint32_t goal_count;
	enum goal_kind kind;
};

/*
 * Makes the plan, in a few passes over the trace up to the schedule's end. rebuilt: where positions are in the build
 * that is to be run; NULL: it is the recorded one. On RT_OK *out is owned by the caller (free), size bytes long.
 * RT_EINPUT: the schedule is not the trace's, or its goal is nothing that a run can be stopped at.
 */
enum rt_status plan_make(struct rt_trace *trace, const struct plan_request *request, const struct rebuilt *rebuilt,
                         struct rt_plan **out, struct rt_error *err);
/*
 * Makes a plan without a schedule. Threads are to be held at the positions of the events until those of a race or of a
 * deadlock meet, or those of a sequence come in its order. Where threads may change on the way besides: at all that
 * synchronises, and at the accesses at the further positions. The same otherwise.
 */
struct plan_position {
	uint64_t pc;
	unsigned op;
	uint32_t thread;      /* index */
	uint32_t cell, cells; /* of an access: the model's first one, and their number */
};
enum rt_status plan_search(struct rt_trace *trace, enum goal_kind kind, const struct plan_position *goal,
                           uint32_t goal_count, const struct plan_position *further, size_t further_count,
                           const struct rebuilt *rebuilt, struct rt_plan **out, struct rt_error *err);
/* The request that a written schedule is. On RT_OK request->runs is owned by the caller. */
enum rt_status plan_request_of(const struct script *s, struct rt_trace *trace, struct plan_request *request,
                               struct rt_error *err);

/* True if such an event synchronises, and a run can be stopped before it. */
bool plan_is_sync(unsigned op);
/* The same, or it is an access. */
bool plan_can_stop(unsigned op);

/* The parts of a plan. */
static inline void *plan_part(struct rt_plan *plan, uint64_t offset)
{
	return (char *)plan + offset;
}

#endif
