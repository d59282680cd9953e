/* The findings of a JSON report (racetrace.report/1) that was written earlier. */
#ifndef LIB_REPORT_SAVED_H
#define LIB_REPORT_SAVED_H

#include "lib/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Texts are borrowed from the report; "" where it has none. */
struct saved_finding {
	const char *id, *level, *verdict, *title, *file;
	char fingerprint[17];
	uint32_t line;
	bool known; /* to the baseline of that report */
};

struct saved_report {
	void *root; /* the parsed report */
	struct saved_finding *findings;
	size_t count;
};

/* path: "-" is standard input. RT_EUSAGE: the file cannot be read, or is no such report; RT_EMEMORY. On RT_OK the
 * caller releases *out. */
enum rt_status saved_read(const char *path, struct saved_report *out, struct rt_error *err);
void saved_release(struct saved_report *r);

/* The finding of that fingerprint; NULL: none. */
const struct saved_finding *saved_find(const struct saved_report *r, const char *fingerprint);

#endif
