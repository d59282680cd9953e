/*
 * Exploration of every state: visits each state that the correct reorderings of a trace reach, once, and records the
 * goals that it meets. (Kulikov, Shafiei, van Breugel, Visser, "Detecting Data Races with Java PathFinder": there is an
 * execution in which two accesses race if and only if there is a state in which both are enabled.) The search of
 * search.h decides one goal and examines only what that goal needs; this decides all goals at once, and so suits small
 * traces.
 *
 * A state is the position of each thread, and the last write of each cell that some later read depends on (space.h).
 *
 * Reduction: an independent event that no open goal contains (an invisible one) is executed at once, alone. That is
 * sound for every goal: take any path from here to a state that meets an open goal. If the event is on it, it may as
 * well come first, since no event before it on the path depends on it. If it is not, its thread does not move up to the
 * end and is no part of the goal; the goal is met with the event executed as well, since it disables no other event.
 * Independent are releases, reads that see what they must, events that only enable others (fork, join, post, arrival,
 * ...), and signals of waits that have begun. So are acquires of locks that no other thread takes any more, and writes
 * of cells that no other thread accesses any more. A wait's begin is best early: its signal is then not lost. Goals
 * that are met are no longer open, so that more and more events become invisible.
 *
 * A state in which each open goal has an executed event leads to none, and is not continued. No other reduction is
 * used: sleep sets would only avoid steps into states seen already, not states.
 */
#ifndef LIB_PROVE_STATES_H
#define LIB_PROVE_STATES_H

#include "lib/anomaly/limit.h"
#include "lib/prove/search.h"
#include "lib/prove/state/reads.h"

/* Most states that are remembered; with their index that is 512 MiB. */
enum { STATES_MAX = LIMIT_SEARCH_STATES_MAX };

/* A race or deadlock to search for, and whether it was met; then the schedule is a witness, owned by the caller. */
struct states_goal {
	struct goal goal;
	bool met;                 /* if true before, it is not searched for */
	struct schedule schedule; /* from zeroed */
};

struct states_limits {
	uint64_t events; /* events that may be executed, undone ones included */
	uint64_t states; /* states that may be remembered; at most STATES_MAX */
};
struct states_count {
	uint64_t events, states; /* executed, visited */
};

/*
 * Visits the states until every goal is met (SEARCH_FOUND) or there are no more (SEARCH_NONE: a goal not met has no
 * witness). At a limit it ends, too (SEARCH_GAVE_UP: nothing is known of the goals not met). values, trf: as for
 * search_create; no reads are free.
 */
enum search_answer states_visit(struct facts *f, const struct trf *trf, const struct values *values,
                                const struct states_limits *limits, struct states_goal *goals, uint32_t count,
                                struct states_count *counts);

#endif
