/* The causes of an anomaly, in words. */
#ifndef LIB_REPORT_FOLLOWS_H
#define LIB_REPORT_FOLLOWS_H

#include "lib/report/report.h"

/* The n-th cause of an anomaly. */
const struct cause *follows_cause(const struct report *r, const struct anomaly *anomaly, uint32_t n);
/* Its id, such as "R1"; "" if it is a relaxed atomic or is not listed. */
const char *follows_id(const struct report *r, const struct anomaly *anomaly, uint32_t n);
/* The id that the anomaly is listed under: that of its first listed cause; "" if there is none. */
const char *follows_under(const struct report *r, const struct anomaly *anomaly);

/* What orders the events of an anomaly of this verdict beside its causes; constant. */
const char *follows_beside(enum verdict verdict);

enum { FOLLOWS_TEXT_MAX = 700 };
/* A relaxed atomic as a sentence: "`go` is relaxed: release and acquire would order it". */
void follows_text(const struct report *r, const struct cause *cause, char text[FOLLOWS_TEXT_MAX]);
/* A cause as a race between its write and its read, to find its subject. */
struct anomaly follows_pair(const struct cause *cause);

#endif
