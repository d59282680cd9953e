/*
 * Traces of machine code (rt_trace_info.binary): a load or store of it may be the language's plain access or its atomic
 * one, relaxed, acquire or release. A location that an instruction with a bus lock works on is an atomic variable. Its
 * loads and stores are taken for atomic ones with acquire and release order, as the processor executes them. What no
 * atomic operation is compiled to is an exception (RT_F_PLAIN). So is what a function of std::atomic or of Rust's does,
 * by the debug information of its inlined copies.
 *
 * A location is known by address and size, whatever it held at the time.
 */
#ifndef LIB_TRACE_MACHINE_H
#define LIB_TRACE_MACHINE_H

#include "lib/base/set.h"
#include "tracefmt/trace.h"

struct machine {
	const struct rt_trace *trace; /* borrowed */
	struct set locked;            /* locations */
	struct set known, atomic;     /* positions: those looked up, and those of them in an atomic's member function */
};

/* Of each event, in a first pass. False without memory. */
bool machine_look(struct machine *m, const struct rt_event *e);
/* Makes atomic accesses of those of the locations that were found. False without memory. */
bool machine_mend(struct machine *m, struct rt_event *e);
void machine_release(struct machine *m);

#endif
