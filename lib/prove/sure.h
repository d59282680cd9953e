/*
 * Witnesses that hold whichever write the racy reads saw, on traces whose order is stamped. Synchronisation is in its
 * exact order there, but of a read that races only a time stamp tells which write it saw.
 *
 * Take prefixes of the threads that are closed: with an event, what the partial order relation puts before it; with a
 * read, every write that it may have seen. Whatever the real order of the run was, these events in that order are a
 * correct reordering: the write that a read really saw is among them, and none of them came in between. Locks, too, are
 * as in the run, unless one that is held at the end was taken by another thread after. So, of a goal that stands behind
 * such prefixes, there is a witness for each order that the run may have had, and the trace's own is shown.
 */
#ifndef LIB_PROVE_SURE_H
#define LIB_PROVE_SURE_H

#include "lib/prove/certain.h"
#include "lib/prove/needs.h"
#include "lib/prove/search.h"

/*
 * Looks for one of a race or a deadlock. needs: of a search in which reads see what they saw. budget: events that are
 * looked at; *spent tells how many. SEARCH_FOUND or SEARCH_GAVE_UP.
 */
enum search_answer sure_goal(struct needs *needs, struct certain *certain, const struct goal *goal, uint64_t budget,
                             struct schedule *out, uint64_t *spent);

#endif
