/* Findings that are known: those of earlier reports, by fingerprint. */
#ifndef LIB_REPORT_BASELINE_H
#define LIB_REPORT_BASELINE_H

#include "lib/base/error.h"

#include <stdbool.h>

struct baseline {
	struct known *all; /* NULL: none */
};

/*
 * Adds the findings of a JSON report (racetrace.report/1). RT_EUSAGE: it cannot be read, or is no such report;
 * RT_EMEMORY.
 */
enum rt_status baseline_read(struct baseline *b, const char *path, struct rt_error *err);
bool baseline_has(const struct baseline *b, const char *fingerprint);
void baseline_release(struct baseline *b);

#endif
