/*
 * Provers in several processes: each decides every n-th anomaly, as a copy of this one. The parent takes the results in
 * order. Where a budget that all share would have run out, it decides the anomaly again itself, so that the verdicts
 * are those of one process.
 */
#ifndef LIB_PROVE_JOBS_H
#define LIB_PROVE_JOBS_H

#include "lib/prove/prove.h"

struct jobs;

/* Anomalies, the order in which they are to be decided, and what decides them. */
struct jobs_task {
	const struct anomaly_list *list; /* borrowed, like order */
	const uint32_t *order;           /* indices of `count` anomalies of the list */
	size_t count;
	enum rt_status (*decide)(struct provers *p, struct anomaly *a, struct rt_error *err);
};

/* Starts to decide the anomalies in `count` processes. NULL if that fails: the caller then decides them. Borrows the
 * provers and the list; only jobs_take and the task's `decide`, in order, may change them. */
struct jobs *jobs_start(struct provers *p, const struct jobs_task *task, uint32_t count);
/* Ends the processes, finished or not. NULL is allowed. */
void jobs_end(struct jobs *j);

/* Takes over the result for the task's next anomaly, in order. False if the task's `decide` must decide it. */
bool jobs_take(struct jobs *j, struct anomaly *a);

#endif
