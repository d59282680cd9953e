/*
 * Where each thread called setjmp, by the depth of its calls: the depth that longjmp returns to. Calls that longjmp
 * leaves have no LEAVE in the trace.
 */
#ifndef LIB_TRACE_JUMPS_H
#define LIB_TRACE_JUMPS_H

#include <stdbool.h>
#include <stdint.h>

struct jump {
	uint64_t buffer, depth;
};
/* A zeroed struct is empty. Sorted by depth: buffers of calls that have returned are of no use any more. */
struct jumps {
	struct jump *items;
	uint32_t count, capacity;
};

/* Records SETJMP of a buffer at this depth. False without memory. */
bool jumps_set(struct jumps *jumps, uint64_t buffer, uint64_t depth);
/* Depth that LONGJMP to the buffer returns to; `depth` itself if the buffer is unknown. */
uint64_t jumps_target(const struct jumps *jumps, uint64_t buffer, uint64_t depth);
void jumps_release(struct jumps *jumps);

#endif
