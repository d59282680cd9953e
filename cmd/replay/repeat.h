/* racetrace replay REPORT, where the report is of several runs: repeats the run in which a finding was seen. */
#ifndef CMD_REPLAY_REPEAT_H
#define CMD_REPLAY_REPEAT_H

#include "lib/base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct report_format;

/* A run that was repeated. */
struct repeated {
	uint32_t number;         /* of the run in the report */
	char *command;           /* that repeats it; owned: free it */
	char was[256], end[256]; /* how the run came to its end, and how it does now */
	bool same;
};

/*
 * Repeats the run with this seed, or if that is 0 the one in which the finding was seen first: that of the ID, or if
 * that is NULL the first one that is no anomaly but the end of a run. *done: false if the report is of one run, or has
 * other things to replay: nothing was run. *result: zeros at first. The file is at any place.
 */
enum rt_status replay_repeat(FILE *report, const char *path, const char *finding, uint64_t seed, unsigned timeout_ms,
                             const char *before, struct repeated *result, bool *done, struct rt_error *err);
/* A cmd_reports_writer of a struct repeated: text and JSON. */
enum rt_status repeated_write(const void *repeated, const struct report_format *format, bool color, FILE *out,
                              struct rt_error *err);

#endif
