/*
 * Orders that hold in every correct reordering that executes a set of events: thread order, what each event needs
 * (trf.h) and the order of a goal, saturated by two rules (M2, POPL 2020; SeqCheck, FSE 2021):
 * - reads-from: a read r sees the write w. Another write w' of the cell that is before r is before w, and one that is
 * after w is after r.
 * - locks: of two sections that exclude each other, one whose acquire is before the other's release ends before the
 * other begins.
 *
 * A cycle shows that there is no such reordering.
 *
 * The events are those of a window of the trace: for each thread from some place to another. All events before the
 * window have occurred, in the order of the trace (base.h). Clocks are plain arrays over the threads that have events
 * there.
 */
#ifndef LIB_PROVE_SATURATE_H
#define LIB_PROVE_SATURATE_H

#include "lib/prove/state/base.h"
#include "lib/prove/state/reads.h"
#include "lib/prove/state/waits.h"

enum saturated { SATURATED, SATURATED_CYCLE, SATURATED_MISSING, SATURATED_BUDGET, SATURATED_NO_MEMORY };

struct saturation {
	const struct model *m; /* borrowed, like all that follow */
	const struct base *base;
	const struct reads *reads;
	const struct waits *waits;
	const struct goal *goal;
	const uint32_t *from, *to; /* by thread: the window */
	/* Threads that have events in the window; ids number its events, thread by thread. */
	uint32_t *slot_of; /* by thread; MODEL_NONE */
	uint32_t *thread;  /* by slot */
	uint32_t *first;   /* by slot: id of its first event; one more at the end */
	uint32_t slots, ids;
	uint32_t *clocks; /* by id and slot: number of that thread's events before it */
	struct saturation_edge *edges;
	uint32_t edge_count, edge_capacity;
	uint32_t *edges_of; /* by id: the last edge from it, MODEL_NONE */
	struct saturation_write *writes;
	uint32_t write_count, write_capacity;
	struct saturation_read *seen;
	uint32_t seen_count, seen_capacity;
	struct saturation_hold *holds;
	uint32_t hold_count, hold_capacity;
	uint32_t *queue; /* ids whose clocks grew */
	bool *queued;
	uint32_t missing; /* SATURATED_MISSING: this release must be in the window */
	uint64_t spent, budget;
	enum saturated state;
};

/*
 * Saturates the order of the window's events. last: sections that are open at its end stay open, and come after all
 * others of their lock. Otherwise they may end outside of it, and the result holds for every larger set too. budget:
 * steps that it may take; *spent: those taken. s must be zeroed, or released, before.
 */
enum saturated saturate(struct saturation *s, bool last, uint64_t budget);
void saturation_release(struct saturation *s);

/* True if everything before e, which is in the window, has occurred once each thread has executed these numbers of
 * events. */
bool saturation_allows(const struct saturation *s, uint32_t e, const uint32_t *pos);

#endif
