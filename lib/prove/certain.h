/*
 * Reads whose writers are certain. If a trace's order is stamped, only time stamps tell which write a racing read saw.
 * A read is certain if the write that it saw happens-before it, and every other write to the cell that it could have
 * seen is before that write or after the read.
 */
#ifndef LIB_PROVE_CERTAIN_H
#define LIB_PROVE_CERTAIN_H

#include "lib/anomaly/anomaly.h"
#include "lib/relation/facts.h"

struct certain;

/* exact: the trace's order is exact; then every read is certain. NULL without memory. */
struct certain *certain_create(struct facts *f, bool exact);
void certain_free(struct certain *c);

/* Number of reads in the schedule, except the goal's own, that are not certain; *first is one of them. */
uint32_t certain_count_uncertain(struct certain *c, const struct schedule *s, const uint32_t *goal, uint32_t goal_count,
                                 uint32_t *first);

/* True if the event is a read whose writer is not certain. */
bool certain_is_uncertain(struct certain *c, uint32_t e);

/*
 * If the event is a read whose writer is not certain, calls f for the writes that it may have seen. Of each thread that
 * is the last one that neither comes after the read nor was covered before it. The same thread's earlier ones are not
 * listed. False if f returns false, or if more than `most` accesses would be examined.
 */
bool certain_writers(struct certain *c, uint32_t e, uint64_t most, bool (*f)(void *arg, uint32_t write), void *arg);

#endif
