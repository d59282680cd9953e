/*
 * How a variable is used, as counts: RacerX's questions of a race (SOSP 2003, section 5.1 of the survey). What share of
 * the accesses holds the lock (see guard.h); is the code reached by two threads; is the variable written after it was
 * shared.
 */
#ifndef LIB_REPORT_USES_H
#define LIB_REPORT_USES_H

#include "lib/analysis/guard.h"

struct uses {
	uint64_t accesses, writes; /* of the variable while it is shared */
	uint32_t threads;          /* that access it */
	uint32_t reached[2];       /* threads that execute the first two distinct positions of the anomaly */
};

/* Of a cell and the events of an anomaly on it. False without memory. */
bool uses_of(const struct model *m, const struct segment_order *por, uint32_t cell, const uint32_t *events, uint32_t n,
             struct uses *out);

#endif
