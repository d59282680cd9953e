/*
 * Findings of several runs of one program, joined by fingerprint, or if one build made all runs by what they are about:
 * one report of all. Of each finding the run stands for it that shows it best; the others count it. How a run ended can
 * be a finding as well.
 */
#ifndef LIB_REPORT_MERGE_H
#define LIB_REPORT_MERGE_H

#include "lib/report/findings.h"
#include "lib/report/report.h"

/* Where a report comes from. Borrowed by merge_add, which copies it. */
struct merge_source {
	const char *name;             /* "run 3", or the path of a trace */
	const char *strategy;         /* that chose the threads; NULL: none */
	uint64_t seed;                /* of that */
	const char *repeat;           /* the command that repeats the run; NULL: none */
	const char *end;              /* "exit status 1"; NULL: the trace says it */
	uint64_t duration_ns;         /* of the run; 0: not known */
	uint64_t postponed, thrashed; /* by the strategy: threads that had to wait; and times at which all had to */
	uint64_t first, last;         /* numbers of the events that it is of: a window of the trace; 0: all of it */
	bool process;                 /* it is of a process that the run made */
};

/* What an end of a run tells besides the anomalies of its trace. */
enum incident_kind {
	INCIDENT_CRASH,
	INCIDENT_ASSERTION,
	INCIDENT_SANITIZER,
	INCIDENT_STATUS,
	INCIDENT_DEADLOCK,
	INCIDENT_HANG,
	INCIDENTS
};
const char *incident_kind_name(enum incident_kind kind); /* "crash" */

/* A finding of a run. */
struct merge_mark {
	char fingerprint[17];
	struct finding_identity identity;
	size_t group; /* of the findings of all runs: its number; set by merge_finish */
	enum verdict verdict;
	enum verdict own; /* in the run itself, before any replay */
	enum finding_level level;
	size_t incident; /* index; SIZE_MAX: it is of the trace */
	size_t finding;  /* index in the run's report, if that is kept */
};

struct merge_run {
	uint32_t number; /* from 1 */
	char *name, *strategy, *repeat, *end;
	char *incomplete; /* why its trace is; NULL: it is whole */
	uint64_t seed, events, duration_ns, postponed, thrashed, first, last;
	uint32_t threads;
	struct report *report; /* NULL: it had nothing that others do not show as well */
	struct merge_mark *marks;
	size_t mark_count, mark_room;
	uint32_t fresh; /* findings that no earlier run had */
	bool process;   /* it is of one that a run made */
	bool unlisted;  /* it has anomalies of findings of others that the report leaves out: too many are kept */
};

struct incident {
	enum incident_kind kind;
	char fingerprint[17];
	char *title;
};

/* Runs that tried to make one pattern happen, beside as many that did not try. */
struct merge_trial {
	char fingerprint[17]; /* of the anomaly */
	enum anomaly_kind kind;
	char *what;               /* its places */
	uint32_t runs, created;   /* made; of them with the pattern */
	uint64_t seed;            /* of the first with it */
	uint32_t harm[INCIDENTS]; /* runs that ended like that */
	uint64_t harm_seed[INCIDENTS];
};

/* What a systematic search came to. */
struct merge_search {
	const char *reduction, *order; /* NULL: there was none */
	uint32_t preemptions;          /* UINT32_MAX: any number */
	bool complete;                 /* there are no other executions, within the bound */
	uint64_t executions, states, transitions, races;
};

/* An anomaly, in the report of a run. */
struct merge_entry {
	const struct report *report;
	size_t entry;
};

/* A finding of all runs. */
struct merged_finding {
	char id[24];
	size_t group;
	char fingerprint[17];
	enum finding_level level;        /* the highest, */
	enum verdict verdict;            /* and the strongest, that it has in a run */
	const struct report *report;     /* that stands for it; NULL: it is an incident */
	const struct finding *finding;   /* of the report */
	const struct incident *incident; /* NULL: it is of a trace */
	uint32_t *runs;                  /* numbers of the runs that have it, ascending */
	size_t run_count;
	bool known, suppressed; /* as of a finding */
	/* Its anomalies: those of `finding`, each of the run that gives it the strongest verdict; then those that other
	 * runs alone have. */
	struct merge_entry *entries;
	size_t entry_count, entry_room;
};

struct merge {
	bool one_build; /* the caller's: all runs are of one */
	struct merge_run *runs;
	size_t run_count, run_room;
	struct incident *incidents;
	size_t incident_count, incident_room;
	struct merge_trial *trials; /* the caller adds them; the texts are the merge's */
	size_t trial_count, trial_room;
	struct merge_search search;
	uint32_t plain_runs, plain_harm[INCIDENTS]; /* that did not try anything */
	struct merge_anomaly *anomalies;            /* of the reports that are kept */
	uint32_t kept_for_anomalies;                /* reports, */
	uint64_t kept_events;                       /* and their events */
	/* Filled by merge_finish. */
	struct merged_finding *items; /* by level, verdict and rank, the most urgent first */
	size_t count;
	size_t levels[LEVELS];                     /* number of each, without what is known */
	size_t known, suppressed;                  /* the first by a baseline alone */
	uint64_t summary[ANOMALY_KINDS][VERDICTS]; /* of the anomalies that stand for the findings */
};

