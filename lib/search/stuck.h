/*
 * Threads that can never continue from where they are when the trace ends. Only certain cases: a thread that runs, is
 * in a call that is not understood, or waits for a time may still do anything.
 *
 * A thread that waits for a lock waits for all that hold it (and-model; Knapp, Deadlock detection in distributed
 * databases, 1987); one that waits for the end of a thread or of a once-routine waits for that thread. A signal, a
 * semaphore's token or a barrier's missing party may come from any thread (or-model). Such a thread is stuck only if no
 * other thread can continue. So is one in a call of the kernel that no other process can end.
 */
#ifndef LIB_SEARCH_STUCK_H
#define LIB_SEARCH_STUCK_H

#include "lib/anomaly/anomaly.h"

/*
 * Threads that wait for one another, and those that wait for them, or for what any thread of the process might give;
 * or, where there are no such rings, those that wait for what no thread can provide.
 */
struct stuck_group {
	uint32_t cycle;  /* number of the first ones that are a ring: each waits for the next one. 0: no deadlock */
	uint32_t count;  /* of all */
	uint32_t *waits; /* the BLOCK of each, event indices */
};

struct stuck {
	struct stuck_group *groups; /* deadlocks, by their earliest event; then at most one group without a cycle */
	uint32_t count, capacity;
};

/* False without memory; there is nothing to release then. */
bool stuck_find(const struct model *m, struct stuck *out);
void stuck_release(struct stuck *s);

/* Appends the groups with a ring (deadlocks), or the one without (a hang), as observed anomalies. False without
 * memory. */
bool stuck_report(const struct model *m, bool rings, struct anomaly_list *list);

#endif
