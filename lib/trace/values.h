/*
 * Which writes of a cell write the same value. In a trace with values, a correct reordering may let a read see any
 * write of the value that it saw: its thread then continues in the same way.
 *
 * The value of a write is the recorded one. Without one (an update has the value that it read) it is the value that its
 * reads saw; the same applies to a cell's initial value (which is 0 if the trace says so: rt_trace_info.zeroed), unless
 * the memory was allocated in the trace. If a read saw another value than the write before it wrote, some write is not
 * in the trace; that read's write equals no other.
 *
 * In a trace whose order is stamped the value of an access that races with a write is uncertain and does not count
 * (lib/relation/raced.h). A write that races may still have a value by its reads, if the stamps are right as to which
 * write these saw: it is not sure.
 */
#ifndef LIB_TRACE_VALUES_H
#define LIB_TRACE_VALUES_H

#include "lib/trace/last_writes.h"

/* Of writes, by rank (last_writes.h); writes are entries of model.cell_events. MODEL_NONE stands for the initial value
 * of the cell. */
struct values {
	const struct last_writes *writes; /* borrowed */
	uint32_t *like;                   /* the cell's first write of this value; itself if the value is unknown */
	uint32_t *next;                   /* the cell's next write of the same value; MODEL_NONE if there is none */
	uint32_t *initial; /* by cell: its first write of its initial value; MODEL_NONE if there is none */
	uint8_t *sure;     /* by entry, bits: a write whose value is certain */
	bool *initially;   /* by cell: its initial value is known */
	bool any;          /* some read could see another write than it saw */
};

/* False without memory. The model and the writes must outlive it. */
bool values_init(struct values *v, const struct model *m, const struct last_writes *writes);
void values_release(struct values *v);

/* True if the entry (a write; MODEL_NONE: the initial content) has a certain value. */
static inline bool values_sure(const struct values *v, uint32_t cell, uint32_t entry)
{
	return entry == MODEL_NONE ? v->initially[cell] : v->sure[entry / 8] >> entry % 8 & 1;
}

/* The first write of the value that this write (MODEL_NONE: the initial content) left. */
static inline uint32_t values_like(const struct values *v, uint32_t write)
{
	return write == MODEL_NONE ? MODEL_NONE : v->like[last_writes_rank(v->writes, write)];
}
/* The cell's next write of the value that this write left; MODEL_NONE if there is none. */
static inline uint32_t values_next(const struct values *v, uint32_t write)
{
	return v->next[last_writes_rank(v->writes, write)];
}
/* The first write of this value, and whether the value has another source. */
static inline uint32_t values_first(const struct values *v, uint32_t cell, uint32_t like)
{
	return like == MODEL_NONE ? v->initial[cell] : like;
}
static inline bool values_several(const struct values *v, uint32_t cell, uint32_t like)
{
	return like == MODEL_NONE ? v->initial[cell] != MODEL_NONE : values_next(v, like) != MODEL_NONE;
}

/* By event index, bits: plain reads that may see another write than they saw. NULL without memory. */
uint8_t *values_free_reads(const struct values *v, const struct model *m);

#endif
