/*
 * Where a thread's setjmp calls were, by the depth of its calls: what longjmp goes back to. Calls that were left by
 * longjmp have no LEAVE in the trace.
 */
#ifndef LIB_TRACE_JUMPS_H
#define LIB_TRACE_JUMPS_H

#include <stdbool.h>
#include <stdint.h>

struct jump {
	uint64_t buffer, depth;
};
/* All zeros: none yet. By depth, as the buffers of calls that have returned are of no use any more. */
struct jumps {
	struct jump *items;
	uint32_t count, capacity;
};

/* SETJMP of a buffer at this depth. False: no memory. */
bool jumps_set(struct jumps *jumps, uint64_t buffer, uint64_t depth);
/* LONGJMP to it: the depth to go back to, which is depth itself if nothing is known of the buffer. */
uint64_t jumps_target(const struct jumps *jumps, uint64_t buffer, uint64_t depth);
void jumps_release(struct jumps *jumps);

#endif
