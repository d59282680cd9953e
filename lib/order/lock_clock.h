/*
 * What one critical section of a lock passes on to the next, in cp and wcp: two clocks, H (happens-before) and K (what
 * the order leaves before it). Both are composed with happens-before: an acquire that inherits H inherits K with it.
 */
#ifndef LIB_ORDER_LOCK_CLOCK_H
#define LIB_ORDER_LOCK_CLOCK_H

#include "lib/relation/sections.h"

struct lock_clock {
	uint32_t h, k;                 /* of the last writer's release and the readers' before it */
	uint32_t thread, count;        /* that release */
	uint32_t readers_h, readers_k; /* of the readers' releases since */
};

/* The section acquires its lock: its thread's H and K get what the sections before it have passed on. */
static inline void lock_clock_acquire(const struct lock_clock *l, struct clocks *clocks, const struct section *s,
                                      uint32_t *h, uint32_t *k)
{
	if (l->h && l->thread != s->thread && clock_get(clocks, *h, l->thread) < l->count) {
		*h = clock_join(clocks, *h, l->h);
		*k = clock_join(clocks, *k, l->k);
	}
	if (!s->shared) {
		*h = clock_join(clocks, *h, l->readers_h);
		*k = clock_join(clocks, *k, l->readers_k);
	}
}

/* The section releases its lock as the event at pos of its thread, whose clocks are h and k. Returns H with the
 * release. */
static inline uint32_t lock_clock_release(struct lock_clock *l, struct clocks *clocks, const struct section *s,
                                          uint32_t pos, uint32_t h, uint32_t k)
{
	h = clock_raise(clocks, h, s->thread, pos + 1);
	if (s->shared) {
		l->readers_h = clock_join(clocks, l->readers_h, h);
		l->readers_k = clock_join(clocks, l->readers_k, k);
	} else {
		/* A writer's acquire came after all holders before it, readers and writers. */
		*l = (struct lock_clock){h, k, s->thread, pos + 1, 0, 0};
	}
	return h;
}

#endif
