/* What an analysis may find in the memory that it is given. */
#ifndef LIB_ANALYSIS_MEMORY_H
#define LIB_ANALYSIS_MEMORY_H

#include "lib/analysis/analysis.h"

/*
 * Lowers the limits to what this memory has room for beside the model: one part of four for instances, one for
 * schedules, two for anomalies with what reports say of them. Returns the first part; 0: there is no bound.
 */
uint64_t memory_fit(struct limits *l, const struct rt_trace_info *info, const struct model_size *size, uint64_t memory,
                    uint64_t report_memory);
/*
 * Number of processes, at most `jobs`, that memory has room for while they prove candidates: they take what is then
 * left for reports. 1: none beside this one. memory 0: there is no bound.
 */
uint32_t memory_jobs(const struct rt_trace_info *info, const struct model_size *size, uint64_t memory, uint32_t jobs);
/* True if no limit was reached that a share of the memory had lowered. Then the limits are those of all of it. */
bool memory_sufficed(struct limits *l, const struct limits *of_all);

#endif
