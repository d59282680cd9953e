/*
 * Likely harm of an anomaly, with the reasons in words: harmful and rather benign shapes are RacerX's (SOSP 2003,
 * section 5.1 of the survey). A rank orders a list and hides nothing.
 */
#ifndef LIB_REPORT_RANK_H
#define LIB_REPORT_RANK_H

#include "lib/analysis/analysis.h"
#include "lib/analysis/guard.h"
#include "lib/report/describe.h"

enum { RANK_REASONS_MAX = 12 };

struct rank {
	double value;                      /* 0 to 1, two decimals */
	const char *why[RANK_REASONS_MAX]; /* static strings, strongest first where it matters */
	size_t why_count;
	bool double_checked; /* the shape of double-checked initialisation */
};

/* Deterministic: a function of the trace and the anomaly alone. */
struct rank rank_of(const struct analysis *a, const struct descriptions *d, struct guards *guards,
                    const struct anomaly *anomaly);

#endif
