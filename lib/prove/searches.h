/*
 * The provers' searches, by what reads may see: the write that they saw; with values any write of the value that they
 * saw; any write. The first finds witnesses and, without values, refutes that there is one; the second does both with
 * values; the last finds what is possible if reads see other writes (conditional.h).
 */
#ifndef LIB_PROVE_SEARCHES_H
#define LIB_PROVE_SEARCHES_H

#include "lib/prove/search.h"

/* search: NULL if there is none; trf is valid only with a search. */
struct search_of_reads {
	struct trf own; /* unless trf is lent by the facts */
	const struct trf *trf;
	struct search *search;
};

struct searches {
	const struct model *m;       /* borrowed */
	struct facts *facts;         /* borrowed */
	const struct values *values; /* borrowed; NULL: the trace has no values */
	struct search_of_reads strict, valued;
	struct search_of_reads free; /* made on demand */
};

/* False without memory. The facts must outlive it. */
bool searches_init(struct searches *s, struct facts *f, struct rt_error *err);
void searches_release(struct searches *s);

/* The events that each event needs in the first two. */
const struct trf *searches_needs(const struct searches *s);
/* True if some read could see another write of the value that it saw. */
static inline bool searches_of_values(const struct searches *s)
{
	return s->values && s->values->any;
}
/* search_looked of all of them. */
uint64_t searches_looked(const struct searches *s);
/* The search with free reads; NULL without memory. */
struct search *searches_free(struct searches *s);

#endif
