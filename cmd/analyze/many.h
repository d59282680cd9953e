/* The analysis of several traces, as many at once as --jobs allows, for racetrace analyze. */
#ifndef CMD_ANALYZE_MANY_H
#define CMD_ANALYZE_MANY_H

#include "cmd/analyze/options.h"
#include "lib/report/merge.h"

/*
 * Adds the reports of all traces to a merge, in the order of the traces: what is written and printed does not depend on
 * --jobs. An error of one trace is printed, with the trace's name, and the others are analyzed: *failed. RT_EINPUT:
 * none could be analyzed.
 */
enum rt_status analyze_many(struct analyze_settings *s, struct merge *merge, bool *failed, struct rt_error *err);

#endif
