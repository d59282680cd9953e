/* The formats: one function each, in the file or folder of its name; report.c has the table. */
#ifndef LIB_REPORT_FORMATS_H
#define LIB_REPORT_FORMATS_H

#include "lib/report/report.h"

enum rt_status report_text(const struct report *r, bool color, FILE *out, struct rt_error *err);
enum rt_status report_json(const struct report *r, bool color, FILE *out, struct rt_error *err);
enum rt_status report_dot(const struct report *r, bool color, FILE *out, struct rt_error *err);
enum rt_status report_svg(const struct report *r, bool color, FILE *out, struct rt_error *err);
enum rt_status report_gcc(const struct report *r, bool color, FILE *out, struct rt_error *err);
enum rt_status report_html(const struct report *r, bool color, FILE *out, struct rt_error *err);
enum rt_status report_sarif(const struct report *r, bool color, FILE *out, struct rt_error *err);

/* False, with an error: the report has other than one anomaly or finding, and the format draws one. */
bool report_is_of_one(const struct report *r, const char *format, struct rt_error *err);

/* The same of several runs, all of which have findings or ended somehow; at least one has a report (merge.h). */
enum rt_status report_text_merged(const struct merge *m, bool color, FILE *out, struct rt_error *err);
enum rt_status report_json_merged(const struct merge *m, bool color, FILE *out, struct rt_error *err);
enum rt_status report_gcc_merged(const struct merge *m, bool color, FILE *out, struct rt_error *err);
enum rt_status report_html_merged(const struct merge *m, bool color, FILE *out, struct rt_error *err);
enum rt_status report_sarif_merged(const struct merge *m, bool color, FILE *out, struct rt_error *err);

#endif
