/*
 * The parts of the partial order relation that need state: conditions, barriers, semaphores (sync.c) and atomics
 * (atomics.c). Each function takes the clock of the event's thread before the event and returns it after.
 */
#ifndef LIB_RELATION_SYNC_H
#define LIB_RELATION_SYNC_H

#include "lib/relation/clock.h"
#include "lib/trace/model.h"

struct sync_waiter {
	uint32_t thread, begin; /* begin: event index */
	uint32_t signal;        /* event index of the signal that woke it; MODEL_NONE: none yet */
	struct stamp by;
	bool timed;
};
struct sync_condition {
	struct sync_waiter *waiters; /* longest waiting first */
	uint32_t count, capacity;
};
struct sync_semaphore {
	struct stamp init; /* its initialisation; count 0: not in the trace */
	struct stamp *posts;
	uint32_t count, capacity;
	uint64_t initial, waits;
};
struct sync_round {
	uint32_t clock; /* of all arrivals of this round */
	uint32_t arrived;
	bool full;
};

struct sync {
	const struct model *m;
	struct clocks *clocks;
	uint32_t *index; /* by object: index of its condition, semaphore or current round, MODEL_NONE: none yet */
	struct sync_condition *conditions;
	uint32_t condition_count, condition_capacity;
	struct sync_semaphore *semaphores;
	uint32_t semaphore_count, semaphore_capacity;
	struct sync_round *rounds;
	uint32_t round_count, round_capacity;
	uint32_t *arrived_in; /* by thread: the round it arrived in last */
	uint32_t *all;        /* by object: the clock of all that was sent by it; NULL: partners are matched */
	bool failed;
};

bool sync_init(struct sync *s, const struct model *m, struct clocks *clocks);
void sync_release(struct sync *s);
/* True if some wait may come after more than what ended it, as the trace begins in the middle of the run. What these
 * orders forbid is not impossible. */
bool sync_may_exceed(const struct model *m);

/* timed: the beginning wait may end without a signal. */
void sync_wait_begin(struct sync *s, uint32_t e, bool timed);
uint32_t sync_wait_end(struct sync *s, uint32_t e, uint32_t now);
void sync_signal(struct sync *s, uint32_t e, struct stamp by, bool all);
void sync_arrive(struct sync *s, uint32_t e, struct stamp by);
uint32_t sync_leave(struct sync *s, uint32_t e, uint32_t now);
void sync_make_semaphore(struct sync *s, uint32_t e, struct stamp by);
void sync_post(struct sync *s, uint32_t e, struct stamp by);
uint32_t sync_semaphore(struct sync *s, uint32_t e, uint32_t now); /* SEM_POST, SEM_WAIT */

/* A release store (or a store after a release fence) whose release sequence is open. */
struct atomic_head {
	uint32_t thread, clock; /* the heads of one thread count as one, with their clocks joined */
};
/* The state that an acquire load from the cell comes after. */
struct atomic_cell {
	struct atomic_head *heads;
	uint32_t head_count, head_capacity;
	uint32_t clock;  /* of all heads */
	uint32_t cursor; /* index into the cell's accesses: those before it were searched for plain writes */
};

struct atomics {
	const struct model *m;
	struct clocks *clocks;
	struct atomic_cell *cells;
	uint32_t cell_count, cell_capacity;
	uint32_t *index;   /* by cell: index into cells + 1; 0: none yet; NULL while there is no atomic */
	uint32_t *pending; /* by thread: the clock that its next acquire fence receives */
	uint32_t *fence;   /* by thread: its clock at its last release fence; 0: none */
	bool failed;
};

bool atomics_init(struct atomics *a, const struct model *m, struct clocks *clocks);
void atomics_release(struct atomics *a);
/* An atomic access or a fence, in halves as in por.h: the clock that it comes after, joined to now; then its record for
 * later events, with the clock that it passes on. */
uint32_t atomics_receive(struct atomics *a, uint32_t e, uint32_t now);
void atomics_send(struct atomics *a, uint32_t e, uint32_t now);

#endif
