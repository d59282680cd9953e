/*
 * What the parts of `racetrace explore` share: an exploration makes runs, some at once, analyzes each and merges what
 * is found. A strategy says which run comes next: one file (or none, if the recorder's scheduler has it) and a line of
 * strategies[] (explore.c).
 */
#ifndef CMD_EXPLORE_EXPLORE_H
#define CMD_EXPLORE_EXPLORE_H

#include "cmd/base/scratch.h"
#include "cmd/try/try.h"
#include "lib/explore/executions.h"
#include "lib/report/merge.h"
#include "recorder/control.h"

#include <jansson.h>

struct exploring;

/* A run to be made. */
struct run_order {
	const char *strategy; /* of the recorder; NULL: threads run free */
	uint64_t seed;
	struct rt_plan *plan; /* that it follows; owned by the run; NULL: none */
	enum outcome_order resolve;
	size_t candidate; /* the strategy's own number */
	char file[300];   /* "": none; else a search that it takes the choices of (tracefmt/search.h) */
	bool unseen;      /* its trace is of no use, unless it ends in an unusual way */
	char **options;   /* further ones of `racetrace record`; NULL-terminated, owned by the run; NULL: none */
};

/* Adds an option, which is copied. False without memory. */
bool run_order_add(struct run_order *order, const char *option);

/* A run under way. */
struct run_slot {
	struct try *t; /* NULL: the slot is free */
	struct run_order order;
	char folder[256], outcome[300];
};

/* What `record` says of a run. */
struct run_told {
	char end[32];    /* "deadlock", "exit", ...; "": nothing */
	bool controlled; /* the threads were led, or were not meant to be */
	uint64_t created, thrashed, postponed;
};

/* What a run was, once its trace is analyzed. */
struct run_result {
	const struct run_order *order;
	const struct run_slot *slot;
	const struct run_told *told;
	struct try *t;
	enum incident_kind harm;   /* what its end shows; INCIDENTS: nothing */
	struct analysis *analysis; /* NULL: there is no trace; not to be kept */
	uint32_t fresh;            /* findings that no run before had; known to `merged` */
};

struct explore_strategy {
	const char *name;
	const char *recorder; /* its name in the recorder; NULL: threads run free */
	/*
	 * The next run. False: there is none, or none before a run under way has ended. NULL: each run has the next
	 * seed.
	 */
	bool (*next)(struct exploring *x, struct run_order *order);
	/* A run has ended; it is not analyzed yet. NULL: it learns nothing. */
	enum rt_status (*came)(struct exploring *x, struct run_order *order, struct rt_error *err);
	/* Its report is not merged yet. NULL: it learns nothing. */
	enum rt_status (*ended)(struct exploring *x, const struct run_result *run, struct rt_error *err);
	/* The report of a run was merged. */
	enum rt_status (*merged)(struct exploring *x, const struct run_result *run, struct rt_error *err);
	void (*release)(struct exploring *x);
};

/* predict (predict.c) */
bool predict_next(struct exploring *x, struct run_order *order);
enum rt_status predict_ended(struct exploring *x, const struct run_result *run, struct rt_error *err);
enum rt_status predict_merged(struct exploring *x, const struct run_result *run, struct rt_error *err);
void predict_release(struct exploring *x);

/* racefuzzer, pct and drfinder (aims.c) */
/* Reads --pairs, before the first run: standard input is read once, and tests have folders of their own. RT_EUSAGE: it
 * is no report. */
enum rt_status racefuzzer_read_pairs(struct exploring *x, struct rt_error *err);
bool racefuzzer_next(struct exploring *x, struct run_order *order);
enum rt_status racefuzzer_ended(struct exploring *x, const struct run_result *run, struct rt_error *err);
enum rt_status racefuzzer_merged(struct exploring *x, const struct run_result *run, struct rt_error *err);
void racefuzzer_release(struct exploring *x);
bool learning_next(struct exploring *x, struct run_order *order);
enum rt_status learning_merged(struct exploring *x, const struct run_result *run, struct rt_error *err);

/*
 * The position of the acquire of the outermost lock that is held at the i-th event, and was not at the event before of
 * the same role. A thread that waits at the event itself keeps others from theirs. 0: there is none.
 */
uint64_t explore_gate(const struct report *r, const struct anomaly *a, uint32_t i);

/* systematic (systematic.c) */
bool systematic_next(struct exploring *x, struct run_order *order);
enum rt_status systematic_came(struct exploring *x, struct run_order *order, struct rt_error *err);
void systematic_release(struct exploring *x);

