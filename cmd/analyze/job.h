/* The analysis of one trace, for racetrace analyze: whole, or by windows if it is too large. */
#ifndef CMD_ANALYZE_JOB_H
#define CMD_ANALYZE_JOB_H

#include "cmd/analyze/options.h"
#include "cmd/analyze/stats.h"
#include "lib/report/merge.h"
#include "lib/report/report.h"

#include <sys/stat.h>

/* The caller sets what is above the line, and releases the job. */
struct analyze_job {
	struct analyze_settings *s;
	const char *path;
	uint64_t max_memory; /* 0: derived from the free memory */
	uint32_t processes;  /* that prove; 0 or 1: this one */
	struct stats *stats; /* NULL: not measured */
	bool one_of_several; /* analyzed at once: it shows no steps */
	/* ---- */
	struct rt_trace *trace; /* open */
	struct stat opened;     /* its file just before; zeros: there is none */
	struct report *report;  /* of the whole trace, with its analysis; NULL: there is none */
	bool lacks;             /* a report lacks some of what is in the trace */
	size_t windows;         /* number of those that were analyzed */
	struct analysis_options analysis;
	struct report_options described;
};

/* Opens the trace. Prints nothing: its warnings are for analyze_job_tell. */
enum rt_status analyze_job_open(struct analyze_job *j, struct rt_error *err);
/* Makes the report of the whole trace. RT_ELARGE: it would take more than max_memory; it may be run again with more. */
enum rt_status analyze_job_run(struct analyze_job *j, struct rt_error *err);
/* Adds what the windows of a trace that is too large allow to a merge. */
enum rt_status analyze_job_windows(struct analyze_job *j, struct merge *merge, struct rt_error *err);
/* True if the options allow a list of findings of several windows instead of one report. */
bool analyze_by_windows(const struct analyze_settings *s);
/* Prints to standard error what is to be known of the report. */
void analyze_job_tell(const struct analyze_job *j);
/* Frees the report, its analysis and the trace. */
void analyze_job_release(struct analyze_job *j);

/* The first interrupt from now on ends the proofs, another one the program. */
void analyze_catch_interrupt(void);
bool analyze_interrupted(void);

#endif
