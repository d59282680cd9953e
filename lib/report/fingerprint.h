/*
 * Fingerprints: the same bug has the same one in every run and build. Made of the kind, the variable's name and, for
 * each event, operation, function, file name and column. Addresses, thread names, event numbers and lines are left out:
 * the next run or an edit elsewhere in the file changes them. So is the order of two racing accesses: a race's and a
 * deadlock's events count in any order.
 */
#ifndef LIB_REPORT_FINGERPRINT_H
#define LIB_REPORT_FINGERPRINT_H

#include "lib/report/report.h"

/* Writes 16 hexadecimal digits and a NUL. */
void fingerprint_of(const struct report *r, const struct anomaly *anomaly, char fingerprint[17]);

/* Equal for anomalies of one kind and pattern at the same source positions, and only for those. */
uint64_t fingerprint_positions(const struct report *r, const struct anomaly *anomaly);

/* The same for races, of any pattern: equal for the same two positions. */
uint64_t fingerprint_places(const struct report *r, const struct anomaly *race);

#endif
