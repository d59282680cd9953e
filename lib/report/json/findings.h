/* The `findings` of the JSON report. */
#ifndef LIB_REPORT_JSON_FINDINGS_H
#define LIB_REPORT_JSON_FINDINGS_H

#include "lib/report/findings.h"
#include "lib/report/json/parts.h"
#include "lib/report/merge.h"

/* Determines which anomalies are listed: of the report j->r or, if m is not NULL, of the merged one. */
void json_choose_listed(struct json_report *j, const struct merge *m);
/* True if the k-th anomaly of a finding of report r is listed. */
bool json_lists(const struct json_report *j, const struct report *r, const struct finding *f, size_t k);
/* Writes one finding of report r as an element of the array that is open. */
void json_finding(struct json_report *j, const struct report *r, const struct finding *f);
/* The same; in: of several runs, whose level, verdict and anomalies it has; NULL: of one. The object stays open. */
void json_finding_open(struct json_report *j, const struct report *r, const struct finding *f,
                       const struct merged_finding *in);

#endif
