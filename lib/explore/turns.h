/*
 * In which order threads took turns at one object: positions, of two threads, one directly after the other at a lock or
 * an atomic variable. A run in which they come the other way round may take another branch, though nothing in it races.
 * And so may one in which another thread's turn comes between two that a thread has in a row.
 */
#ifndef LIB_EXPLORE_TURNS_H
#define LIB_EXPLORE_TURNS_H

#include "lib/base/set.h"
#include "lib/explore/delay.h"
#include "tracefmt/trace.h"

/* Of one thread and another; or of one, another, and the first again. */
struct turns_order {
	uint64_t pcs[3];
	uint32_t count; /* 2 or 3 */
	bool seen;      /* the trace has it so; else it has the positions, in another order */
	bool reverse;   /* of two: the trace has them the other way round, one directly after the other */
	bool plain;     /* of accesses that race */
	bool update;    /* of three: what a thread reads is changed before it reads and changes it itself */
	uint32_t worth; /* other turns that the turn which comes first, or between, may see or be seen by; 0 if seen */
	/* How another run comes to it; held 0: that is not known. */
	struct delay delay;
};

struct turns {
	/* Distinct: those of the trace, by their first occurrence; then those it could have. */
	struct turns_order *items;
	size_t count, room;
};

/*
 * One more pass over the trace. Accesses at the positions `racing` are turns as atomic ones are. On RT_OK the caller
 * releases what was found.
 */
enum rt_status turns_of(struct rt_trace *trace, const struct set *racing, struct turns *turns, struct rt_error *err);
void turns_release(struct turns *turns);

#endif
