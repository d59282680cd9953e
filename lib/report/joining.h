/*
 * Which anomalies are one finding: those that share a key are joined. findings.c makes the findings of what is joined.
 */
#ifndef LIB_REPORT_JOINING_H
#define LIB_REPORT_JOINING_H

#include "lib/report/expression.h"
#include "lib/report/findings.h"
#include "lib/report/joining_keys.h"

/* An entry of the report, and what joining needs of it. */
struct joining_member {
	uint64_t identity; /* of the variable */
	uint64_t member;   /* of the member of its block that it is; 0: not known */
	uint64_t places[ANOMALY_EVENTS_MAX], functions[ANOMALY_EVENTS_MAX];
	size_t group; /* an entry of the same finding; itself: it stands for the group */
	struct guard guard;
	uint32_t cell; /* where its accesses meet; MODEL_NONE: nowhere */
	enum finding_level level;
};

struct joining {
	const struct report *r;
	const struct model *m;
	struct joining_member *members;
	struct guards *guards;
	struct joining_keys keys;
	bool no_memory;
};

/* Joins all entries of the report; the members are there, zeroed. Without memory no_memory is set. */
void joining_run(struct joining *j);
/* What the source line of one of the anomaly's writes assigns to. False: there is none, or it is not known. */
bool joining_written(const struct joining *j, const struct anomaly *a, char name[EXPRESSION_MAX]);
/* The entry that stands for all that entry i is joined with. */
size_t joining_group(struct joining *j, size_t i);
/* A number made of these parts: the key of a finding, by which it is known again in another report. */
uint64_t joining_stable_key(const uint64_t *parts, size_t n);
/* Counts a key; *before: number of times that it was counted before. entry: the one that has it. False without memory.
 */
bool joining_count(struct joining *j, uint64_t key, size_t entry, uint32_t *before);
/* Releases what joining_run and joining_count keep; the members are the caller's. */
void joining_release(struct joining *j);

#endif
