/*
 * Witnesses for any writes that the racy reads may have seen, on traces whose order is stamped. There synchronisation
 * is in its exact order, but only time stamps tell which write a racing read saw.
 *
 * Take prefixes of the threads that are closed: with an event they contain the events that the partial order relation
 * puts before it; with a read, every write that it may have seen. Whatever the real order of the run was, these events
 * in that order are a correct reordering. The write that a read really saw is among them, and none of them came in
 * between. Locks, too, are as in the run, unless one that is held at the end was taken by another thread later. So a
 * goal after such prefixes has a witness for each order that the run may have had; the one in the trace's order is
 * reported.
 */
#ifndef LIB_PROVE_SURE_H
#define LIB_PROVE_SURE_H

#include "lib/prove/certain.h"
#include "lib/prove/needs.h"
#include "lib/prove/search.h"

/*
 * Searches for such a witness of a race or a deadlock. needs: of a search in which reads see what they saw. budget:
 * events that may be examined; *spent: those that were. SEARCH_FOUND or SEARCH_GAVE_UP.
 */
enum search_answer sure_goal(struct needs *needs, struct certain *certain, const struct goal *goal, uint64_t budget,
                             struct schedule *out, uint64_t *spent);

#endif
