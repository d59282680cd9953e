/*
 * Reads a trace's events in a thread of its own, while the caller works on those before them. In the meantime the
 * caller must not read, rewind or select; it may ask for positions, names and facts.
 */
#ifndef TRACEFMT_AHEAD_H
#define TRACEFMT_AHEAD_H

#include "tracefmt/trace.h"

struct rt_ahead;

/* Begins to read what rt_trace_read would return next. NULL: this trace is not read so, or the thread cannot be made;
 * the caller reads itself then. */
struct rt_ahead *rt_ahead_start(struct rt_trace *trace);
/* The next events, which the caller may change; *got is 0 only at the end. They are valid until the next call. */
enum rt_status rt_ahead_read(struct rt_ahead *a, struct rt_event **events, size_t *got, struct rt_error *err);
/* Ends the thread, wherever it is; NULL is allowed. */
void rt_ahead_stop(struct rt_ahead *a);

#endif
