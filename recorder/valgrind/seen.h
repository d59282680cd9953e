/*
 * The threads' repeat filters: what a place of the code has accessed, with which value and how often, since the thread
 * last synchronised. A filter grows in a thread that records more accesses than it has room for without any
 * synchronisation, as in filter.h. What a thread no longer needs another one takes over.
 *
 * An entry is exact, and small: four are within a line of the cache, and neighbours in memory are neighbours in the
 * filter. A place is a number, and the bits of the address by which the entry is found are not in its tag.
 */
#ifndef RECORDER_VALGRIND_SEEN_H
#define RECORDER_VALGRIND_SEEN_H

#include "recorder/channel.h"

#include <stdbool.h>
#include <stdint.h>

/* tag: epoch | rest of the address | place << 1 | accessed twice. */
struct seen {
	uint64_t tag, value;
};

enum { SEEN_SIZES = 3 };

struct filter {
	struct seen *entries; /* NULL: there is none */
	uint64_t epoch;       /* in the topmost bits of tags; never 0 */
	unsigned size;        /* from 0 */
	unsigned bits;        /* logarithm of the number of entries */
};

/* False: there are as many as may be, which is never so of the first two sizes. */
bool seen_take(unsigned size, struct filter *f);
void seen_give(const struct filter *f);
/* What is in the filter is over. */
void seen_forget(struct filter *f);

/* Above the lowest bits, which say what its addresses are mostly multiples of. */
enum { SEEN_PLACE_BITS = 20, SEEN_SCALE_BITS = 3, SEEN_NO_PLACE = 0 };
/* Place of accesses with that word 1 of a record. SEEN_NO_PLACE: there are too many. */
uint32_t seen_place(unsigned op, uint64_t w1, unsigned size);

static inline uint64_t seen_ones(unsigned bits)
{
	return (UINT64_C(1) << bits) - 1;
}

static inline struct seen *seen_entry(const struct filter *f, uint64_t at, uint32_t place)
{
	enum { FOLD = 10 }; /* rows of a matrix that are a power of two apart have entries of their own */
	uint64_t element = (at & RT_OPERAND_MAX) >> (place & seen_ones(SEEN_SCALE_BITS));
	uint64_t spread = (place * UINT64_C(0x9e3779b97f4a7c15)) >> 40;
	return f->entries + ((element ^ element >> FOLD ^ spread) & seen_ones(f->bits));
}

/* The tag of an access that happened once. */
static inline uint64_t seen_tag(const struct filter *f, uint64_t at, uint32_t place)
{
	unsigned scale = (unsigned)(place & seen_ones(SEEN_SCALE_BITS));
	uint64_t rest = at >> (scale + f->bits) << scale | (at & seen_ones(scale));
	return f->epoch | rest << (SEEN_PLACE_BITS + 1) | (uint64_t)(place >> SEEN_SCALE_BITS) << 1;
}

#endif
