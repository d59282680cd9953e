/* The running thread's ring, as the tool appends to it: see ring.c. */
#ifndef RECORDER_VALGRIND_RING_H
#define RECORDER_VALGRIND_RING_H

#include "recorder/channel.h"
#include "recorder/runtime/children.h"
#include "recorder/valgrind/platform.h"
#include "recorder/valgrind/seen.h"

#include <stdbool.h>
#include <stddef.h>

/* Where a thread that takes turns is stopped: recorder/watch.h. */
struct turns {
	int32_t *patience; /* NULL: it takes none */
	const unsigned char *interest;
	struct rt_watch_stop *stop;
	uint64_t stopped_at; /* instruction that it was stopped before, and is about to execute now */
	unsigned stops;      /* how often */
};

/* A thread of the program, as the tool knows it. */
struct guest {
	struct rt_slot **self; /* NULL: it has not begun to be recorded, or has ended */
	struct rt_channel **channel;
	struct rt_tree **tree;
	struct rt_shared_table *shared; /* table of the parts of files that are mapped; looked at if *twice */
	const bool *twice;
	struct rt_slot *last;        /* slot of the last event; a task has one of its own */
	struct filter filter;        /* of repeats */
	uint64_t filter_epoch;       /* the slot's, when that of the filter began */
	uint64_t kept, left_out;     /* accesses in this epoch of it: recorded, and repeats */
	unsigned shares[SEEN_SIZES]; /* of 256 accesses, those that filters of these sizes left out */
	unsigned stay;               /* how often this filter is to be full before a larger one is tried */
	uint32_t number;             /* no other thread has had it; 0: it has accessed nothing yet */
	uint64_t *frames;            /* where the return addresses of its calls are */
	unsigned depth, room;        /* of frames; calls deeper than there is room for are counted */
	struct turns turns;          /* of the controlled recorder */
	struct rt_children_sight heard;
};

extern struct guest *guest_now; /* the one that runs */
/* The thread of that number, if it has not ended, records again what it has recorded. */
void guests_forget(uint32_t number);

static inline void guest_epoch(struct guest *g)
{
	seen_forget(&g->filter);
	g->kept = g->left_out = 0;
}

/* The thread's slot; NULL: its events are not recorded now. */
static inline struct rt_slot *guest_slot(struct guest *g)
{
	struct rt_slot *slot = g->self ? *g->self : NULL;
	if (!slot || !slot->limit)
		return NULL;
	if (slot != g->last) { /* what another task's has is no repeat */
		slot->turned = 1;
		g->last = slot;
		guest_epoch(g);
	}
	return slot;
}

/* Appends an event without a stamp of its own; value: NULL, or what it read or wrote. */
void ring_plain(struct guest *g, struct rt_slot *slot, uint64_t w0, uint64_t w1, const uint64_t *value);
/* The same with an exact stamp: a synchronisation operation, after which repeats are recorded again. */
void ring_sync(struct guest *g, struct rt_slot *slot, uint64_t w0, uint64_t w1, const uint64_t *value);
/* A plain access whose size has no code: an event with an argument. */
void ring_range(struct guest *g, struct rt_slot *slot, unsigned op, uint64_t from, uint64_t size, uint64_t pc);
/* Nothing was executed for the thread since it had its last turn: others' events may come between. */
static inline void ring_turn(struct guest *g)
{
	struct rt_slot *slot = guest_slot(g);
	if (slot)
		slot->turned = 1;
}

#endif
