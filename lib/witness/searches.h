/*
 * The searches that the provers ask, by what reads may see: the write that they saw; with values any write of the value
 * that they saw; besides, updates that decide nothing (updates.h) any write at all, or the atomic ones of these alone.
 * The first can find witnesses and, without values, refute; the second both with values; the others only tell that what
 * the stricter ones refuted might be possible.
 */
#ifndef LIB_WITNESS_SEARCHES_H
#define LIB_WITNESS_SEARCHES_H

#include "lib/witness/search.h"

/* search: NULL if it would be no other than the stricter ones. */
struct loose_search {
	uint8_t *updates; /* by event, bits: reads that may see any write; NULL: none were looked for */
	struct trf trf;   /* with a search only */
	struct search *search;
};

struct searches {
	const struct model *m; /* borrowed */
	struct values values;
	struct loose_search strict, valued, loose;
	struct loose_search atomic; /* made when it is asked for */
};

/* False without memory. The model must outlive it. */
bool searches_init(struct searches *s, const struct model *m, struct rt_error *err);
void searches_release(struct searches *s);

/* What each event needs in any of them. */
const struct trf *searches_needs(const struct searches *s);
/* The loosest one that says something about the goal, NULL if there is none; false without memory. */
bool searches_loosest(struct searches *s, const struct goal *goal, struct search **out);

#endif