/*
 * Adds the report of a run. The merge owns the report, its analysis and its trace from then on, also on failure, and
 * frees them at once if they show nothing that no earlier run shows as well. For an anomaly of a finding that is known
 * a few are kept. *fresh: number of findings that no earlier
 * run had; may be NULL. RT_EMEMORY.
 */
enum rt_status merge_add(struct merge *m, const struct merge_source *source, struct report *r, uint32_t *fresh,
                         struct rt_error *err);

/* Adds a run without a trace. RT_EMEMORY. */
enum rt_status merge_add_untraced(struct merge *m, const struct merge_source *source, struct rt_error *err);

/*
 * The run with that number, which was added, ended like that. key: what is the same in each run that shows the same
 * bug. *fresh is increased if no run before it had that. RT_EMEMORY.
 */
enum rt_status merge_add_incident(struct merge *m, uint32_t number, enum incident_kind kind, const char *title,
                                  const char *key, uint32_t *fresh, struct rt_error *err);

/*
 * Joins the findings of all runs and gives them and their anomalies the ids of the one report. May be called again,
 * after runs were added or after replays have changed verdicts (report_join). RT_EMEMORY.
 */
enum rt_status merge_finish(struct merge *m, struct rt_error *err);
/* Frees the contents. */
void merge_release(struct merge *m);

/* For merge.c. *better: the report has an anomaly that no report before had, or had with that verdict. RT_EMEMORY. */
enum rt_status merge_note_anomalies(struct merge *m, const struct report *r, bool *better, struct rt_error *err);
/* For merge.c. True: the run's report may be kept for its anomalies, and is counted. */
bool merge_has_room(struct merge *m, const struct merge_run *run);
/* For merge.c: fills the entries of all findings; groups: number of groups. False without memory. */
bool merge_join_entries(struct merge *m, size_t groups);
void merge_release_anomalies(struct merge *m);

const struct merge_run *merge_first_run(const struct merge *m, const struct merged_finding *f);
/* Number of the first run that itself has it observed, without a replay; 0: none. */
uint32_t merge_first_observed(const struct merge *m, const struct merged_finding *f);
/* Number of the run that a report is of. */
uint32_t merge_run_of(const struct merge *m, const struct report *r);
/* What that number of them is called: "runs"; "windows" if each is one of a trace, "processes" if some are of what a
 * run made. */
const char *merge_units(const struct merge *m, size_t n);
/* "seen in 3 of 10 runs, first in run 2" */
void merge_seen_text(const struct merge *m, const struct merged_finding *f, char *text, size_t size);
/* The same with the command that repeats the run, and the first run that itself has it observed, if that is another. */
void merge_repeat_text(const struct merge *m, const struct merged_finding *f, char *text, size_t size);
/* "10 runs, 1234 events, each ending with exit status 2; the last with anything new was run 3". Returns the runs of
 * which anomalies are not listed. */
size_t merge_runs_text(const struct merge *m, char *text, size_t size);
/* "all executions within 2 preemptions: ...". False: there was no search. */
bool merge_search_text(const struct merge *m, char *text, size_t size);
/* "real 3 of 10: race of ..." */
void merge_trial_text(const struct merge_trial *t, char *text, size_t size);
/* "beside 10 runs without an aim", and what came of these. */
void merge_plain_text(const struct merge *m, char *text, size_t size);
/* True if the finding is listed under the one that it follows. */
bool merge_is_under(const struct merge *m, const struct merged_finding *f);
/* Number of each level's findings, without those; returns the number of those. */
size_t merge_count(const struct merge *m, size_t levels[LEVELS]);
/* The anomalies of a finding: of the report, or those of all runs if `in` is not NULL. */
size_t merge_entry_count(const struct finding *f, const struct merged_finding *in);
struct merge_entry merge_entry_at(const struct report *r, const struct finding *f, const struct merged_finding *in,
                                  size_t i);
/* Their kinds, as bits. */
uint32_t merge_kinds(const struct finding *f, const struct merged_finding *in);
/* "2 of 3 runs have an incomplete trace, first in run 2: it was cut short". False: none has. */
bool merge_incomplete_text(const struct merge *m, char *text, size_t size);
/* A run whose report is kept, the earliest; NULL: there is none. */
const struct report *merge_any_report(const struct merge *m);

/*
 * Writes the report of all runs in a format of report_formats[]; the caller checks the stream's error state.
 * RT_EUSAGE: the format is of one trace (dot).
 */
enum rt_status merge_write(const struct merge *m, const struct report_format *format, bool color, FILE *out,
                           struct rt_error *err);

#endif
