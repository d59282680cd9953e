/*
 * Which lock guards a variable: the one that most of its accesses hold, once it is shared (Eraser's exclusive phase
 * left out) and by two threads at least. The idea is RacerX's (SOSP 2003): a lock that is held at 117 of 118 accesses
 * was meant at the 118th, too.
 */
#ifndef LIB_ANALYSIS_GUARD_H
#define LIB_ANALYSIS_GUARD_H

#include "lib/relation/por.h"

struct guard {
	uint32_t lock;     /* object index; MODEL_NONE: no lock is held at more than half of the accesses */
	uint64_t held, of; /* accesses that hold it, of all that were kept while the variable is shared */
};

/* The accesses of a cell while it is shared: from the second thread's first one on, up to the last one that another
 * thread's is not ordered before (what main does after it joined the others needs no lock). */
struct guard_span {
	uint32_t first, end; /* places in the cell's list of accesses */
};
struct guard_span guard_span_of(const struct model *m, const struct segment_order *por, uint32_t cell);

/*
 * What was worked out of a model's cells, which is not worked out again: a cell may have thousands of anomalies, and
 * millions of accesses. Without memory there is no guard, and no_memory is set.
 */
struct guards {
	const struct model *m;
	const struct segment_order *por; /* borrowed; NULL: not known, and all later accesses count */
	struct guard_known *known;       /* owned */
	bool no_memory;
};
void guards_release(struct guards *g);

/* True if an access in the span counts: all but the end of the block, which its last user may free without the lock. */
bool guard_counts_event(const struct model *m, uint32_t e);

/* How often a lock is held at the accesses of a cell. */
struct guard_count {
	uint32_t lock, thread; /* first thread that held it at an access */
	uint64_t held;         /* accesses while the cell is shared */
	bool shared;           /* another thread held it, too */
};
/* The locks of a cell, *n, borrowed until guards_release; *of: its accesses while it is shared. NULL without memory. */
const struct guard_count *guard_counts(struct guards *g, uint32_t cell, uint32_t *n, uint64_t *of);

/* The guard of a cell. */
struct guard guard_of(struct guards *g, uint32_t cell);
/* True if the lock guards the cell: two threads hold it there, and more than half of the accesses. */
bool guard_guards(struct guards *g, uint32_t lock, uint32_t cell);
/* True if the event's thread holds the lock at the event so that it guards it: alone, or as a reader that reads. */
bool guard_is_held(const struct model *m, uint32_t e, uint32_t lock);

#endif
