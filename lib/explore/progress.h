/*
 * Whether a run that was ended at its time-out was slow rather than stuck. A loop that waits does the same again and
 * again; what makes progress comes to new values.
 */
#ifndef LIB_EXPLORE_PROGRESS_H
#define LIB_EXPLORE_PROGRESS_H

#include "tracefmt/trace.h"

/*
 * *progress: among the last of the trace's events, of which there are very many, a variable is given a value that it
 * did not have shortly before, or a thread is created. One more pass over the trace.
 */
enum rt_status progress_of(struct rt_trace *trace, bool *progress, struct rt_error *err);

#endif
