/*
 * Clocks that change at any event: for each thread a list of (pos, clock), the clock of the events from pos on. For
 * orders in which accesses join clocks too. Looked up by binary search among those of TIMELINE_BUCKET positions:
 * searches look up the clocks of millions of events, and in the whole list each of those missed the cache several
 * times.
 */
#ifndef LIB_RELATION_TIMELINE_H
#define LIB_RELATION_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

struct timeline_entry {
	uint32_t pos, clock;
};
enum { TIMELINE_BUCKET = 64 };
struct timeline_thread {
	struct timeline_entry *entries;
	uint32_t count, capacity;
	uint32_t *first; /* by bucket: number of entries before it; of later buckets all of them are */
	uint32_t bucket_count, bucket_capacity;
};
struct timeline {
	struct timeline_thread *threads;
	uint32_t thread_count;
	bool failed; /* no memory */
};

bool timeline_init(struct timeline *t, uint32_t threads);
void timeline_release(struct timeline *t);
/* From pos on, the thread's clock is this one. pos never decreases; a later entry for the same position replaces it. */
void timeline_add(struct timeline *t, uint32_t thread, uint32_t pos, uint32_t clock);
/* The thread's clock at pos; 0 before the first entry. */
uint32_t timeline_at(const struct timeline *t, uint32_t thread, uint32_t pos);

#endif
