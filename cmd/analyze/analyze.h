/* racetrace analyze, for racetrace merge. */
#ifndef CMD_ANALYZE_ANALYZE_H
#define CMD_ANALYZE_ANALYZE_H

#include "cmd/base/reports.h"
#include "lib/analysis/analysis.h"

/* Analyzes as the command that wrote the parts did, and takes the results from them. Returns the exit status. */
int cmd_analyze_parts(struct parts *parts, const struct cmd_reports *reports);

#endif
