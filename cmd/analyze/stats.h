/* What --stats of `racetrace analyze` prints: the size of the work, and the time of each step. */
#ifndef CMD_ANALYZE_STATS_H
#define CMD_ANALYZE_STATS_H

#include "lib/report/merge.h"
#include "lib/report/report.h"

struct stats {
	enum analysis_step step;           /* the current one; ANALYSIS_DONE while the report is written */
	double begun;                      /* when it began, in processor seconds of this process */
	double seconds[ANALYSIS_DONE + 1]; /* of each step */
};

/* For analysis_options.step: ends the previous step and begins this one. arg: a zeroed struct stats. */
void stats_step(enum analysis_step step, void *arg);

/* Prints to standard error, one "name value" a line. Call it right after the report was written. */
void stats_print(const struct stats *s, const struct report *r);
/* The same of a trace that was analyzed by windows. */
void stats_print_windows(const struct merge *m);

#endif
