/* What the parts of the JSON report share. */
#ifndef LIB_REPORT_JSON_PARTS_H
#define LIB_REPORT_JSON_PARTS_H

#include "lib/report/json_writer.h"
#include "lib/report/pieces.h"
#include "lib/report/report.h"

struct json_stack;
struct json_later;
/* Stacks that are not where they belong, but at the report's end. */
struct json_stacks {
	struct json_stack *all;
	struct json_later *later;
	uint32_t count, room;
	bool *leads; /* by entry of this report: it comes first in an error or warning; NULL: all stacks are in place */
	bool is_long; /* LIMIT_LISTED_CALLS is reached */
	bool apart;   /* those of what is being written */
};

struct json_report {
	struct json_writer w;
	const struct report *r;
	const struct rt_trace_info *info;
	struct pieces frames; /* elements of stacks */
	struct json_stacks stacks;
	uint32_t run; /* number of the run that the anomalies are of; 0: there is but one */
	size_t each;  /* of each finding at most this many atomicity violations and ASVs are listed, and the others */
	bool cut;     /* LIMIT_LISTED_ANOMALIES is reached: some are not listed */
};

const char *json_thread_name(const struct json_report *j, uint32_t thread);
/* One anomaly, as an element of the array that is open. */
void json_put_anomaly(struct json_report *j, const struct report_entry *entry);
/* Goes on with this report. */
void json_report_turn(struct json_report *j, const struct report *r);
void json_report_release(struct json_report *j);
/* Determines where the stacks of this anomaly are written. */
void json_stacks_place(struct json_report *j, const struct report_entry *entry);
/* The member `stacks`, if there are any; behind the anomalies. */
void json_put_stacks(struct json_report *j);
/* A stack; empty for an event that was not described, or KEY_id is its number. */
void json_put_stack(struct json_report *j, const char *key, const struct description *d);

#endif
