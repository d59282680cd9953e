/*
 * Locks that a thread holds between two of its events: another thread's event can come in between only where the thread
 * holds no lock that excludes the other's. Of the locksets in between only the weakest count; mostly there is one.
 */
#ifndef LIB_SEARCH_GAP_H
#define LIB_SEARCH_GAP_H

#include "lib/trace/model.h"

#include <stdbool.h>

struct gap_set;
struct gap_memo;

struct gaps {
	const struct model *m; /* borrowed */
	uint32_t *next;        /* by segment: the next one of its thread; MODEL_NONE: none */
	struct gap_set *sets;  /* sets of more than one lockset */
	uint32_t set_count, set_capacity;
	struct gap_memo *memo;
	bool failed; /* no memory */
};

bool gaps_init(struct gaps *g, const struct model *m);
void gaps_release(struct gaps *g);
/* Number of the set of locksets between e1 and e3, events of one thread, e1 first: one lockset's own, or a higher one.
 * If there are too many to examine, the empty lockset, which admits all. */
uint32_t gaps_between(struct gaps *g, uint32_t e1, uint32_t e3);
/* True if an event with this lockset can come in between. */
bool gaps_admit(const struct gaps *g, uint32_t gap, uint32_t lockset);
/* Number of a lockset that is held all through the gap, possibly with others; 0, the empty one, if none is known. */
uint32_t gaps_core(const struct gaps *g, uint32_t gap);

#endif
