/*
 * Atomic reads that synchronise with nothing: a read that does not acquire, or that saw a write that does not release,
 * orders nothing in C. If a fence makes it synchronise, the orders have that edge anyway.
 */
#ifndef LIB_RELATION_RELAXED_H
#define LIB_RELATION_RELAXED_H

#include "lib/trace/model.h"

/* By event index, bits: the reads that synchronise with nothing. NULL without memory. */
uint8_t *relaxed_reads(const struct model *m);

#endif
