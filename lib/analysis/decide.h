/*
 * The candidates, given to the provers: here or in processes beside this one, a share of them for a part, or taken over
 * from parts and from what was proved before.
 */
#ifndef LIB_ANALYSIS_DECIDE_H
#define LIB_ANALYSIS_DECIDE_H

#include "lib/analysis/analysis.h"

/*
 * Decides the analysis's anomalies, the most urgent first; then settles what that left conditional. provers: NULL if
 * none are wanted. visits: every state of the trace is visited first. RT_EINPUT: the parts are of other candidates.
 */
enum rt_status decide_anomalies(struct analysis *a, const struct analysis_options *options, struct provers *provers,
                                bool visits, struct rt_error *err);

#endif
