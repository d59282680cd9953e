/*
 * The closure prover (M2, Pavlogiannis, POPL 2020; SeqCheck, FSE 2021): saturates the order of the events that a goal
 * needs (saturate.h). A cycle refutes the goal; else the order is linearised: first with what is needed, then with ends
 * of the sections that are open there. Complete for neither answer, and polynomial.
 *
 * Linearising takes no step back. Where the order leaves a choice, what may occur in the trace's correct reorderings
 * now (space.h) and is earliest in the trace is taken; if that comes to a dead end, one thread of the goal after the
 * other is given way to first (M2's max-min linearisation).
 */
#ifndef LIB_PROVE_CLOSURE_H
#define LIB_PROVE_CLOSURE_H

#include "lib/prove/needs.h"
#include "lib/prove/search.h"
#include "lib/prove/state/space.h"

/* Looks for a witness of the goal, like search_goal. start: room for a number by thread. */
enum search_answer closure_goal(struct needs *needs, struct space *space, uint32_t *start, const struct goal *goal,
                                uint64_t budget, struct schedule *out, uint64_t *spent);
/* The first half of it: does the order of what the goal needs have a cycle, so that it has no witness? */
bool closure_refutes(struct needs *needs, struct space *space, uint32_t *start, const struct goal *goal,
                     uint64_t budget, uint64_t *spent);

#endif
