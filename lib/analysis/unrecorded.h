/* Limits an anomaly to `predicted` if events that the trace lacks (lib/trace/losses.h) may order it. */
#ifndef LIB_ANALYSIS_UNRECORDED_H
#define LIB_ANALYSIS_UNRECORDED_H

#include "lib/anomaly/anomaly.h"

/* Call it once the anomaly is decided. */
void unrecorded_cap(const struct model *m, struct anomaly *a);

#endif
