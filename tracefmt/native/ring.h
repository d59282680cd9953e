/*
 * The last part of a long trace, in memory: chunks, in generations. A generation begins at a stamp, its cut: each
 * thread's records from its first run at or after the cut on belong to it, until the next one's. If all is too large,
 * the oldest generation is dropped. What came before the first one that is left is known as a state (start.h).
 *
 * A run's stamp decides, not when its records come, so the threads' parts of a generation are of the same time.
 */
#ifndef TRACEFMT_NATIVE_RING_H
#define TRACEFMT_NATIVE_RING_H

#include "lib/base/set.h"
#include "tracefmt/native/file.h"
#include "tracefmt/native/start.h"

/* A thread's state at the cut of each generation up to `until`, from the one after the last snapshot's on. */
struct rt_snapshot {
	uint32_t until;
	struct rt_kept_list events;
};
/* All zero: a thread without records. */
struct rt_ring_thread {
	uint32_t generation;        /* of its next record */
	uint64_t stamp, arg, value; /* in effect; of the next event */
	struct rt_thread_state state;
	struct rt_snapshot *snapshots;
	size_t count, capacity;
};
void rt_ring_thread_release(struct rt_ring_thread *t);

struct rt_ring_chunk {
	struct rt_block block;
	uint8_t *frame; /* block.packed bytes */
};
struct rt_ring;

/* bytes: how large it may be, of compressed chunks. NULL without memory. */
struct rt_ring *rt_ring_create(uint64_t bytes);
void rt_ring_free(struct rt_ring *r);

/*
 * Takes notice of the thread's next records. Returns the number of those that belong to its generation: fewer than n if
 * the next one begins a run after the next cut. SIZE_MAX: no memory.
 */
size_t rt_ring_scan(struct rt_ring *r, struct rt_ring_thread *t, uint32_t thread, const struct rt_record *records,
                    size_t n);
/* The thread's chunk of its generation is kept: the next record, with this stamp, begins a later one. False without
 * memory. */
bool rt_ring_cross(struct rt_ring *r, struct rt_ring_thread *t, uint64_t stamp);
/* Copies a chunk of the thread. False without memory. */
bool rt_ring_keep(struct rt_ring *r, const struct rt_ring_thread *t, const struct rt_block *block,
                  const uint8_t *frame);
/* The thread has ended: what is kept of it counts as part of the ring. */
void rt_ring_end(struct rt_ring *r, const struct rt_ring_thread *t, size_t bytes);
/* True if the ring has no records of it any more. */
bool rt_ring_is_past(const struct rt_ring *r, const struct rt_ring_thread *t);
/* Begins a generation if the last one is large enough with this many records that are in no chunk yet. now: at any
 * rate, and drops all before it in the end. */
bool rt_ring_turn(struct rt_ring *r, uint64_t open_records, bool now);

/* Drops the oldest generations down to the size. False: there is none but the first, which is whole. */
bool rt_ring_seal(struct rt_ring *r);
/* The first one's chunks, then the next one's. NULL: there are no more. */
const struct rt_ring_chunk *rt_ring_next(const struct rt_ring *r, size_t *generation, size_t *chunk);
/* The events that stand for what came before, by thread and in their order. What concerns all threads is added by the
 * last call, with t NULL. False without memory. */
bool rt_ring_start(const struct rt_ring *r, const struct rt_ring_thread *t, struct rt_kept_list *out);
/* True if which locks are held there may be wrong. */
bool rt_ring_unsure(const struct rt_ring *r);

#endif
