/*
 * What a file has of a ring (ring.h): for each thread first the events that stand for those that were dropped, then its
 * chunks, numbered anew. The first event of all is a LOST that says that the trace begins in the middle of the run.
 */
#ifndef TRACEFMT_NATIVE_RING_FILE_H
#define TRACEFMT_NATIVE_RING_FILE_H

#include "tracefmt/native/ring.h"

/* A thread's chunks as they are numbered in the file. */
struct rt_ring_numbers {
	uint32_t sequence;
	uint64_t start, written; /* events that stand for the dropped ones; those of them that are in chunks */
	uint64_t first;          /* ordinal before its first chunk that was kept; UINT64_MAX: there is none */
};
/* All zero: not complete. */
struct rt_ring_file {
	bool complete, late;       /* late: something was dropped */
	struct rt_kept_list start; /* by thread */
	struct rt_ring_numbers *numbers;
	size_t threads, thread_room;
	uint64_t dropped; /* events, filled in by the writer */
};
void rt_ring_file_release(struct rt_ring_file *f);

/* The ring is complete: begin, then the state of each thread, then end, which also adds the pcs. False without memory.
 */
bool rt_ring_file_begin(struct rt_ring_file *f, struct rt_ring *r);
bool rt_ring_file_thread(struct rt_ring_file *f, const struct rt_ring *r, const struct rt_ring_thread *t);
bool rt_ring_file_end(struct rt_ring_file *f, const struct rt_ring *r, struct set *pcs);

/* Codes the events from *at on of one thread, as many as a chunk has room for. False without memory. */
bool rt_ring_file_start(struct rt_ring_file *f, size_t *at, struct rt_block *block, struct rt_bytes *raw);
/* Numbers the next chunk of its thread. */
void rt_ring_file_number(struct rt_ring_file *f, struct rt_block *block);

#endif
