/* What the parts of the JSON report share. */
#ifndef LIB_REPORT_JSON_PARTS_H
#define LIB_REPORT_JSON_PARTS_H

#include "lib/report/json_writer.h"
#include "lib/report/pieces.h"
#include "lib/report/report.h"

struct json_report {
	struct json_writer w;
	const struct report *r;
	const struct rt_trace_info *info;
	struct pieces frames; /* elements of stacks */
	uint32_t run;         /* number of the run that the anomalies are of; 0: there is but one */
};

const char *json_thread_name(const struct json_report *j, uint32_t thread);
/* One anomaly, as an element of the array that is open. */
void json_put_anomaly(struct json_report *j, const struct report_entry *entry);
/* A stack; empty for an event that was not described. */
void json_put_stack(struct json_report *j, const char *key, const struct description *d);

#endif
