/* A trace as Chrome's trace JSON, which Perfetto (ui.perfetto.dev) and chrome://tracing show. */
#ifndef CMD_PERFETTO_H
#define CMD_PERFETTO_H

#include "tracefmt/trace.h"

#include <stdbool.h>
#include <stdio.h>

/*
 * A row for each thread. Critical sections are slices, from the acquire to the release. A flow leads from a release to
 * the next acquire of the lock by another thread, and from a fork to the thread's first event. The time is the event's
 * number, as microseconds. Accesses are left out. RT_EMEMORY.
 */
enum rt_status perfetto_write(struct rt_trace *trace, FILE *out, struct rt_error *err);

struct perfetto;
/* The same of events in any order, whose times are their places in it. The trace and the stream are borrowed. NULL
 * without memory. */
struct perfetto *perfetto_begin(const struct rt_trace *trace, FILE *out);
/* goal: it is marked. */
void perfetto_event(struct perfetto *p, const struct rt_event *e, bool goal);
/* Writes what is left, and frees p. RT_EMEMORY: events are missing. */
enum rt_status perfetto_end(struct perfetto *p, struct rt_error *err);

#endif
