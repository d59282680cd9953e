/* What the trace lacks (lib/trace/losses.h) may order what was found: then it is held to `predicted`. */
#ifndef LIB_ANALYSIS_UNRECORDED_H
#define LIB_ANALYSIS_UNRECORDED_H

#include "lib/anomaly/anomaly.h"

/* To be called once the anomaly is decided. */
void unrecorded_cap(const struct model *m, struct anomaly *a);

#endif
