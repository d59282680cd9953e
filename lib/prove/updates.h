/*
 * Updates that decide nothing. For a counter (x++) it is too strict that every read sees the write that it saw: two
 * threads that both count under a lock may do so in either order. An update is a read whose thread next writes the same
 * cells from the same source line; it decides nothing, as far as the trace shows, if whatever its thread does
 * afterwards is the same each time that it is executed, and the write comes each time. What needs only such reads to
 * see another write is predicted, not conditional. Nothing is ever proved with them.
 */
#ifndef LIB_PROVE_UPDATES_H
#define LIB_PROVE_UPDATES_H

#include "lib/anomaly/goal.h"

/* By event index, bits: such reads. NULL without memory. */
uint8_t *updates_find(const struct model *m);
/* Are all these reads such updates, and few, none of them the goal's own, and does the goal not depend on what they
 * count, and the schedule read it nowhere else? */
bool updates_are_all(const uint8_t *updates, const struct model *m, const struct goal *goal, const struct schedule *s,
                     const uint32_t *reads, uint32_t count);

#endif
