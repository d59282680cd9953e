/* The modules that the recorded program had loaded. */
#ifndef LIB_TRACE_MODULES_H
#define LIB_TRACE_MODULES_H

#include "lib/base/module_path.h"
#include "tracefmt/trace.h"

/* The module that covers an address, borrowed from the trace; NULL if none is known. */
const struct rt_module *module_at(const struct rt_trace *trace, uint64_t pc);
/* True if a module of this name (module_name) was not instrumented. */
bool module_is_plain(const struct rt_trace *trace, const char *name);

#endif
