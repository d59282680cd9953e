/*
 * The exhaustive prover: searches the reachable states of a trace's correct reorderings for one in which a goal holds
 * (seed 002: a race is a state in which two conflicting accesses are enabled).
 *
 * It is complete: if it ends without a witness and within its budget, there is none. What keeps it small:
 *  - what the goal needs: thread order, POR, reads-from, and that who holds a lock lets it go before whoever takes it
 *    after; often that alone shows that there is no witness;
 *  - the relevant part of the trace: that, and the releases of the locks taken there with what these need in turn.
 *    Leaving out everything else turns any witness into a smaller one;
 *  - its base (base.h) is executed first, in the trace's order, and not looked at;
 *  - persistent sets: an event that can be in nobody's way (a release, a read, a fork, a write that nobody else
 *    touches) is executed at once, alone;
 *  - states already seen (thread positions and the last writes that some later read asks for) are not entered again;
 *  - a write that takes away a value which something needed has still to read is not tried;
 *  - the events' order in the trace is tried first.
 *
 * Persistent sets and a memory of states rather than sleep or source sets: these save steps into states seen before,
 * not states, and a step costs little here. Measured on tests/golden: the 5,791 candidates of raceinjector/ that the
 * provers before closure leave open take 93,949 states and 37,273 such steps in all, those of random/ 1,557 and 525;
 * without the memory 29,636 instead of 4,993 events are executed there, without the persistent sets twice as many
 * states visited. Memory is bounded by the budget: at most 64 bytes a state, of which there are no more than executed
 * events.
 */
#ifndef LIB_PROVE_SEARCH_H
#define LIB_PROVE_SEARCH_H

#include "lib/anomaly/goal.h"
#include "lib/relation/trf.h"
#include "lib/trace/values.h"

enum search_answer { SEARCH_FOUND, SEARCH_NONE, SEARCH_GAVE_UP, SEARCH_NO_MEMORY };

struct search;

/*
 * Prepares searching a model. Reads see the write that they saw; free: any write; with values (NULL: none) any write of
 * the value that they saw. trf must be computed with those reads. All three must outlive it. NULL without memory.
 */
struct search *search_create(const struct model *m, const struct trf *trf, bool free, const struct values *values);
void search_free(struct search *s);

/* Is there no witness because of what the goal needs alone? Cheap. */
bool search_refutes(struct search *s, const struct goal *goal);
struct certain;
/* What sure.h says, with what this search knows; its reads must see what they saw. */
enum search_answer search_sure(struct search *s, struct certain *certain, const struct goal *goal, uint64_t budget,
                               struct schedule *out, uint64_t *spent);
/* What in_order.h says, with what this search knows; its reads must be free. */
enum search_answer search_in_order(struct search *s, const struct goal *goal, const struct trf *sees, uint64_t budget,
                                   struct schedule *out, uint64_t *spent);
/* What the goal needs, in the order of the trace: if the recorded run shows it, that is a witness. False without
 * memory. */
bool search_as_recorded(struct search *s, const struct goal *goal, struct schedule *out);

/*
 * Looks for a witness of the goal. budget: events that may be executed, those taken back included; *spent tells how
 * many were, with those behind the base that were looked at once. On SEARCH_FOUND *out (from zeroed) holds the
 * schedule, owned by the caller.
 */
enum search_answer search_goal(struct search *s, const struct goal *goal, uint64_t budget, struct schedule *out,
                               uint64_t *spent);

/*
 * The closure prover (closure.h) with what this search knows; not with values. Of the 4,378 candidates of raceinjector/
 * that the provers before it leave open it leaves 353 to the exhaustive search, which executes 89,658 events for them
 * instead of 1,180,611 for all.
 */
enum search_answer search_closure(struct search *s, const struct goal *goal, uint64_t budget, struct schedule *out,
                                  uint64_t *spent);
/* Does closure's order of what the goal needs have a cycle, so that there is no witness? It builds none. Not with
 * values. False, too, without memory. */
bool search_contradicts(struct search *s, const struct goal *goal, uint64_t budget, uint64_t *spent);

#endif
