/*
 * Which writes of a cell write the same value. Where a trace has values, a correct reordering may let a read see any
 * write of the value that it saw, since its thread goes on in the same way then.
 *
 * The value of a write is the one recorded; in a trace whose order is exact, else the one that reads of it saw, and so
 * of the value that a cell has before its first write (which is 0 where the trace says so: rt_trace_info.zeroed). Where
 * a read saw another value than the write before it wrote, something wrote that is not in the trace, and that write is
 * like no other.
 */
#ifndef LIB_TRACE_VALUES_H
#define LIB_TRACE_VALUES_H

#include "lib/trace/model.h"

/* By entry of model.cell_events. MODEL_NONE stands for the value that the cell began with. */
struct values {
	uint32_t *like;    /* a write: the cell's first write of this value; itself if that is not known */
	uint32_t *saw;     /* the same of the last write before the entry */
	uint32_t *next;    /* a write: the cell's next one of the same value, MODEL_NONE: there is none */
	uint32_t *initial; /* by cell: its first write of the value that it began with, MODEL_NONE: there is none */
	bool any;          /* some read could see another write than it saw */
};

/* False without memory. The model must outlive it. */
bool values_init(struct values *v, const struct model *m);
void values_release(struct values *v);

/* The first write of this value, and whether there is another place that it comes from. */
static inline uint32_t values_first(const struct values *v, uint32_t cell, uint32_t like)
{
	return like == MODEL_NONE ? v->initial[cell] : like;
}
static inline bool values_several(const struct values *v, uint32_t cell, uint32_t like)
{
	return like == MODEL_NONE ? v->initial[cell] != MODEL_NONE : v->next[like] != MODEL_NONE;
}

/* By event index, bits: plain reads that may see another write than they saw. NULL without memory. */
uint8_t *values_free_reads(const struct values *v, const struct model *m);

#endif
