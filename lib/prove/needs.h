/*
 * The events that a goal needs: the least prefix of each thread that every witness contains. It follows from thread
 * order, the partial order relation, reads-from, and the rule that a lock is released before its next acquire. Often
 * that alone shows that there is no witness.
 *
 * The relevant events are those, the releases of the locks that they take, with what these need in turn, and, where
 * values let reads see several writes, those writes. Leaving out all others turns any witness into a smaller one.
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
	const struct goal *goal;          /* of the last needs_find */
	uint32_t *must, *bound;           /* by thread: number of events needed; number relevant */
	uint32_t must_clock, bound_clock; /* the last clock that each was raised to */
	uint32_t *target;                 /* by thread: pos of the event to be next (RACE, DEADLOCK), MODEL_NONE */
	uint32_t *looked;                 /* by thread: number of events whose reads were examined */
	uint32_t *asking,
	    *asking_first; /* with values, by entry and by cell: last goal that included all writes of it */
	uint32_t goals;
	uint64_t looked_at; /* threads and critical sections that were looked at, of all goals */
};

/* What is looked at in about the time that an event takes which is executed. */
enum { NEEDS_OF_EVENT = 16 };

/* False without memory. */
bool needs_init(struct needs *n, const struct base *base, const struct reads *reads);
void needs_release(struct needs *n);

/* Clock of what the goal's event i needs in order to be next (trf.h). */
uint32_t needs_clock(const struct trf *trf, const struct goal *g, uint32_t i);
/* Finds the needed events (must, target). False if they include one that the goal excludes, so that there is no
 * witness. */
bool needs_find(struct needs *n, const struct goal *goal);
/* After that: adds another event that every witness contains, with its needs. False as before. */
bool needs_require(struct needs *n, uint32_t e);
/* After that: finds the relevant events (bound). */
void needs_relevant(struct needs *n);

#endif
