/*
 * The promise of CP and WCP: the first pair that they leave unordered is a race that some run has, or there is a
 * deadlock. First is the pair with the earliest second event, and of these the one with the latest first event. The
 * proofs require well nested critical sections.
 */
#ifndef LIB_ANALYSIS_PROMISE_H
#define LIB_ANALYSIS_PROMISE_H

#include "lib/order/order.h"

struct promise {
	uint32_t e1, e2; /* the first conflicting pair that the order leaves unordered; MODEL_NONE if there is none */
};

/* Number of releases of a lock while one that was taken later is held; and the first of them. */
struct nesting {
	uint64_t count;
	uint32_t outer, inner, release; /* event indices: acquires of the two locks, the outer one's release */
};

/* The order must have horizons. False without memory. */
bool promise_find(const struct model *m, const struct order *order, const struct order_result *r, struct promise *out);
/* False without memory. */
bool nesting_find(const struct model *m, struct nesting *out);

#endif
