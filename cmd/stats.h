/* What --stats of `racetrace analyze` prints: how much there was to do, and how long each step took. */
#ifndef CMD_STATS_H
#define CMD_STATS_H

#include "lib/report/report.h"

struct stats {
	enum analysis_step step;           /* under way; after the analysis, its report is */
	double begun;                      /* its beginning, in processor seconds of this process */
	double seconds[ANALYSIS_DONE + 1]; /* of each */
};

/* For analysis_options.step: the step begins, the one before ends. arg: a zeroed struct stats. */
void stats_step(enum analysis_step step, void *arg);

/* Prints to standard error, one "name value" a line. To be called right after the report was written. */
void stats_print(const struct stats *s, const struct report *r);

#endif
