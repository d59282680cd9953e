/*
 * What is known where a trace begins in the middle of a run: of each thread the locks that it holds, its calls, its
 * open regions and its wait; of all threads the blocks that are allocated. Both are lists of the events that made it
 * so.
 *
 * A thread's events come in their order. Those of different threads may come in any order: a later stamp decides.
 */
#ifndef TRACEFMT_NATIVE_START_H
#define TRACEFMT_NATIVE_START_H

#include "tracefmt/record.h"

#include <stdbool.h>
#include <stddef.h>

/* An event that is kept, as its records. */
struct rt_kept {
	uint64_t stamp, arg, value;
	struct rt_record event;
	uint64_t place; /* among the events of its thread */
	uint32_t thread;
};
struct rt_kept_list {
	struct rt_kept *items;
	size_t count, capacity;
};
/* Appends events. False without memory. */
bool rt_kept_add(struct rt_kept_list *l, const struct rt_kept *events, size_t n);
void rt_kept_release(struct rt_kept_list *l);

/* A thread's state. All zero: that of a thread without events. */
struct rt_thread_state {
	struct rt_kept_list held, calls, others; /* others: losses, open regions and ignored operations */
	struct rt_kept begin, tls, block, end;   /* the last ones; without an operation: none */
	uint64_t places;
	uint64_t ignored; /* synchronisation, levels */
};
void rt_thread_state_release(struct rt_thread_state *s);
/* Frees the room that it does not need: no event is expected any more. */
void rt_thread_state_trim(struct rt_thread_state *s);

/* What concerns all threads. All zero: nothing. */
struct rt_blocks;
struct rt_shared_state {
	struct rt_blocks *blocks;   /* allocated ones, by address (uthash) */
	struct rt_kept_list freed;  /* blocks that were freed since a stamp from which a trace may begin */
	struct rt_kept_list early;  /* FREE events whose ALLOC has not come yet */
	struct rt_kept_list strays; /* releases by threads that did not hold the lock */
	struct rt_kept_list benign; /* annotations, and memory that is mapped at several addresses */
	uint64_t newest;            /* the last stamp from which a trace may begin */
	bool unsure;                /* there was more than can be kept: which locks are held is not known */
};
void rt_shared_state_release(struct rt_shared_state *s);

/* True if an event of this operation changes a state. */
bool rt_start_needs(unsigned op);
/* The thread's next event, for which rt_start_needs. place is set here. False without memory. */
bool rt_start_add(struct rt_thread_state *s, struct rt_shared_state *all, struct rt_kept event);

/* True of a thread that has ended and left nothing. */
bool rt_start_is_over(const struct rt_thread_state *s);
/* The thread's state, as events in their order: appended to the list. False without memory. */
bool rt_start_of_thread(const struct rt_thread_state *s, struct rt_kept_list *out);
/* What concerns all threads at a stamp: blocks, annotations, strays; in no order. The same. */
bool rt_start_of_all(const struct rt_shared_state *s, uint64_t stamp, struct rt_kept_list *out);
/* No trace begins before this stamp any more. */
void rt_start_forget(struct rt_shared_state *s, uint64_t stamp);

#endif
