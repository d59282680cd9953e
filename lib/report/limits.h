/* The limits that a report names; the table of all is lib/anomaly/limit.h. */
#ifndef LIB_REPORT_LIMITS_H
#define LIB_REPORT_LIMITS_H

#include "lib/report/report.h"

struct report_limit {
	const char *name; /* in the JSON report */
	const char *what; /* in the plural */
	uint64_t bound;
	bool hit;
};

/* The limits that apply to this report; returns their number. */
size_t report_limits(const struct report *r, struct report_limit limits[LIMITS]);

#endif
