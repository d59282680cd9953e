/*
 * Reports. report_create gathers the content of every format: anomalies, their order, ids, evidence, ranks and
 * fingerprints. A format only writes it: one file for each format, one line in report_formats[].
 */
#ifndef LIB_REPORT_REPORT_H
#define LIB_REPORT_REPORT_H

#include "lib/analysis/analysis.h"
#include "lib/report/describe.h"
#include "lib/report/rank.h"

#include <stdio.h>

struct baseline;
struct snippets;
struct suppressions;
struct merge;

struct report_options {
	enum verdict least; /* anomalies below it are not listed (VERDICT_PREDICTED unless --all) */
	bool anomalies;     /* text lists anomalies, not findings; it also does if the list is not the usual one */
	bool verbose;       /* text has whole stacks */
	bool every;         /* list anomalies at the same source positions separately */
	uint32_t orders;    /* not 0: list what one of these (bit i: orders[i]) leaves unordered, with any verdict */
	const char *source_root; /* folder below which source lines may be shown, besides unchanged files; NULL: none */
	const struct baseline *baseline;   /* borrowed; NULL: no finding is known */
	struct suppressions *suppressions; /* borrowed, marks rules as used; NULL: none */
	const char *only;                  /* id of the only anomaly to list; NULL: all */
	bool unkept;                       /* no command that reads the trace is named: it is about to be removed */
	const char *finding;               /* id of the only finding to list, with its anomalies; NULL: all */
	struct describe_stretch stretch;   /* of a window; its pass is NULL: the whole trace is described */
};

struct report_entry {
	const struct anomaly *anomaly; /* borrowed from the analysis */
	uint64_t count;                /* of its positions, in all the code that the compiler made of them */
	char id[24];                   /* "R1": letter of the kind, number in the report */
	char fingerprint[17];          /* 16 hexadecimal digits */
	struct rank rank;
};

struct report {
	const struct analysis *analysis; /* borrowed */
	bool unkept;                     /* see report_options */
	char *source_root;               /* an absolute path without links; NULL: none */
	char *base; /* what SARIF's paths are relative to: that or, by default, the root of the sources here; NULL: none
	             */
	char *folder;             /* of the trace, which is mostly that of the recording; NULL: unknown */
	struct snippets *sources; /* of the program: each file is indexed once for all formats */
	struct descriptions *descriptions;
	struct report_entry *entries; /* by kind, then verdict and rank, the worst first */
	size_t count;
	const struct baseline *baseline;
	struct suppressions *suppressions;
	struct guards guards;      /* of the cells of anomalies, for ranks and findings */
	struct findings *findings; /* what the entries are joined to */
	bool alone;                /* one anomaly alone is listed: entries is that one, findings are of all */
	const char *finding;       /* options.finding, borrowed: entries and findings are those of it; NULL: all are */
	bool verbose;              /* text has whole stacks */
	bool by_anomaly;           /* text lists anomalies, not findings */
	const char *incomplete;    /* why an empty report means little; NULL: the trace is complete */
	char (*cause_ids)[24];     /* by cause of the analysis: id of the race; "": not listed, or a relaxed atomic */
	bool replayed;             /* some of them were */
	uint64_t summary[ANOMALY_KINDS][VERDICTS]; /* includes unlisted ones, unless options.orders selects */
};

/* Gathers the report of an analysis, with one more pass over its trace. On RT_OK the caller owns *out; the analysis
 * must outlive it. RT_EUSAGE: there is no anomaly options.only or finding options.finding. */
enum rt_status report_create(const struct analysis *a, const struct report_options *options, struct report **out,
                             struct rt_error *err);
void report_free(struct report *r);
struct report_format;
/* Writes the report; the caller checks the stream's error state. RT_EMEMORY also where a name or a source line is
 * missing for lack of memory. */
enum rt_status report_write(const struct report *r, const struct report_format *format, bool color, FILE *out,
                            struct rt_error *err);

/* Gives an entry the outcome of its replay, which the analysis owns from then on; what is confirmed has that verdict.
 */
void report_add_replay(struct report *r, size_t entry, struct replay_result *replay);

/* Leaves only the entries with at least this verdict and, if `replayed`, those that were replayed. report_join is due
 * afterwards. */
void report_keep(struct report *r, enum verdict least, bool replayed);

/* Joins the entries to findings again, after replays have changed verdicts. */
enum rt_status report_join(struct report *r, struct rt_error *err);

/* Gives causes the ids that their entries have now. RT_EMEMORY. */
enum rt_status report_name_causes(struct report *r, struct rt_error *err);

/* The description of the event with this index in the model; never NULL for events of listed anomalies. */
const struct description *report_event(const struct report *r, uint32_t e);
/* A file's path as people read it: what is below --source-root, the trace's folder or the root of the sources here is
 * relative to that. A part of `path`. */
const char *report_path(const struct report *r, const char *path);

/* True if the order of the run hides this race: happens-before orders it, hybrid or CP does not. */
bool report_is_hidden(const struct anomaly *anomaly);

/* A replay that is of no entry, as JSON. */
void report_replay_json(const struct replay_result *result, FILE *out);
/* The lines of text that say what became of a replay; each but the first begins with `indent`. r, anomaly: whose it is;
 * NULL, both: of no entry. */
void report_replay_lines(const struct report *r, const struct anomaly *anomaly, const struct replay_result *o,
                         const char *indent, FILE *out);

struct report_format {
	const char *name;
	const char *suffix; /* of files that have it; NULL: none */
	/* Writes the report; the caller checks the stream's error state. color: with escape sequences. */
	enum rt_status (*write)(const struct report *r, bool color, FILE *out, struct rt_error *err);
	/* The same of several runs; called by merge_write. NULL: the format is of one trace. */
	enum rt_status (*write_merged)(const struct merge *m, bool color, FILE *out, struct rt_error *err);
};

extern const struct report_format report_formats[]; /* ends with a NULL name */
const struct report_format *report_find(const char *name);

/* docs/report.schema.json, NUL-terminated. */
extern const char report_schema[];

#endif
