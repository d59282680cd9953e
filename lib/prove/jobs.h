/*
 * Provers in several processes: each decides every n-th anomaly, as a copy of this one. The parent takes the results in
 * order. Where a budget that all share would have run out, it decides the anomaly again itself, so that the verdicts
 * are those of one process.
 */
#ifndef LIB_PROVE_JOBS_H
#define LIB_PROVE_JOBS_H

#include "lib/prove/prove.h"

struct jobs;

/* Starts to decide the anomalies in `count` processes. NULL if that fails: the caller then decides them. Borrows the
 * provers and the list; only jobs_take and provers_decide, in order, may change them. */
struct jobs *jobs_start(struct provers *p, const struct anomaly_list *list, uint32_t count);
/* Ends the processes, finished or not. NULL is allowed. */
void jobs_end(struct jobs *j);

/* Takes over the result for the list's next anomaly, in order. False if provers_decide must decide it. */
bool jobs_take(struct jobs *j, struct anomaly *a);

#endif
