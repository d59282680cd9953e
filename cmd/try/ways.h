/* Ways to make a program show an anomaly: plans for its runs (tracefmt/plan.h). Each *plan is owned by the caller. */
#ifndef CMD_TRY_WAYS_H
#define CMD_TRY_WAYS_H

#include "lib/report/report.h"
#include "lib/schedule/plan.h"

/* True if threads can be held at the anomaly's positions until they meet. */
bool way_can_search(const struct report *r, const struct anomaly *a);

/* True if a run can be made to take a schedule to it: its own, or the recorded run, in whose end threads are stuck. */
bool way_has_schedule(const struct report *r, const struct anomaly *a);

/* By the anomaly's schedule. rebuilt: as of plan_make. */
enum rt_status way_by_schedule(const struct report *r, const struct anomaly *a, const struct rebuilt *rebuilt,
                               struct rt_plan **plan, struct rt_error *err);
/* By holding threads at its positions. */
enum rt_status way_by_search(const struct report *r, const struct anomaly *a, const struct rebuilt *rebuilt,
                             struct rt_plan **plan, struct rt_error *err);
/* By these runs of a trace, the last of which ends with the goal. Behind them each thread goes on for as long as it
 * can, and the thread `last` behind all others. */
enum rt_status way_by_runs(struct rt_trace *trace, const struct plan_run *runs, size_t count, uint32_t last,
                           struct rt_plan **plan, struct rt_error *err);
/*
 * By the schedule that the trace of a run has which left its own, of the anomaly of this kind with this fingerprint.
 * Such a trace is exact: what was a guess may be proved by it. On RT_OK *trace is owned by the caller: the plan is of
 * it. RT_EINPUT: it has none.
 */
enum rt_status way_by_rerun(const char *path, enum anomaly_kind kind, const char *fingerprint, struct rt_trace **trace,
                            struct rt_plan **plan, struct rt_error *err);
/*
 * What became of a run, whose trace this is, for an entry of threads that are stuck in the end of the recorded one. If
 * they wait in the kernel no run is ended before its time is over: whether they are stuck again is seen in its trace.
 */
void way_take_stuck(const struct report *r, size_t entry, const char *path, struct replay_run *run);

#endif
