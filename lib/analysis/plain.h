/*
 * Modules that are not instrumented order what they do by atomics that nobody sees. What they may so order is at most
 * predicted: the free of a block whose references they count; and all that they access, if the program itself is one,
 * which is there to call the instrumented ones.
 */
#ifndef LIB_ANALYSIS_PLAIN_H
#define LIB_ANALYSIS_PLAIN_H

#include "lib/anomaly/anomaly.h"

void plain_cap(const struct model *m, struct anomaly_list *list);

#endif
