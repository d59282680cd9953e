/* The options of `racetrace analyze`. */
#ifndef CMD_ANALYZE_OPTIONS_H
#define CMD_ANALYZE_OPTIONS_H

#include "cmd/analyze/inputs.h"
#include "cmd/base/known.h"
#include "cmd/base/reports.h"
#include "lib/analysis/analysis.h"
#include "lib/search/pattern_file.h"

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

struct analyze_settings {
	struct rt_trace_options input;
	struct analysis_options analysis;
	struct pattern_list user;
	struct cmd_reports reports;
	struct cmd_inputs traces;
	struct cmd_known known;
	const char *anomaly; /* NULL: all */
	const char *finding; /* NULL: all */
	uint32_t shard, of;  /* write part `shard` of `of` parts, from 1; 0: no part */
	const char *source_root;
	uint64_t max_memory; /* 0: derived from the free memory */
	bool allow_incomplete;
	bool no_cache; /* what was proved before is neither used nor kept */
	bool anomalies, verbose;
	bool all;     /* conditional and refuted ones too */
	bool confirm; /* by replay */
	bool only_orders, fail_on_given, schema, limits, show_stats;
	bool incomplete; /* set by the command: a report of several traces or windows lacks some of what is in them */
	int fail_on;     /* enum verdict; VERDICTS: never; then enum finding_level */
};

/* The input is a struct analyze_settings with the defaults; a wrong option ends the program with a message. */
extern const struct argp analyze_argp;

/* True if several traces are to be one report. */
bool analyze_is_many(const struct analyze_settings *s);

#endif
