/*
 * Threads that can never go on from where they stand when the trace ends. Only what is certain: a thread that runs, is
 * in a call that is not understood, or waits for a time may yet do anything.
 *
 * A thread that waits for a lock waits for all that hold it (and-model; Knapp, Deadlock detection in distributed
 * databases, 1987), for the end of a thread or of a routine that runs once for that thread. A signal, a semaphore's
 * token or a barrier's missing party may come from any thread (or-model), so such a thread is stuck only if no other
 * thread can go on.
 */
#ifndef LIB_SEARCH_STUCK_H
#define LIB_SEARCH_STUCK_H

#include "lib/anomaly/anomaly.h"

/* Threads that wait for one another, and those behind them; or those that wait for what nobody can give. */
struct stuck_group {
	uint32_t cycle;  /* the first ones that are a ring: each waits for the next one. 0: it is no deadlock */
	uint32_t count;  /* of all */
	uint32_t *waits; /* the BLOCK of each, event indices */
};

struct stuck {
	struct stuck_group *groups; /* deadlocks, by their earliest event; then at most one without a cycle */
	uint32_t count;
};

/* False: no memory; there is nothing to release then. */
bool stuck_find(const struct model *m, struct stuck *out);
void stuck_release(struct stuck *s);

/* Appends those with a ring (deadlocks), or the one without (a hang), as observed anomalies. False without memory. */
bool stuck_report(const struct model *m, bool rings, struct anomaly_list *list);

#endif
