/*
 * The exhaustive prover: searches the reachable states of a trace's correct reorderings for one in which a goal holds
 * (Kulikov, Shafiei, van Breugel, Visser, "Detecting Data Races with Java PathFinder": a race is a state in which two
 * conflicting accesses are enabled).
 *
 * It is complete: if it ends without a witness and within its budget, there is none. What keeps it small:
 * - the needs of the goal (needs.h); often they alone show that there is no witness;
 * - only relevant events are executed: leaving out all others turns any witness into a smaller one;
 * - its base (base.h) is executed first, in the trace's order, without a search;
 * - persistent sets: an independent event (a release, a read, a fork, a write that no other thread touches) is executed
 * at once, alone;
 * - states already seen (thread positions, and the last writes that some later read depends on) are not entered again;
 * - a write that covers a value which a needed event still has to read is not tried;
 * - the events' order in the trace is tried first.
 *
 * Persistent sets and a memory of states are used instead of sleep or source sets: these save steps into states seen
 * before, not states, and a step costs little here. Measured on tests/golden: the 5,791 candidates of raceinjector/
 * that the provers before closure leave open take 93,949 states and 37,273 such steps in all, those of random/ 1,557
 * and 525; without the memory 29,636 instead of 4,993 events are executed there, without the persistent sets twice as
 * many states visited. Memory is bounded by the budget: at most 64 bytes a state, and no more states than executed
 * events.
 */
#ifndef LIB_PROVE_SEARCH_H
#define LIB_PROVE_SEARCH_H

#include "lib/anomaly/goal.h"
#include "lib/relation/facts.h"
#include "lib/trace/values.h"

enum search_answer { SEARCH_FOUND, SEARCH_NONE, SEARCH_GAVE_UP, SEARCH_NO_MEMORY };

struct search;

/*
 * Prepares a search of a model. Reads see the write that they saw; free: any write; with values (NULL: none) any write
 * of the value that they saw. trf must be computed with those reads. All three must outlive it. NULL without memory.
 */
struct search *search_create(struct facts *f, const struct trf *trf, bool free, const struct values *values);
void search_free(struct search *s);

/* True if the goal's needs alone show that there is no witness. Cheap. */
bool search_refutes(struct search *s, const struct goal *goal);
struct certain;
/* See sure.h; the reads of this search must see what they saw. */
enum search_answer search_sure(struct search *s, struct certain *certain, const struct goal *goal, uint64_t budget,
                               struct schedule *out, uint64_t *spent);
/* See in_order.h; the reads of this search must be free. */
enum search_answer search_in_order(struct search *s, const struct goal *goal, const struct trf *sees, uint64_t budget,
                                   struct schedule *out, uint64_t *spent);
/* The needed events, in the order of the trace: a witness if the recorded run shows the goal. False without memory. */
bool search_as_recorded(struct search *s, const struct goal *goal, struct schedule *out);

/*
 * Searches for a witness of the goal. budget: events that may be executed, undone ones included; *spent: those that
 * were, and those after the base that were examined once. On SEARCH_FOUND *out (zeroed and owned by the caller)
 * holds the schedule.
 */
enum search_answer search_goal(struct search *s, const struct goal *goal, uint64_t budget, struct schedule *out,
                               uint64_t *spent);

/*
 * The closure prover (closure.h) with this search's data; not with values. Of the 4,378 candidates of raceinjector/
 * that the provers before it leave open it leaves 353 to the exhaustive search, which executes 89,658 events for them
 * instead of 1,180,611 for all.
 */
enum search_answer search_closure(struct search *s, const struct goal *goal, uint64_t budget, struct schedule *out,
                                  uint64_t *spent);
/* Number of events that were looked at so far for what goals need (needs.h); of many threads several count as one. */
uint64_t search_looked(const struct search *s);
/* True if closure's order of the needed events has a cycle, so that there is no witness. Builds none. Not with values.
 * False, too, without memory. */
bool search_contradicts(struct search *s, const struct goal *goal, uint64_t budget, uint64_t *spent);

#endif
