/* The state of certain.h, shared by certain.c (single reads) and any_order.c (schedules as a whole); no other file uses
 * it. */
#ifndef LIB_PROVE_CERTAIN_STATE_H
#define LIB_PROVE_CERTAIN_STATE_H

#include "lib/prove/certain.h"
#include "lib/trace/values.h"

struct certain {
	const struct model *m;
	bool exact;
	const struct segment_order *hb; /* borrowed; NULL: the order is exact */
	uint8_t *cells;                 /* by cell: CELL_ */
	uint8_t *uncertain;             /* by entry of cell_events, bits */
	uint32_t *writes, *write_count; /* by entry; by cell: the number of its writes that are listed there */
	uint32_t *last;                 /* by thread: its last write to the current cell, MODEL_NONE */
	uint32_t *before;               /* by thread: its last one that is before the current read, MODEL_NONE */
	uint32_t *writers;              /* threads that have one */
	uint32_t writer_count;
	const struct values *values;           /* borrowed; NULL: the trace has no values */
	const struct last_writes *last_writes; /* borrowed */
	uint32_t *latest;                      /* by cell: entry of its last write in the schedule at hand */
	uint32_t *near;                        /* by cell: entry that was looked up last; its first one at the start */
	/* In the schedule at hand. By thread: its last event is an update's read, which may see another value than in
	 * the run. By cell: so may the value be that is there. */
	bool *updating, *changed;
};

/* True if atomics: they are stamped when they are performed, so the order of two of them is exact. */
static inline bool certain_exact_pair(const struct model *m, uint32_t e1, uint32_t e2)
{
	return rt_op_is_atomic(model_op(m, e1)) && rt_op_is_atomic(model_op(m, e2));
}
/* As model_entry. A schedule has most accesses of a cell in the order of the run: the entry is near the last one. */
uint32_t certain_entry(struct certain *c, uint32_t cell, uint32_t e);
/* True if the event certainly sees what it saw in the run, if this write (an entry) is its cell's last one. */
bool certain_sees_the_same(struct certain *c, uint32_t e, uint32_t cell, uint32_t write);
/*
 * True if the thread runs on in the schedule after the goal's event i. The value that this event read may matter then.
 * Unless the trace is a program's, the goal's next event alone does not count.
 */
bool certain_runs_on(const struct model *m, const struct schedule *s, const uint32_t *goal, uint32_t count, uint32_t i);
/* Resets latest after a replay of the schedule. */
void certain_forget(struct certain *c, const struct schedule *s);

/*
 * True if the schedule, which has uncertain reads, is possible in whatever order the run's racing accesses were: as the
 * order was, another schedule is. False without memory, too.
 *
 * The first part of the schedule, as far as it is closed, runs in the order of the run, whatever that was. Closed
 * means: with an event, what happens-before it; with a read, each write that it may have seen. Then all its reads see
 * what they saw. What comes after reads the last writes of that part. Where several of a cell may have been last, they
 * are, for a read that races with none, the ones of which it saw the last.
 */
bool certain_in_any_order(struct certain *c, const struct schedule *s, const uint32_t *goal, uint32_t goal_count);

#endif
