/*
 * Updates that nothing depends on. For a counter (x++) it is too strict that every read sees the write that it saw: two
 * threads that count under a lock may do so in either order. An update is a read whose thread next writes the same
 * cells from the same source line. Nothing depends on it, as far as the trace shows, if its thread's later events are
 * the same each time that it is executed, and the write comes each time. A candidate for which only such reads must see
 * another write is predicted, not conditional. They never prove anything.
 */
#ifndef LIB_PROVE_UPDATES_H
#define LIB_PROVE_UPDATES_H

#include "lib/anomaly/goal.h"
#include "lib/prove/certain.h"

/* By event index, bits: the reads of such updates. NULL without memory. */
uint8_t *updates_find(const struct model *m);
/* True if all these reads are of such updates, are few and none of them the goal's own, and if neither the goal nor any
 * other read of the schedule depends on what they count. */
bool updates_are_all(const uint8_t *updates, const struct model *m, const struct goal *goal, const struct schedule *s,
                     const uint32_t *reads, uint32_t count);

/*
 * True if the schedule depends on what racing reads saw, and on nothing else: of the reads that have to see other
 * writes in it, each races or is an update by the machine code, and what looks at these updates races. Of such reads
 * only time stamps tell what they saw in the run.
 */
bool updates_or_racy_reads(struct certain *c, const struct model *m, const struct schedule *s, const uint32_t *reads,
                           uint32_t count);

#endif
