/*
 * Object race detection (von Praun and Gross, OOPSLA 2001; section 6.3 of the survey by Jun and others): Eraser's
 * states and locksets kept for objects, not for bytes. An object is a heap block, a global variable, or 64 bytes of
 * other memory, such as a stack's.
 *
 * Its first thread owns it until a second one comes. What the owner did before it created that thread is ordered by the
 * creation and does not count (ownership). From then on all accesses must have a common lock; writes, one that excludes
 * readers. An object that keeps this rule has no race in any of its bytes: no two of its accesses are without a lock in
 * common, but those that creation orders. The others fail, and are looked at byte by byte. So do those with atomic
 * operations, which order other accesses.
 */
#ifndef LIB_TRACE_OWNERSHIP_H
#define LIB_TRACE_OWNERSHIP_H

#include "tracefmt/trace.h"

struct ownership;

/* One pass over the trace, which is rewound first. On RT_OK the caller owns *out. */
enum rt_status ownership_create(struct rt_trace *trace, struct ownership **out, struct rt_error *err);
/* True if an object fails that has one of these bytes at any time. */
bool ownership_fails(struct ownership *o, uint64_t addr, uint64_t size);
/* Number of objects, heap blocks without an access included, of those that two threads accessed, and of those that
 * failed. */
void ownership_counts(const struct ownership *o, uint64_t *objects, uint64_t *shared, uint64_t *failed);
/* NULL is allowed. */
void ownership_free(struct ownership *o);

#endif
