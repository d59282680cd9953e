/* The bounds of an analysis and its report, and which of them were hit. */
#ifndef LIB_REPORT_LIMITS_H
#define LIB_REPORT_LIMITS_H

#include "lib/report/report.h"

enum { REPORT_LIMITS_MAX = 18 };

struct report_limit {
	const char *name; /* in the JSON report */
	const char *what; /* what is bounded, in the plural */
	uint64_t bound;
	bool hit;
};

/* Those that apply to this report; returns how many. */
size_t report_limits(const struct report *r, struct report_limit limits[REPORT_LIMITS_MAX]);

#endif
