/*
 * The steps that a search may take (LIMIT_SEARCH_STEPS), dealt out to its parts: cells, or pairs of them. A few large
 * parts cannot take all of them, as each part has half of what is left; and each has its share of a quarter of all.
 */
#ifndef LIB_SEARCH_STEPS_H
#define LIB_SEARCH_STEPS_H

#include "lib/anomaly/limit.h"

struct search_steps {
	struct limits *limits; /* borrowed */
	uint64_t all, left;    /* in all; not taken yet */
	uint64_t given;        /* left of the part at hand; 0: it is over */
};

static inline struct search_steps steps_of(struct limits *limits)
{
	uint64_t all = limits->of[LIMIT_SEARCH_STEPS];
	return (struct search_steps){limits, all, all, all};
}

/* Begins a part, `size` of the whole. */
static inline void steps_begin(struct search_steps *s, uint64_t size, uint64_t whole)
{
	enum { QUARTER = 4 };
	double share = (double)s->all / QUARTER * (double)size / (double)whole;
	s->given = s->left / 2 > (uint64_t)share ? s->left / 2 : (uint64_t)share + 1;
}

/* False, and from then on: the part has not as many left, and the limit is reached. */
static inline bool steps_take(struct search_steps *s, uint64_t n)
{
	if (s->given <= n) {
		s->given = 0;
		limits_reach(s->limits, LIMIT_SEARCH_STEPS, true);
		return false;
	}
	s->given -= n;
	s->left -= n < s->left ? n : s->left;
	return true;
}

#endif
