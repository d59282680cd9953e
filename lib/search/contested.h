/*
 * The accesses in atomic regions that another thread's region contests: that has a conflicting access of the cell, and
 * no lock is held all through both.
 */
#ifndef LIB_SEARCH_CONTESTED_H
#define LIB_SEARCH_CONTESTED_H

#include "lib/search/gap.h"

struct contested {
	uint8_t *events, *cells; /* bits */
};

/* False without memory. The caller releases it in any case. */
bool contested_find(struct contested *c, const struct model *m, struct gaps *gaps);
void contested_release(struct contested *c);

static inline bool contested_has(const uint8_t *bits, uint32_t i)
{
	return bits[i / 8] >> i % 8 & 1;
}

static inline uint32_t contested_region(const struct model *m, uint32_t e)
{
	return m->segments[m->events[e].segment].region;
}

/* Some threads, as far as it matters: none, one (its number + 1), or several. */
enum { THREADS_NONE = 0 };
#define THREADS_SEVERAL UINT32_MAX
static inline uint32_t threads_with(uint32_t threads, uint32_t more)
{
	return threads == THREADS_NONE || threads == more ? more : more == THREADS_NONE ? threads : THREADS_SEVERAL;
}

#endif
