/*
 * Provers side by side: processes of their own that decide every n-th anomaly each, as copies of this one. Whoever
 * gathers what they found takes it in order and asks again here where a budget that all share would have run out, so
 * that the verdicts are those of one process, however many there are.
 */
#ifndef LIB_PROVE_JOBS_H
#define LIB_PROVE_JOBS_H

#include "lib/prove/prove.h"

struct jobs;

/* Begins to decide the anomalies in `count` processes. NULL if that cannot be: then they are decided here. The provers
 * and the list are borrowed, and not to be changed but by jobs_take and provers_decide in order. */
struct jobs *jobs_start(struct provers *p, const struct anomaly_list *list, uint32_t count);
/* Ends them, done or not. NULL is allowed. */
void jobs_end(struct jobs *j);

/* Takes over what was found about the list's next anomaly, in order. False: it is for provers_decide to do. */
bool jobs_take(struct jobs *j, struct anomaly *a);

#endif
