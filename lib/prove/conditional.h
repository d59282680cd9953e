/*
 * Witnesses in which reads see other writes than they saw, for candidates whose every witness some read's reads-from
 * forbids. Locks, the hard order and the partial order relation are kept. The judge checks a schedule that is found and
 * names the reads. If there is none, the candidate is refuted.
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
	struct judge_reads reads; /* of the last schedule found: the reads that see other writes in it */
	uint64_t spent;           /* events in schedules that were built, or examined to build one */
	uint64_t refused;         /* schedules that the judge refused although a prover promised them */
};

void conditional_release(struct conditional *c);
/*
 * Searches for a schedule with free reads. budget: events that searches may execute, *spent: those they did; linear:
 * events of schedules that may be built in all (c->spent). On SEARCH_FOUND *out (zeroed and owned by the caller) holds
 * the schedule, and c->reads its reads.
 */
enum search_answer conditional_goal(struct conditional *c, const struct goal *goal, uint64_t budget, uint64_t linear,
                                    struct schedule *out, uint64_t *spent);

/*
 * The same for a goal of a program's trace, two of whose events come right one after the other in their thread: reads
 * see what they saw, but the first of two such events, whose thread goes on all the same. SEARCH_GAVE_UP, too, if no
 * such first event reads.
 */
enum search_answer conditional_own_reads(struct conditional *c, const struct goal *goal, uint64_t budget,
                                         struct schedule *out, uint64_t *spent);

#endif
