/* The bounds of an analysis and its report, and which of them were reached. */
#ifndef LIB_REPORT_LIMITS_H
#define LIB_REPORT_LIMITS_H

#include "lib/report/report.h"

enum { REPORT_LIMITS_MAX = 19 };

struct report_limit {
	const char *name; /* in the JSON report */
	const char *what; /* description in the plural */
	uint64_t bound;
	bool hit;
};

/* The limits that apply to this report; returns their number. */
size_t report_limits(const struct report *r, struct report_limit limits[REPORT_LIMITS_MAX]);

#endif
