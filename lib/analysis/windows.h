/* A trace that is too large for the memory that is allowed, analyzed by windows (lib/trace/window.h). */
#ifndef LIB_ANALYSIS_WINDOWS_H
#define LIB_ANALYSIS_WINDOWS_H

#include "lib/analysis/analysis.h"
#include "lib/trace/window.h"

/* Takes the analysis of a window, which is its own from then on; events' numbers are those of the whole trace, and so
 * is the trace. */
typedef enum rt_status windows_take(struct analysis *a, const struct window *window, void *arg, struct rt_error *err);

/*
 * Analyzes windows of the trace, one after the other, each as large as options->model.admit allows, and hands each
 * analysis on. Each has its share of the limits of all proofs. `take` may change the options for the next one. It stops
 * early if `decided` ends an analysis. RT_ELARGE: not even the smallest window is allowed.
 */
enum rt_status windows_analyze(struct rt_trace *trace, const struct analysis_options *options, windows_take *take,
                               void *arg, struct rt_error *err);

/* Analyzes one window: events first to last. On RT_OK *out is the caller's. */
enum rt_status windows_one(const struct window_survey *survey, uint64_t first, uint64_t last,
                           const struct analysis_options *options, struct window *window, struct analysis **out,
                           struct rt_error *err);

/*
 * Limits the verdicts of a window's anomalies to what the window shows of the whole trace. Nothing is refuted or
 * conditional, since events of other windows may allow it. Nothing is proved if time stamps alone tell which writes
 * reads saw. A schedule of a window that does not begin the trace comes after the recorded events before the window
 * (model.recorded).
 */
void windows_cap(const struct model *m, const struct window *window, struct anomaly_list *list);

/* Frees what reports that were created of the analysis do not use, and moves what they hardly use into files. */
void windows_set_aside(struct analysis *a);

#endif
