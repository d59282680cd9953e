/*
 * Which event may come before which: for events that sequences turn round, from which event on a thread cannot come
 * before another thread's event.
 *
 * If no correct reordering executes an event e before an event f, then none executes a later one of e's thread before
 * f either, as that comes after e. So what closure (closure.h) finds of one pair refutes every candidate that puts f
 * after e's thread came so far; of hundreds of thousands of instances few thousand such events are different.
 */
#ifndef LIB_PROVE_PRECEDE_H
#define LIB_PROVE_PRECEDE_H

#include "lib/prove/search.h"

struct precede_bound;
struct precede {
	const struct model *m;       /* borrowed */
	struct precede_bound *items; /* what was asked about; then what was found, sorted */
	uint32_t count, capacity;
};

/* Asks about the pairs of a goal. False without memory. */
bool precede_ask(struct precede *p, const struct goal *goal);
/*
 * Finds what was asked about, by a search without values. budget: steps that one pair may take; total: all of them.
 * Returns how many they took. What it does not find within these stays open.
 */
uint64_t precede_find(struct precede *p, struct search *search, uint64_t budget, uint64_t total);
/* Does the goal ask for an order of two of its events that no correct reordering has? */
bool precede_refutes(const struct precede *p, const struct goal *goal);
void precede_release(struct precede *p);

#endif
