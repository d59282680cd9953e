/*
 * Every state at once: visits each state that the correct reorderings of a trace reach, once, and tells which goals it
 * met (seed 002, Kulikov, Shafiei, van Breugel, Visser, "Detecting Data Races with Java PathFinder": there is an
 * execution in which two accesses race if and only if there is a state in which both are enabled). Where the search of
 * search.h answers for one goal and looks at what that goal needs alone, this answers for all of them, and so is for
 * small traces.
 *
 * A state is how far each thread is, with the last write of each cell that some later read asks for (space.h).
 *
 * Reduction: an event that no open goal contains (it is invisible) and that can be in nobody's way is executed at once,
 * alone. That is sound for every goal, not just for one: take any way from here to a state that meets an open goal.
 * Either the event is on it; then it may as well come first, since nothing before it on the way depends on it. Or it is
 * not; then its thread stands before it to the end and is no part of the goal, and the goal is met with the event
 * executed as well, since it takes nothing away from others. In nobody's way are releases, reads that see what they
 * must, whatever only makes others possible (fork, join, post, arrival, ...), signals of waits that have begun, and, as
 * long as that is so, acquires of locks that no other thread takes any more and writes of cells that nobody else
 * writes or reads any more. A wait's begin can only be better early: its signal is not missed then. Goals that are met
 * are open no longer, so that less and less is visible.
 *
 * A state in which each open goal has an event that was executed leads to none, and is not gone on from. No other
 * reduction is used: sleep sets would only avoid steps into states seen already, not states.
 */
#ifndef LIB_PROVE_STATES_H
#define LIB_PROVE_STATES_H

#include "lib/prove/search.h"
#include "lib/prove/state/reads.h"

/* So many states are kept in mind; with what is needed to find them that is 512 MiB. */
enum { STATES_MAX = 1 << 24 };

/* A race or deadlock to look for, and whether it was met; then the schedule is a witness, owned by the caller. */
struct states_goal {
	struct goal goal;
	bool met;                 /* if it is so before, it is not looked for */
	struct schedule schedule; /* from zeroed */
};

struct states_limits {
	uint64_t events; /* so many may be executed, those taken back included */
	uint64_t states; /* so many kept in mind; at most STATES_MAX */
};
struct states_count {
	uint64_t events, states; /* executed, visited */
};

/*
 * Visits the states until every goal is met (SEARCH_FOUND) or there are no more of them (SEARCH_NONE: what was not met
 * has no witness), or until the limits are reached (SEARCH_GAVE_UP: of what was not met nothing is known). values,
 * trf: as for search_create; no reads are free.
 */
enum search_answer states_visit(const struct model *m, const struct trf *trf, const struct values *values,
                                const struct states_limits *limits, struct states_goal *goals, uint32_t count,
                                struct states_count *counts);

#endif
