/*
 * References of events: source positions, variables, names of objects. A trace cannot list them; it is asked for each.
 * An exporter goes through the events and gets each reference once, before the first event that needs it.
 */
#ifndef TRACEFMT_REFS_H
#define TRACEFMT_REFS_H

#include "lib/base/names.h"
#include "tracefmt/trace.h"

/* The callbacks. A status other than RT_OK ends it. */
struct refs_sink {
	enum rt_status (*position)(void *arg, uint64_t pc, const struct rt_frame *frames, size_t n,
	                           struct rt_error *err);
	enum rt_status (*variable)(void *arg, const struct rt_variable *variable, struct rt_error *err);
	enum rt_status (*object)(void *arg, uint64_t address, const char *name, struct rt_error *err);
};

/* The thread-local memory of a thread, or of several that had the same one in turn. */
struct refs_locals {
	uint64_t begin, end;
};

struct refs {
	const struct rt_trace *trace;
	const struct refs_sink *sink;
	void *arg;
	struct names positions, addresses, variables; /* seen */
	struct names locals;                          /* struct refs_locals */
	struct names shared;                          /* functions whose regions share variables */
};

void refs_init(struct refs *refs, const struct rt_trace *trace, const struct refs_sink *sink, void *arg);
/* Calls back for each reference that the event is the first to need. */
enum rt_status refs_event(struct refs *refs, const struct rt_event *event, struct rt_error *err);
void refs_release(struct refs *refs);

#endif
