/* The formats: one function each, in the file of its name; report.c has the table. */
#ifndef LIB_REPORT_FORMATS_H
#define LIB_REPORT_FORMATS_H

#include "lib/report/report.h"

enum rt_status report_text(const struct report *r, bool color, FILE *out, struct rt_error *err);
enum rt_status report_json(const struct report *r, bool color, FILE *out, struct rt_error *err);
enum rt_status report_dot(const struct report *r, bool color, FILE *out, struct rt_error *err);
enum rt_status report_gcc(const struct report *r, bool color, FILE *out, struct rt_error *err);
enum rt_status report_html(const struct report *r, bool color, FILE *out, struct rt_error *err);
enum rt_status report_sarif(const struct report *r, bool color, FILE *out, struct rt_error *err);

#endif
