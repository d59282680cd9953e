/*
 * Shorter witnesses: of a schedule that the judge accepts, the events that its goal needs, in few turns.
 *
 * It keeps a prefix of each thread's part, closed under the dependences of the schedule itself. These are the write
 * that each read sees, fork and join, and the earlier operations on the same condition, barrier, semaphore,
 * once-routine and annotation. Of two critical sections of one lock the earlier one is kept to its end. (SyncP, POPL
 * 2021, closes its ideals like this, with the trace in place of the schedule.) Then each thread runs as far as it can,
 * and another one only if one of its events is needed: every two dependent events keep the schedule's order. So the
 * result is a witness if the schedule was one; the judge still decides.
 */
#ifndef LIB_PROVE_SHORTEN_H
#define LIB_PROVE_SHORTEN_H

#include "lib/anomaly/goal.h"
#include "lib/prove/search.h"

/* Longer schedules are not shortened: it would take as long as building them. */
enum { SHORTEN_MAX = 1 << 17 };

struct shorten;

/* NULL without memory. The model must outlive it. */
struct shorten *shorten_create(const struct model *m);
void shorten_free(struct shorten *s);

/* True if the witness is one that shorten_schedule looks at. */
static inline bool shorten_takes(const struct schedule *witness, const struct goal *goal)
{
	return witness->events && witness->events <= SHORTEN_MAX && goal->count;
}

/*
 * Finds a schedule that reaches the goal with no more events and no more turns than the given witness; *out (zeroed by
 * the caller) is the caller's. SEARCH_GAVE_UP if none is shorter, or SEARCH_NO_MEMORY: then *out is empty.
 */
enum search_answer shorten_schedule(struct shorten *s, const struct schedule *witness, const struct goal *goal,
                                    struct schedule *out);

#endif
