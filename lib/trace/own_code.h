/*
 * Which code is the program's own: not a header or library of the system. What library code does is the deed of the
 * line that called it.
 */
#ifndef LIB_TRACE_OWN_CODE_H
#define LIB_TRACE_OWN_CODE_H

#include "tracefmt/trace.h"

enum { OWN_CODE_CACHE = 4096 };

/* Answers by pc; set trace, and zero the rest. */
struct own_code {
	const struct rt_trace *trace; /* borrowed */
	struct {
		uint64_t pc;
		bool is;
	} cache[OWN_CODE_CACHE];
};

/* True if the frame is in a system header, the standard library, the C library or a compiler's runtime. */
bool frame_is_library(const struct rt_frame *frame);
/* True if the frame is known, and is not of that kind. */
bool frame_is_own(const struct rt_frame *frame);
/* True if the function allocates whatever its callers want, as its name says: "xmalloc", "arena_alloc". */
bool frame_allocates(const struct rt_frame *frame);
/* True if a frame of the position is the program's own, inlined ones included, or if there is no position. */
bool own_code_has(struct own_code *o, uint64_t pc);

#endif