/* Gives the outcome of a run that was made for an anomaly to the latest report that has it. The outcome's contents
 * change owner. */
enum rt_status explore_attach(struct exploring *x, const char *fingerprint, struct replay_run *outcome,
                              struct rt_error *err);

struct cmd_known;
struct explore_options {
	const struct explore_strategy *strategy;
	char *const *program;
	const char *input;  /* NULL: /dev/null */
	const char *before; /* a command of the shell before each run; NULL: none */
	uint32_t runs, jobs;
	uint64_t time_ms; /* 0: no limit */
	uint64_t seed;
	unsigned timeout_ms;
	const char *traces; /* folder that keeps the runs with findings; NULL: none */
	const char *source_root;
	enum executions_reduction reduction; /* of systematic, as its */
	enum executions_order order;
	uint32_t preemptions; /* UINT32_MAX: any number */
	uint32_t depth;       /* of pct and drfinder; 0: the strategy's own */
	const char *inputs;   /* folder, each file of which is an input of its own; NULL: none */
	const char *pairs;    /* report whose anomalies alone racefuzzer aims at; NULL: all */
	bool quiet;           /* no progress */
	struct cmd_known *known;
};

struct exploring {
	struct explore_options o;
	struct merge merge;
	struct run_slot *slots; /* o.jobs */
	char folder[SCRATCH_MAX];
	const char *label;          /* of what is explored now; NULL: there is but one */
	size_t targets;             /* that are still to be explored, with this one */
	uint32_t started, ended;    /* runs */
	uint32_t first;             /* runs before what is explored now */
	uint64_t began_target;      /* ns, of now_ns */
	uint32_t explored, untried; /* inputs or tests; of them, those that there was no time for */
	uint32_t failed;            /* of them, without a trace */
	uint32_t slow;              /* that were ended at the time-out in the midst of what they did */
	uint32_t uncontrolled;      /* whose threads ran free although the strategy would lead them */
	uint64_t next_seed;
	uint64_t began;            /* the same; 0: not yet */
	bool native;               /* the program cannot be controlled: what follows runs free */
	bool stopped;              /* by a signal */
	char failure[512];         /* of the first run that failed */
	uint32_t unkept;           /* traces that could not be moved to where they are to stay */
	char why_unkept[512];      /* of the first of them */
	char uninstrumented[256];  /* the first program that Valgrind ran; "": none */
	char uncontrollable[1024]; /* of the first program that cannot be controlled: what `record` says; "": none */
	struct predict *predict;
	struct racefuzzer *racefuzzer;
	json_t *pairs; /* fingerprints that --pairs names; NULL: all */
	struct systematic *systematic;
	uint64_t thrashed, postponed; /* in all runs */
	/* Ends other than with status 0, for the end. */
	struct explore_status {
		uint32_t run; /* number */
		int status;
	} * statuses;
	size_t status_count, status_room;
};

/*
 * Makes runs until the budget is used, the strategy has no more, or a signal comes, which is noted (interrupt.h). x:
 * zeros but for its options; the merge is not finished. An error is one of this program, not of a run.
 */
enum rt_status explore_runs(struct exploring *x, struct rt_error *err);
/* The same for each input, and for each test of ctest. */
enum rt_status explore_targets(struct exploring *x, struct rt_error *err);
/* Takes in a run that has ended (take.c): its trace is analyzed, kept if it shows something, and merged. */
enum rt_status explore_take(struct exploring *x, struct run_slot *s, struct rt_error *err);
/* Counts a run without a trace; of the first one what `record` itself wrote is the reason. */
void explore_failed(struct exploring *x, const struct run_end *end);
/* Waits for the end of a child. */
void explore_reap(pid_t pid);
void explore_release(struct exploring *x);

/* What the end of a run shows, as incidents of the last run of the merge. control: "end" of its outcome; NULL: none. */
enum rt_status explore_end(struct exploring *x, const struct run_end *end, const char *control, bool stuck,
                           uint32_t number, struct rt_error *err);
/* What it shows in one word; INCIDENTS: nothing but perhaps a status. */
enum incident_kind explore_harm(const struct run_end *end, const char *control);
/* Statuses are wrong if they differ between runs: incidents. To be called once, at the end. */
enum rt_status explore_statuses(struct exploring *x, struct rt_error *err);
/* "exit status 1", "killed by signal 11 (Segmentation fault)". */
void explore_end_text(const struct run_end *end, const char *control, char *text, size_t size);

#endif
