/*
 * Which reads' writers are certain. In a trace whose order is stamped, which write a read saw is known by time stamp
 * where it races. A read is certain
 * when the write that it saw happens-before it, and every other write to the cell that could have been seen instead is
 * before that write or after the read.
 */
#ifndef LIB_PROVE_CERTAIN_H
#define LIB_PROVE_CERTAIN_H

#include "lib/anomaly/anomaly.h"
#include "lib/relation/por.h"

struct certain;

/* exact: the trace's order is; then every read is certain. NULL without memory. */
struct certain *certain_create(const struct model *m, bool exact, struct rt_error *err);
void certain_free(struct certain *c);

/* Number of reads in the schedule, the goal's own left out, that are not certain; *first is one of them. */
uint32_t certain_count_uncertain(struct certain *c, const struct schedule *s, const uint32_t *goal, uint32_t goal_count,
                                 uint32_t *first);

/*
 * Hands f the writes that the event, if it is a read whose writer is not certain, may have seen: of each thread the
 * last one that neither comes after the read nor was covered before it. Those before it of the same thread are not
 * named. False if f says so, and where more than `most` accesses would be looked at.
 */
bool certain_writers(struct certain *c, uint32_t e, uint64_t most, bool (*f)(void *arg, uint32_t write), void *arg);

#endif
