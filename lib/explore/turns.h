/*
 * In which order threads took turns at one object: pairs of positions, of two threads, one directly after the other at
 * a lock or an atomic variable. A run in which a pair comes the other way round may take another branch, though nothing
 * in it races. And so may one in which another thread's turn comes between two that a thread has in a row.
 */
#ifndef LIB_EXPLORE_TURNS_H
#define LIB_EXPLORE_TURNS_H

#include "tracefmt/trace.h"

struct turn {
	uint64_t first, second; /* pcs */
};

/* A thread's turn between two of another thread at the object. */
struct between {
	uint64_t before, turn, after; /* pcs */
	bool seen;                    /* the trace has it so; else it has all three, in another order */
};

struct turns {
	struct turn *items; /* the distinct pairs of a trace, by their first occurrence */
	size_t count, room;
	struct between *between; /* those that it has, and some that it could have */
	size_t between_count, between_room;
};

/* One more pass over the trace. On RT_OK the caller releases what was found. */
enum rt_status turns_of(struct rt_trace *trace, struct turns *turns, struct rt_error *err);
void turns_release(struct turns *turns);

#endif
