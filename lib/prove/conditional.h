/*
 * What is possible if reads see other writes than they saw: asked of what every witness is denied by some read's
 * reads-from. Locks, the hard order and the partial order relation are kept. A schedule that is found goes to the
 * judge, which names the reads; that there is none refutes for good.
 */
#ifndef LIB_PROVE_CONDITIONAL_H
#define LIB_PROVE_CONDITIONAL_H

#include "lib/judge/verify.h"
#include "lib/prove/searches.h"
#include "lib/relation/por.h"

struct conditional {
	struct searches *searches;       /* borrowed, like the next two */
	const struct segment_order *por; /* the partial order relation */
	struct judge *judge;
	struct judge_reads reads; /* of the last schedule found: they see other writes in it */
	uint64_t spent;           /* events in schedules that were built or looked at to build one */
	uint64_t refused;         /* schedules that the judge refused although they were promised */
};

void conditional_release(struct conditional *c);
/*
 * Looks for a schedule in which reads are free. budget: events that searches may execute, *spent tells how many;
 * linear: events of schedules that may be built in all (c->spent). On SEARCH_FOUND *out (from zeroed) holds the
 * schedule, owned by the caller, and c->reads its reads.
 */
enum search_answer conditional_goal(struct conditional *c, const struct goal *goal, uint64_t budget, uint64_t linear,
                                    struct schedule *out, uint64_t *spent);

#endif
