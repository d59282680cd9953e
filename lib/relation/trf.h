/*
 * The events that an event needs before it: those of the partial order relation and, for each read, the write that it
 * saw. This is thread order and reads-from, "TRF" of the SyncP paper (POPL 2021). Every correct reordering that
 * contains an event contains all of these.
 */
#ifndef LIB_RELATION_TRF_H
#define LIB_RELATION_TRF_H

#include "lib/relation/por.h"
#include "lib/relation/timeline.h"

struct trf {
	const struct model *m; /* borrowed */
	struct clocks clocks;
	struct timeline timeline; /* clock at pos: of the events before the one at pos, its own edges left out */
};

/* free_reads: by event index, bits: reads that may see any write (NULL: none). */
enum rt_status trf_compute(const struct model *m, const uint8_t *free_reads, struct trf *out, struct rt_error *err);
void trf_release(struct trf *t);

/*
 * Clock of the events that e needs, without its own thread's component (it needs all its thread's earlier events).
 * trf_clock_before: of those that it needs in order to be next. The write that an access is about to read is not one of
 * them, nor is what ends a wait there: a thread's end, a post, an arrival.
 */
uint32_t trf_clock(const struct trf *t, uint32_t e);
uint32_t trf_clock_before(const struct trf *t, uint32_t e);
/* The same of the end of a wait that is still to be signalled. */
uint32_t trf_clock_unsignalled(const struct trf *t, uint32_t e);

#endif
