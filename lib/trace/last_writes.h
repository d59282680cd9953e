/*
 * By access: the last write of its cell before it in the trace, which is what a read saw; and the writes by rank. Two
 * bits an access and eight bytes for 64 of them: a number for each would be an eighth of the memory of an analysis.
 */
#ifndef LIB_TRACE_LAST_WRITES_H
#define LIB_TRACE_LAST_WRITES_H

#include "lib/trace/model.h"

enum { LAST_WRITES_GROUP = 64 };

struct last_writes {
	uint64_t *writes; /* by entry of cell_events, bits: a write */
	uint64_t *firsts; /* the same: the first access of its cell */
	uint32_t *before; /* by LAST_WRITES_GROUP entries: entry of the last write before their first one in its cell */
	uint32_t *ranks;  /* by as many: number of writes before them, of any cell */
	uint32_t *entry;  /* by event: its entry in its first cell */
	uint32_t count;   /* of writes */
};

/* False without memory. */
bool last_writes_init(struct last_writes *w, const struct model *m);
void last_writes_release(struct last_writes *w);

/* Entry of the last write before this entry in its cell; MODEL_NONE: the initial content. */
static inline uint32_t last_writes_before(const struct last_writes *w, uint32_t entry)
{
	uint32_t group = entry / LAST_WRITES_GROUP, at = entry % LAST_WRITES_GROUP;
	uint64_t earlier = (UINT64_C(1) << at) - 1, writes = w->writes[group] & earlier;
	if (w->firsts[group] >> at & 1)
		return MODEL_NONE;
	uint64_t marks = writes | (w->firsts[group] & earlier);
	if (!marks)
		return w->before[group];
	uint32_t last = LAST_WRITES_GROUP - 1 - (uint32_t)__builtin_clzll(marks);
	return writes >> last & 1 ? group * LAST_WRITES_GROUP + last : MODEL_NONE;
}

/* Number of the write at this entry, from 0: cell by cell, and in each in the order of the trace. */
static inline uint32_t last_writes_rank(const struct last_writes *w, uint32_t write)
{
	uint32_t group = write / LAST_WRITES_GROUP;
	uint64_t earlier = w->writes[group] & ((UINT64_C(1) << write % LAST_WRITES_GROUP) - 1);
	return w->ranks[group] + (uint32_t)__builtin_popcountll(earlier);
}

#endif
