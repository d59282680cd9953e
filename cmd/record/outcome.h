/* What came of a run in which threads took turns (record --serial), as JSON. */
#ifndef CMD_RECORD_OUTCOME_H
#define CMD_RECORD_OUTCOME_H

#include "lib/base/error.h"

struct rt_control;
struct rt_writer_result;

/*
 * Writes the outcome to the file `path`: how the run ended, and where each thread was then. trace: that of the run. It
 * has the names; the stacks and locks are worked out from it.
 */
enum rt_status outcome_write(const char *path, const struct rt_control *control, const struct rt_writer_result *result,
                             const char *trace, struct rt_error *err);

#endif
