/* Which loaded modules were not instrumented: what they do is in a trace only where they call the C library. */
#ifndef LIB_REPORT_MODULES_H
#define LIB_REPORT_MODULES_H

#include "tracefmt/trace.h"

struct plain_modules {
	const char **paths; /* each once, by name; borrowed from the trace */
	size_t count;
	size_t system; /* so many besides: the C library and what comes with the compiler, which nobody instruments */
};

/* From the trace's own list. False without memory. */
bool plain_modules_find(const struct rt_trace *trace, struct plain_modules *out);
void plain_modules_release(struct plain_modules *m);

#endif
