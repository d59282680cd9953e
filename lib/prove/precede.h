/*
 * Order constraints between pairs of events, for events that sequences reverse: from which event on a thread cannot
 * come before another thread's event.
 *
 * If no correct reordering executes an event e before an event f, then none executes a later event of e's thread before
 * f. So one pair that closure (closure.h) refutes refutes every candidate that puts f after e's thread has come that
 * far. Hundreds of thousands of instances have a few thousand such pairs.
 */
#ifndef LIB_PROVE_PRECEDE_H
#define LIB_PROVE_PRECEDE_H

#include "lib/prove/search.h"

struct precede_bound;
struct precede {
	const struct model *m;       /* borrowed */
	struct precede_bound *items; /* first the questions, then the answers, sorted */
	uint32_t count, capacity;
};

/* Adds the pairs of a goal as questions. False without memory. */
bool precede_ask(struct precede *p, const struct goal *goal);
/*
 * Answers the questions, by a search without values. budget: steps for one pair; total: for all. Returns the steps
 * taken. A pair not decided within the budget stays open.
 */
uint64_t precede_find(struct precede *p, struct search *search, uint64_t budget, uint64_t total);
/* True if the goal needs an order of two of its events that no correct reordering has. */
bool precede_refutes(const struct precede *p, const struct goal *goal);
void precede_release(struct precede *p);

#endif
