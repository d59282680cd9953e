/*
 * What a goal needs: of each thread the least prefix that every witness contains. Thread order, the partial order
 * relation, reads-from, and that who holds a lock lets it go before whoever takes it after; often that alone shows that
 * there is no witness. And what is relevant to it: that, and the releases of the locks taken there with what these need
 * in turn, and where values let reads see several writes, these. Leaving out everything else turns any witness into a
 * smaller one.
 */
#ifndef LIB_PROVE_NEEDS_H
#define LIB_PROVE_NEEDS_H

#include "lib/prove/state/base.h"
#include "lib/prove/state/reads.h"

struct needs {
	const struct model *m; /* borrowed, like all that follow */
	const struct trf *trf;
	const struct base *base;
	const struct reads *reads;
	const struct goal *goal; /* of the last needs_find */
	uint32_t *must, *bound;  /* by thread: so many events are needed; are relevant */
	uint32_t *target;        /* by thread: pos to stand at (RACE, DEADLOCK), MODEL_NONE */
	uint32_t *looked;        /* by thread: so many events have been looked at for their reads */
	uint32_t *asking,
	    *asking_first; /* with values, by entry and by cell: last goal that included all writes of it */
	uint32_t goals;
};

/* False without memory. */
bool needs_init(struct needs *n, const struct base *base, const struct reads *reads);
void needs_release(struct needs *n);

/* Finds what the goal needs (must, target). False: it needs an event that it excludes, so there is no witness. */
bool needs_find(struct needs *n, const struct goal *goal);
/* After that: adds an event that every witness contains as well, with what it needs. False as before. */
bool needs_require(struct needs *n, uint32_t e);
/* After that: finds what is relevant (bound). */
void needs_relevant(struct needs *n);

#endif
