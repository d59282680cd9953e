/*
 * Findings: what a programmer calls one bug. Anomalies are joined that have one cause: the same variable and the same
 * two functions of the user's, or one function that lacks the lock which others hold, or one line against many.
 */
#ifndef LIB_REPORT_FINDINGS_H
#define LIB_REPORT_FINDINGS_H

#include "lib/analysis/guard.h"
#include "lib/report/expression.h"
#include "lib/report/level.h"
#include "lib/report/place.h"
#include "lib/report/report.h"
#include "lib/report/subject.h"
#include "lib/report/uses.h"

enum { FINDING_PLACES_MAX = 16, FINDING_LINES_MAX = 4 };

/* What a finding is known by in another report. */
enum { FINDING_SHOWN_MAX = 16 };
struct finding_identity {
	uint64_t stable; /* of kind, variable and functions: the same in each build */
	/* Of the first anomaly's events, ascending by the number of the line, above a digest of the file: the same in
	 * each run of one build. */
	uint64_t lines[FINDING_LINES_MAX];
	uint32_t line_count;
	/* Of its anomalies, the most urgent ones: keys of what each is and of its lines, ascending. */
	uint64_t shown[FINDING_SHOWN_MAX];
	uint32_t shown_count;
};
/*
 * True if they may be one finding of two runs of one build: they agree in what is stable, and in a line; or in an
 * anomaly, whichever is the first in each run.
 */
bool finding_identities_match(const struct finding_identity *a, const struct finding_identity *b);
/* As qsort's: by lines, in an order that stays the same when lines are added. */
int finding_identities_compare(const struct finding_identity *a, const struct finding_identity *b);
/* Of several that agree in what is stable, each has a number. */
void finding_fingerprint(const struct finding_identity *identity, uint32_t number, char fingerprint[17]);

struct finding_place {
	struct place place;
	unsigned op;  /* enum rt_op of the first event there */
	uint32_t e;   /* that event */
	bool guarded; /* it holds the guard */
	bool reads;   /* of a place that writes: another event of the finding reads there */
};

struct finding {
	char id[24]; /* "F1" */
	enum finding_level level;
	enum verdict verdict; /* the strongest of its anomalies */
	uint32_t kinds;       /* bit i: enum anomaly_kind i is among them */
	const size_t
	    *entries; /* indices into report.entries, the most urgent first: that one stands for all; borrowed */
	size_t entry_count;
	struct finding_place places[FINDING_PLACES_MAX]; /* those of the first anomaly first; distinct lines */
	size_t place_count, place_total;
	struct guard guard;
	struct uses uses; /* of its first anomaly's variable; accesses 0: not known */
	/* The guard as an object, as the source has it ("queue->mutex"), and for people ("Queue::mutex", if its type is
	 * known). "": none, or it has no name. */
	char guard_name[SUBJECT_NAME_MAX], guard_written[SUBJECT_NAME_MAX], guard_words[SUBJECT_NAME_MAX];
	uint32_t lacking; /* side of the first anomaly, a race, that lacks a lock which the other holds; 2: none */
	char lacked[SUBJECT_NAME_MAX]; /* that lock, for people; "": it has no name */
	char written[EXPRESSION_MAX];  /* what a place assigns to, as its source line has it; "": not known */
	char member[EXPRESSION_MAX];   /* the same by its type, as "Account::balance"; of a deadlock, what its locks are
	                                  if they are of one kind; "": not known */
	bool pointed;                  /* that is a pointer to it, or an array: what a call that copies is given */
	char called[EXPRESSION_MAX];   /* the function whose memory it is, of memory without any name; "": not known */
	char wanted[EXPRESSION_MAX];   /* a deadlock's locks without names: what its first thread acquires, as its line
	                                  has it */
	char held[EXPRESSION_MAX];     /* and what it holds meanwhile; "": not known, or the locks have names */
	const struct finding *follows; /* another race alone orders its events; NULL: none */
	struct finding_identity identity;
	char fingerprint[17];
	bool known;      /* by the baseline or by a suppression: it is left out */
	bool suppressed; /* by a suppression */
};

struct findings {
	struct finding *items; /* by level, verdict and rank, the most urgent first */
	size_t count;
	size_t *members;       /* the memory of their entries */
	size_t levels[LEVELS]; /* number of each, without what is known */
	size_t known;          /* by the baseline alone */
	size_t suppressed;
};

/* Joins the report's entries, and adds to its guards. On RT_OK *out is owned by the caller; it borrows from the report.
 * RT_EMEMORY. */
enum rt_status findings_create(struct report *r, struct findings **out, struct rt_error *err);
void findings_free(struct findings *f);
/* True if the finding is told with the one that it follows. */
bool finding_is_under(const struct finding *f);
/* Number of findings of each level without errors and warnings that are told with others; returns how many these are.
 */
size_t findings_count(const struct findings *f, size_t levels[LEVELS]);

enum { FINDING_TEXT_MAX = 1600 };
/* What is wrong, in one sentence. */
void finding_title(const struct report *r, const struct finding *f, char text[FINDING_TEXT_MAX]);
/* What would mend it. */
void finding_fix(const struct report *r, const struct finding *f, char text[FINDING_TEXT_MAX]);
/* The command that replays it; "" if none does. */
void finding_replay(const struct report *r, const struct finding *f, char text[FINDING_TEXT_MAX]);
/* How often its guard is held. False, and "", if that tells people nothing: the counts are of one access, or do not
 * have the place which lacks it. */
bool finding_guard_text(const struct finding *f, char text[FINDING_TEXT_MAX]);
/* Index of the place to change: that of the side which lacks a lock that the other holds; else the first. */
size_t finding_main_place(const struct report *r, const struct finding *f);
/* True if another thread than the first anomaly's event i is shown for the place where that is. *place: the event's. */
bool finding_other_at_place(const struct report *r, const struct finding *f, uint32_t i, struct finding_place *place);

#endif
