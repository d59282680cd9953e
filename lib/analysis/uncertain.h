/* Which values of a trace are uncertain (lib/relation/raced.h), for what writes them elsewhere. */
#ifndef LIB_ANALYSIS_UNCERTAIN_H
#define LIB_ANALYSIS_UNCERTAIN_H

#include "lib/trace/model.h"

/*
 * Accesses that race with a write. No bits (NULL) if the trace has no values or its order is exact: then all are
 * certain. The bits are owned by the caller.
 */
enum rt_status uncertain_values(struct rt_trace *trace, struct rt_numbers *out, struct rt_error *err);

#endif
