/*
 * Levels: how much an anomaly is worth to a programmer. A critical section is a unit of work on what its lock guards;
 * an outer lock that happens to be held says nothing of the rest.
 */
#ifndef LIB_REPORT_LEVEL_H
#define LIB_REPORT_LEVEL_H

#include "lib/analysis/guard.h"
#include "lib/report/report.h"

/* From weakest to strongest. */
enum finding_level { LEVEL_NOTE, LEVEL_WARNING, LEVEL_ERROR, LEVELS };

const char *finding_level_name(enum finding_level level); /* "error" */
/* Error: observed or proved. Warning: predicted. Note: the rest, and what cuts a region that is no unit of work. */
enum finding_level finding_level_of(const struct report *r, struct guards *g, const struct anomaly *a);
/* The thread whose region an atomicity violation or ASV cuts: the one with the most events, the first of them. */
uint32_t level_region_thread(const struct model *m, const struct anomaly *a);

#endif
