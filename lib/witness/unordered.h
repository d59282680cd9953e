/*
 * Data races by C11 whose events never stand side by side: another run of the same events in which happens-before
 * leaves the two unordered.
 *
 * One event's thread is delayed: a first part of the schedule is what the other event's thread can do without the
 * event, with what that needs; or all that can be done without it. The second part is the event, and what the other one
 * needs beside. Each part is in the order of the trace. So critical sections of the first part come before those of the
 * second that they come after in the trace, and a lock no longer orders the two events where nothing else does.
 *
 * On a trace whose order is stamped, let A and B be the events of the parts, both closed: with a read whose writer is
 * not certain, every write that it may have seen is in A if it is in A, and otherwise in A or B. If, of each cell that
 * such a read of A or B touches, every access of A comes before every one of B that it conflicts with, whatever the
 * real order R of the run was (certain_before), then A in the order R and behind it B in the order R is a correct
 * reordering of the run if the schedule is one of the trace: no write comes between a read and the write that it really
 * saw. Locks and atomics are in their exact order in each R, so that happens-before of it is that of the schedule,
 * where a plain write ends no release sequence, as the judge has it.
 */
#ifndef LIB_WITNESS_UNORDERED_H
#define LIB_WITNESS_UNORDERED_H

#include "lib/witness/base.h"
#include "lib/witness/certain.h"
#include "lib/witness/search.h"

struct unordered {
	const struct model *m;   /* borrowed, like all that follow */
	const struct base *base; /* of a search in which reads see what they saw */
	struct certain *certain;
	bool exact;                       /* the trace's order is */
	uint32_t *first, *all;            /* by thread: so many events are in the first part; in both */
	uint32_t *limit;                  /* by thread: so many may be */
	uint32_t *last_read, *last_write; /* by thread, of one cell */
	uint32_t *racy; /* cells with a read whose writer is not certain; when they are first needed */
	uint32_t racy_count;
	uint64_t budget, spent;
};

/* False without memory. */
bool unordered_init(struct unordered *u, const struct base *base, struct certain *certain, bool exact);
void unordered_release(struct unordered *u);

/* Ways to build a schedule: which event is delayed, and what goes first. */
enum { UNORDERED_WAYS = 4 };

/*
 * Builds a schedule of the goal (UNORDERED). It may be none: the judge tells. *sure: if it is one, there is one
 * whichever write the racy reads saw. budget: events and accesses that are looked at; u->spent tells how many.
 */
enum search_answer unordered_build(struct unordered *u, const struct goal *goal, unsigned way, uint64_t budget,
                                   struct schedule *out, bool *sure);

#endif
