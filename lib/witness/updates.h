/*
 * Updates that decide nothing. A correct reordering lets every read see the write that it saw, since the trace does not
 * say which reads the program's course depends on. For a counter (x++) that is too strict: two threads that both count
 * under a lock may do so in either order. An update is a read whose thread next writes the same cells from the same
 * source line; it decides nothing, as far as the trace shows, if whatever its thread does afterwards is the same each
 * time that it is executed, and the write comes each time. What only such reads forbid is not refuted: it stays
 * predicted. Nothing is ever proved with them.
 *
 * Atomic reads that synchronise with nothing are treated likewise: one that does not acquire, or that saw a write that
 * does not release, orders nothing in C, so what only its value forbids is a race of the program on another machine.
 * Where a fence makes it synchronise, the orders have an edge that stays.
 */
#ifndef LIB_WITNESS_UPDATES_H
#define LIB_WITNESS_UPDATES_H

#include "lib/trace/model.h"

/* By event index, bits: such reads. NULL without memory; *count tells how many there are. */
uint8_t *updates_find(const struct model *m, uint32_t *count);
/* The same of the atomic reads alone. */
uint8_t *updates_find_atomic(const struct model *m, uint32_t *count);

static inline int update_bit(const uint8_t *updates, uint32_t e)
{
	return updates && updates[e / 8] >> e % 8 & 1;
}

#endif
