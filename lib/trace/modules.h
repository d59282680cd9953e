/* The modules that the recorded program had loaded. */
#ifndef LIB_TRACE_MODULES_H
#define LIB_TRACE_MODULES_H

#include "tracefmt/trace.h"

/* The last part of a path; borrowed from it. */
const char *module_name(const char *path);
/* True if the module is the C library or comes with the compiler: it is never instrumented, and its orders are
 * known. */
bool module_is_system(const char *path);
/* True if it is the recorder, under its own name or the one that it replaces. */
bool module_is_recorder(const char *path);
/* The module that covers an address, borrowed from the trace; NULL if none is known. */
const struct rt_module *module_at(const struct rt_trace *trace, uint64_t pc);

#endif
