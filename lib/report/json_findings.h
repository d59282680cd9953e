/* The `findings` of the JSON report. */
#ifndef LIB_REPORT_JSON_FINDINGS_H
#define LIB_REPORT_JSON_FINDINGS_H

#include "lib/report/findings.h"
#include "lib/report/json_writer.h"

/* Writes one finding as an element of the array that is open. */
void json_finding(struct json_writer *w, const struct report *r, const struct finding *f);
/* The same with another level and verdict, those of several runs; the object stays open. */
void json_finding_open(struct json_writer *w, const struct report *r, const struct finding *f, enum finding_level level,
                       enum verdict verdict);

#endif
