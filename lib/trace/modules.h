/* The modules that the recorded program had loaded. */
#ifndef LIB_TRACE_MODULES_H
#define LIB_TRACE_MODULES_H

#include "tracefmt/trace.h"

/* The last part of a path; borrowed from it. */
const char *module_name(const char *path);
/* True if it is the C library, or comes with the compiler: nobody instruments those, and what they order is known. */
bool module_is_system(const char *path);
/* The module that covers an address; NULL: none that is known. Borrowed from the trace. */
const struct rt_module *module_at(const struct rt_trace *trace, uint64_t pc);

#endif
