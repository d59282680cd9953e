/*
 * Uninstrumented modules may order their accesses by atomics that are not recorded. What they may order that way is at
 * most predicted: the free of a block whose references they count; and all their accesses if the program itself is one,
 * which then calls the instrumented ones. What they read in critical sections is not recorded either, so a schedule
 * that has these in another order than the trace proves nothing.
 */
#ifndef LIB_ANALYSIS_PLAIN_H
#define LIB_ANALYSIS_PLAIN_H

#include "lib/anomaly/anomaly.h"

/* False without memory. */
bool plain_cap(const struct model *m, struct anomaly_list *list);

#endif
