/*
 * Shorter witnesses: of a schedule that the judge accepts, the events that its goal needs, in few turns.
 *
 * What is kept is a prefix of each thread's part, closed under what the schedule itself shows: the write that each read
 * sees, fork and join, the earlier operations on the same condition, barrier, semaphore, once-routine and annotation,
 * and of two critical sections of one lock the earlier one to its end (as SyncP, POPL 2021, closes its ideals, with the
 * schedule for the trace). Then each thread runs as far as it can, and another one only when something it does is
 * needed: every two events that depend on one another keep the schedule's order. So it is a witness if the schedule was
 * one; the judge has the last word all the same.
 */
#ifndef LIB_PROVE_SHORTEN_H
#define LIB_PROVE_SHORTEN_H

#include "lib/anomaly/goal.h"
#include "lib/prove/search.h"

/* Schedules of more events are left as they are: nobody reads them, and it would take as long as building them. */
enum { SHORTEN_MAX = 1 << 17 };

struct shorten;

/* NULL without memory. The model must outlive it. */
struct shorten *shorten_create(const struct model *m);
void shorten_free(struct shorten *s);

/*
 * A schedule that reaches the goal with no more events than the given witness of it has, in no more turns; *out (from
 * zeroed) is the caller's. SEARCH_GAVE_UP if there is nothing to gain, or SEARCH_NO_MEMORY: then *out is empty.
 */
enum search_answer shorten_schedule(struct shorten *s, const struct schedule *witness, const struct goal *goal,
                                    struct schedule *out);

#endif
