/*
 * Reaching a goal in the order of the trace, with reads that may see any write: what the goal needs is executed and
 * whatever else is left out. Thread order, the partial order relation and locks hold then, unless a lock that is held
 * where the threads stop was taken by another thread after. Reads whose write is left out see another one; so that few
 * are, the writes that can occur without the goal's own events are executed as well, with what they need.
 */
#ifndef LIB_PROVE_IN_ORDER_H
#define LIB_PROVE_IN_ORDER_H

#include "lib/prove/needs.h"
#include "lib/prove/search.h"

/*
 * needs: of a search whose reads are free. at: room for a number by thread. sees: what each event needs if reads see
 * what they saw. budget: events that are looked at; *spent tells how many. SEARCH_NONE: what the goal needs refutes it;
 * SEARCH_GAVE_UP: it may be reached in another order.
 */
enum search_answer in_order_goal(struct needs *needs, uint32_t *at, const struct goal *goal, const struct trf *sees,
                                 uint64_t budget, struct schedule *out, uint64_t *spent);

#endif
