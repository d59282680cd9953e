/*
 * Clocks of events: for each thread, the number of its events that are ordered before.
 *
 * Persistent vector clocks: immutable nodes in an arena, so that a clock is an index, a copy is free, equal clocks are
 * often the same, and every segment of a trace can keep its own. Up to 16 threads a clock is one node of as many
 * counts; beyond that it is a tree of nodes 16 wide in which unchanged subtrees are shared (path copying). Clock 0 is
 * all zeros.
 *
 * The component of the event's own thread is implied (its pos + 1) and not stored; `struct stamp` adds it when an event
 * passes its clock to others. Counts are numbers of events: e1 is ordered before an event whose clock has
 * clock_get(thread of e1) > pos of e1.
 */
#ifndef LIB_RELATION_CLOCK_H
#define LIB_RELATION_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

enum { CLOCK_WIDTH = 16, CLOCK_DEPTH_MAX = 8 };

struct clocks {
	uint32_t *nodes; /* node i: nodes[i * width .. (i + 1) * width) */
	uint32_t count, capacity;
	uint32_t width; /* 4, 8 or 16 */
	uint32_t depth; /* 1: nodes are leaves */
	bool failed;    /* no memory: clocks made since are wrong */
};

/* An event as other threads see it: its clock and itself (thread, and the number of its events up to and with it). */
struct stamp {
	uint32_t clock, thread, count;
};

/* Clocks for threads 0 to threads - 1. False without memory. */
bool clocks_init(struct clocks *c, uint32_t threads);
void clocks_release(struct clocks *c);

/* Bytes of a clock that shares no more than subtrees with others: a node of each level. */
uint64_t clock_bytes(uint32_t threads);
/* Bytes of a clock that shares nothing. */
uint64_t clock_bytes_alone(uint32_t threads);

uint32_t clock_get_tree(const struct clocks *c, uint32_t clock, uint32_t thread);
/* Component of one thread. */
static inline uint32_t clock_get(const struct clocks *c, uint32_t clock, uint32_t thread)
{
	return c->depth == 1 ? c->nodes[(uint64_t)clock * c->width + thread] : clock_get_tree(c, clock, thread);
}
/* Calls f for each component of `clock`, but zeros, in which the two differ; what they share costs nothing. */
void clock_each_other(const struct clocks *c, uint32_t clock, uint32_t than,
                      void (*f)(void *arg, uint32_t thread, uint32_t count), void *arg);
/* Least upper bound. Returns a or b itself if it is that. */
uint32_t clock_join(struct clocks *c, uint32_t a, uint32_t b);
/* The clock with the thread's component raised to count (unchanged if it is no higher). */
uint32_t clock_raise(struct clocks *c, uint32_t clock, uint32_t thread, uint32_t count);
/*
 * Clock of thread `own` after an event with this stamp came before. If the clock has the stamped event already, it has
 * all events before it (the order is transitive): one compare, FastTrack's epoch check (PLDI 2009).
 */
uint32_t clock_receive(struct clocks *c, uint32_t clock, struct stamp stamp, uint32_t own);
/* The same of n events; of count 0: none. It makes at most one clock for each of their threads. */
uint32_t clock_receive_all(struct clocks *c, uint32_t clock, const struct stamp *stamps, uint32_t n, uint32_t own);

#endif
