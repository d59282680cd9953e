/*
 * Reaches a goal in the order of the trace, with reads that may see any write: it executes the events that the goal
 * needs and leaves out all others. Thread order, the partial order relation and locks then hold, unless a lock that is
 * held where the threads stop was taken by another thread later. Reads whose write is left out see another one. To keep
 * these few, the writes that can occur without the goal's own events are executed as well, with the events that they
 * need.
 */
#ifndef LIB_PROVE_IN_ORDER_H
#define LIB_PROVE_IN_ORDER_H

#include "lib/prove/needs.h"
#include "lib/prove/search.h"

/*
 * needs: of a search with free reads. at: room for a number by thread. sees: the events that each event needs if reads
 * see what they saw. budget: events that may be examined; *spent: those that were. SEARCH_NONE: the needs of the goal
 * refute it; SEARCH_GAVE_UP: another order may reach it.
 */
enum search_answer in_order_goal(struct needs *needs, uint32_t *at, const struct goal *goal, const struct trf *sees,
                                 uint64_t budget, struct schedule *out, uint64_t *spent);

#endif
