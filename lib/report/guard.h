/*
 * Which lock guards a variable: the one that most of its accesses hold, once it is shared (Eraser's exclusive phase
 * left out) and by two threads at least. The idea is RacerX's (SOSP 2003): a lock that is held at 117 of 118 accesses
 * was meant at the 118th, too.
 */
#ifndef LIB_REPORT_GUARD_H
#define LIB_REPORT_GUARD_H

#include "lib/trace/model.h"

struct guard {
	uint32_t lock;     /* object index; MODEL_NONE: no lock is held at more than half of the accesses */
	uint64_t held, of; /* accesses that hold it, of all that were kept since the variable is shared */
};

/*
 * What was worked out of a model's cells, which is not worked out again: a cell may have thousands of anomalies, and
 * millions of accesses. Without memory there is no guard.
 */
struct guards {
	const struct model *m;
	struct guard_known *known; /* owned */
};
void guards_release(struct guards *g);

/* The guard of a cell. */
struct guard guard_of(struct guards *g, uint32_t cell);
/* True if the lock guards the cell: two threads hold it there, and more than half of the accesses. */
bool guard_guards(struct guards *g, uint32_t lock, uint32_t cell);
/* True if the event's thread holds the lock at the event, as a reader or alone. */
bool guard_is_held(const struct model *m, uint32_t e, uint32_t lock);

#endif
