/*
 * Memory of the threads' repeat filters: a place of the code and the bytes that it accesses; what is kept, and how
 * often, in which epoch. A filter grows in a thread that records more accesses than it has room for without any
 * synchronisation, as in filter.h. What a thread no longer needs another one takes over: no two epochs of any threads
 * have the same number, so it need not be cleared.
 */
#ifndef RECORDER_VALGRIND_SEEN_H
#define RECORDER_VALGRIND_SEEN_H

#include <stdint.h>

struct seen {
	uint64_t w0, w1, value, count_epoch;
};

enum { SEEN_SIZES = 3 };
extern const uint64_t seen_entries[SEEN_SIZES];

/* A filter of that size; NULL: there are as many as may be, which no filter of the first two sizes is. */
struct seen *seen_take(unsigned size);
/* f may be NULL. */
void seen_give(struct seen *f, unsigned size);
/* Number of a new epoch, from 1. */
uint64_t seen_epoch(void);

#endif
