/*
 * Reorderings of a run in which a read sees another value than in the run, and all reads before see the same: the rest
 * of its thread may be anything, and only another run shows it. Each value that a read can come to see so is a run of
 * its own, as in maximal causality reduction (Huang, PLDI 2015); here those with the fewest changes of threads, by a
 * search with a bound on these.
 */
#ifndef LIB_EXPLORE_REORDER_H
#define LIB_EXPLORE_REORDER_H

#include "lib/explore/delay.h"

struct reordering {
	uint64_t key;     /* of the read, what its thread read before, and the value */
	uint64_t pc;      /* of the read */
	uint32_t rank;    /* number of events that matter in its thread before it */
	uint32_t thread;  /* the last one: it goes on with the read */
	uint32_t held;    /* the thread that was to wait for it last; the same: none was */
	uint32_t changes; /* of threads, other than in the run or where one has to wait */
	uint32_t torn;
	uint32_t before; /* events that come before the read and matter */
	bool known;      /* both values are known, and differ */
	bool updates;    /* it writes as well, in one step */
	struct delay_run *runs;
	size_t count;
};
struct reorderings {
	struct reordering *items; /* by rising number of changes */
	size_t count, room;
	uint64_t *seen; /* keys of what the run itself has */
	size_t seen_count, seen_room;
};

/* On RT_OK the caller releases them. None, if the trace has too many events that matter to others. */
enum rt_status reorderings_of(const struct delays *d, struct reorderings *out, struct rt_error *err);
void reorderings_release(struct reorderings *r);

#endif
