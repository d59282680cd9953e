/*
 * The judge's inside, shared by its files: judge_scan.c (what the trace says), judge_prefix.c (where a schedule begins
 * as the trace does), verify.c (replaying a schedule). Nobody else but its test includes this: least of all a prover.
 */
#ifndef LIB_JUDGE_JUDGE_H
#define LIB_JUDGE_JUDGE_H

#include "lib/judge/verify.h"
#include "lib/trace/values.h"

struct judge {
	const struct model *m;
	/* Worked out once from the trace. */
	uint32_t *before; /* by entry of cell_events: entry of the last write before it in the cell, MODEL_NONE: initial
	                     value. NULL if no access has more than one cell */
	struct values values; /* with nothing in it if the trace has none */
	/*
	 * By event. Accesses: their first cell's last write before them. RELEASE, WAIT_BEGIN: the acquiring event that
	 * it ends. WAIT_END: its signal. ONCE_SEEN: the ONCE_END. BARRIER_*: the round. HB_AFTER: how many HB_BEFORE of
	 * the object come before. MODEL_NONE: nothing.
	 */
	uint32_t *partner;
	uint32_t *round_size;
	uint32_t round_count;
	uint32_t *annotations;      /* HB_BEFORE events, object by object */
	uint32_t *annotation_first; /* by object: where its own begin */
	int64_t *initial;           /* by object: least value that a semaphore must have begun with */
	/* Replay. The arrays are parts of one block, so that all of the state can be kept and brought back. */
	void *state;
	size_t state_size;
	int64_t *value;      /* by object: semaphores */
	uint32_t *next;      /* by thread: pos of its next event */
	uint32_t *last;      /* by cell: the last write, an event index, MODEL_NONE: initial value */
	uint32_t *owner;     /* by object: acquiring event that holds it exclusively, MODEL_NONE */
	uint32_t *readers;   /* by object: number of shared holders */
	uint32_t *annotated; /* by object: so many of its HB_BEFORE, in trace order, have occurred */
	uint32_t *arrived;   /* by round */
	bool *frozen;        /* by thread */
	bool *lost_signal;   /* by thread: the signal of the wait that it is in came before the wait began */
	/*
	 * Checkpoints: what a replay that met no fault left of the state after the first events of the trace, in the
	 * trace's order, number k after (k + 1) * interval of them. No goal event is among these.
	 */
	void **checkpoints;
	uint32_t interval, checkpoint_count;
	uint32_t checkpoint_next; /* after so many events another one is to be kept; MODEL_NONE: never more */
};

/* Fills in what is worked out once from the trace: all but the arrays of the replay. False without memory. */
bool judge_scan(struct judge *j);
/* The WAIT_END of the wait that begins here, MODEL_NONE if the trace ends before. */
uint32_t judge_wait_end(const struct model *m, uint32_t begin);

/* Makes room for the state of a replay, and for checkpoints. False without memory. */
bool judge_state_init(struct judge *j);
void judge_state_release(struct judge *j);
/* Wants a checkpoint after every so many events, or none (0); what there are are forgotten. False without memory. */
bool judge_checkpoints(struct judge *j, uint32_t interval);
/* So many of the schedule's first steps are the trace's first *events events in the trace's order. If no checkpoints
 * are wanted they are not counted: 0. */
uint32_t judge_prefix(const struct judge *j, const struct schedule *s, uint32_t *events);
/* Sets the state to what it is after as many as possible of the trace's first events, `most` at most; says how many. */
uint32_t judge_restore(struct judge *j, uint32_t most);
/* Keeps the state as the next checkpoint: that after checkpoint_next events. */
void judge_keep(struct judge *j);

#endif
