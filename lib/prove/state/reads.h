/* Constraints on reads: a read must see the write that it saw, or with values any write of the value that it saw, or is
 * free. */
#ifndef LIB_PROVE_STATE_READS_H
#define LIB_PROVE_STATE_READS_H

#include "lib/anomaly/goal.h"
#include "lib/relation/facts.h"
#include "lib/trace/values.h"

struct reads {
	const struct model *m;                 /* borrowed, like the others */
	bool free;                             /* reads may see any write; atomic ones still synchronise as they did */
	const struct values *values;           /* or NULL: only reads-from counts */
	const struct last_writes *last_writes; /* one of the facts */
};

/* False without memory. */
bool reads_init(struct reads *r, struct facts *f, bool free, const struct values *values);

/* Entry of an access in a cell that it touches. entry: its in the cell before, if it touches that. */
static inline uint32_t reads_entry(const struct reads *r, uint32_t e, uint32_t cell, uint32_t entry)
{
	return cell == r->m->events[e].object ? r->last_writes->entry[e] : model_entry_behind(r->m, cell, e, entry);
}

/* What the read at this entry must see, and what a write there provides. With values, the first write of a value
 * represents all. */
static inline uint32_t reads_wanted(const struct reads *r, uint32_t entry)
{
	uint32_t saw = last_writes_before(r->last_writes, entry);
	return r->values ? values_like(r->values, saw) : saw;
}
static inline uint32_t reads_left_by(const struct reads *r, uint32_t entry)
{
	return r->values ? values_like(r->values, entry) : entry;
}
/* True if e reads and must see what it saw. The goal's own events need not. */
static inline bool reads_must(const struct reads *r, const struct goal *goal, uint32_t e)
{
	return !r->free && rt_op_reads(model_op(r->m, e)) && !goal_runs(goal, e);
}

#endif
