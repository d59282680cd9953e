/* A sample of tuples of events: the first ones, and some of those that come after it is full. */
#ifndef LIB_SEARCH_SAMPLE_H
#define LIB_SEARCH_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

struct sample {
	uint32_t *events; /* owned; the tuples one after the other */
	uint32_t count;   /* number of tuples */
	uint32_t capacity;
	uint64_t offered; /* number of tuples that sample_add was called with */
};

/*
 * Adds a tuple of n events. If there are `most` it may replace one instead, but none of the first `stay`: each tuple
 * that is offered then has about the same chance to be kept. False without memory.
 */
bool sample_add(struct sample *s, const uint32_t *events, uint32_t n, uint32_t most, uint32_t stay);
void sample_release(struct sample *s);

#endif
