/*
 * Uninstrumented modules may order their accesses by atomics that are not recorded. What they may order that way is at
 * most predicted: the free of a block whose references they count; and all their accesses if the program itself is one,
 * which then calls the instrumented ones.
 */
#ifndef LIB_ANALYSIS_PLAIN_H
#define LIB_ANALYSIS_PLAIN_H

#include "lib/anomaly/anomaly.h"

void plain_cap(const struct model *m, struct anomaly_list *list);

#endif
