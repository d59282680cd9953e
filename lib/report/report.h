/* Reports: one file a format, one line in report_formats[]. */
#ifndef LIB_REPORT_REPORT_H
#define LIB_REPORT_REPORT_H

#include "lib/search/analysis.h"

#include <stdio.h>

struct report_options {
	enum verdict least; /* anomalies below are not listed (VERDICT_PREDICTED unless --all) */
	bool color;
};

struct report_format {
	const char *name;
	enum rt_status (*write)(const struct analysis *a, const struct report_options *options, FILE *out,
	                        struct rt_error *err);
};

extern const struct report_format report_formats[]; /* ends with a NULL name */
const struct report_format *report_find(const char *name);

#endif
