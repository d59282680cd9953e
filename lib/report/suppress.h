/*
 * Suppressions: findings that a person does not want to hear of. A file has ThreadSanitizer's syntax, one rule a line:
 * "race:PATTERN", "race_top:", "deadlock:" and "mutex:"; besides the other kinds of anomalies ("atomicity:", "asv:",
 * "hang:", "pattern:") and "finding:FINGERPRINT". A pattern is looked for in the functions, files and modules of the
 * stacks and, of a race, in the variable's name: anywhere in it, from its beginning after "^", up to its end before
 * "$"; "*" is any text.
 */
#ifndef LIB_REPORT_SUPPRESS_H
#define LIB_REPORT_SUPPRESS_H

#include "lib/report/findings.h"

#include <stdatomic.h>

struct suppression {
	char *rule; /* as in the file */
	const char *pattern;
	uint32_t kinds; /* bit i: enum anomaly_kind i; 0: a fingerprint, or nothing here can match it */
	bool top;       /* the innermost function alone */
	bool foreign;   /* of a kind that only ThreadSanitizer knows */
	const char *path;
	uint32_t line;
	atomic_bool
	    used; /* of reports that are made at once: a finding is suppressed by it, alone or with other rules */
};

struct suppressions {
	struct suppression *items;
	uint32_t count, room;
};

/* Adds the rules of a file, whose name is borrowed. RT_EUSAGE: it cannot be read, or a line is no rule; RT_EMEMORY. */
enum rt_status suppressions_read(struct suppressions *s, const char *path, struct rt_error *err);
/* True if a rule has the finding's fingerprint, or if rules match all its anomalies of the first one's kind. Marks
 * them as used. */
bool suppressions_match(struct suppressions *s, const struct report *r, const struct finding *f);
/* True if a rule has the fingerprint, which is then used. */
bool suppressions_have(struct suppressions *s, const char *fingerprint);
void suppressions_release(struct suppressions *s);

#endif
