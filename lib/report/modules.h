/* Loaded modules that were not instrumented: a trace has only their calls of the C library. */
#ifndef LIB_REPORT_MODULES_H
#define LIB_REPORT_MODULES_H

#include "tracefmt/trace.h"

struct plain_modules {
	const char **paths; /* each once, by name; borrowed from the trace */
	size_t count;
	size_t system; /* number of others: the C library and the compiler's libraries, which are never instrumented */
};

/* Computed from the trace's list. False without memory. */
bool plain_modules_find(const struct rt_trace *trace, struct plain_modules *out);
void plain_modules_release(struct plain_modules *m);

#endif
