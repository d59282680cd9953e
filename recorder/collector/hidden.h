/*
 * Atomic instructions without a hook: of inline assembly, of assembler files, of functions that the compiler does not
 * instrument. Found in the machine code of the instrumented modules; and modules that are not instrumented, as a whole.
 */
#ifndef RECORDER_COLLECTOR_HIDDEN_H
#define RECORDER_COLLECTOR_HIDDEN_H

#include "recorder/collector/debug.h"
#include "tracefmt/trace.h"

/* What code that leaves no events may do. */
enum { HIDDEN_ORDERS = 1, HIDDEN_READS = 2, HIDDEN_WRITES = 4, HIDDEN_ALL = 7 };

/* One function, or one call of one; see struct rt_hidden_atomic. */
struct hidden_atomic {
	uint64_t start, end, from, until;
	bool may_lock;
	unsigned does;        /* HIDDEN_* */
	uint64_t at;          /* address of the instruction */
	const char *function; /* symbol of the function in which it is, NULL: unknown; lives as long as the debug
	                         information */
	const struct debug_image *image; /* module that contains it */
};

struct hidden_atomics {
	struct hidden_atomic *items;
	size_t count, size;
};

/* True if the image is not instrumented and may keep orders that no event shows, if it has such instructions. */
bool hidden_may_be_opaque(const struct debug *d, size_t image);
/* a must be zeroed. RT_EMEMORY: those found until then are there. */
enum rt_status hidden_atomics_find(struct hidden_atomics *a, struct debug *d, struct rt_error *err);
void hidden_atomics_release(struct hidden_atomics *a);

#endif
