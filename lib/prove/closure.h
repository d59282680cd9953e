/*
 * The closure prover (M2, Pavlogiannis, POPL 2020; SeqCheck, FSE 2021): saturates the order of the events that a goal
 * needs (saturate.h). A cycle refutes the goal. Otherwise the order is linearised, first with the needed events, then
 * with the ends of sections that are open there. It is complete for neither answer, and polynomial.
 *
 * Linearising takes no step back. Where the order leaves a choice, it takes the earliest event in the trace that may
 * occur now (space.h). If that reaches a dead end, one thread of the goal after the other is preferred (M2's max-min
 * linearisation).
 */
#ifndef LIB_PROVE_CLOSURE_H
#define LIB_PROVE_CLOSURE_H

#include "lib/prove/needs.h"
#include "lib/prove/search.h"
#include "lib/prove/state/space.h"

/* Searches for a witness of the goal, like search_goal. start: room for a number by thread. */
enum search_answer closure_goal(struct needs *needs, struct space *space, uint32_t *start, const struct goal *goal,
                                uint64_t budget, struct schedule *out, uint64_t *spent);
/* The first half of it: true if the order of what the goal needs has a cycle, so that there is no witness. */
bool closure_refutes(struct needs *needs, struct space *space, uint32_t *start, const struct goal *goal,
                     uint64_t budget, uint64_t *spent);

#endif
