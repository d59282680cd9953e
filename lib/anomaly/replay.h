/*
 * What became of an anomaly when the program itself was made to take its schedule (racetrace replay). Made by the
 * command, printed by the reports.
 */
#ifndef LIB_ANOMALY_REPLAY_H
#define LIB_ANOMALY_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * CONFIRMED: it happened. DIVERGED: a thread came to another event than the schedule has, so that it does not apply.
 * STUCK: a thread could not go on when it was its turn. TIMEOUT: the run did not get there in time. FAILED: the program
 * could not be run, or not be controlled. From what says most to what says least.
 */
enum outcome_kind { OUTCOME_CONFIRMED, OUTCOME_DIVERGED, OUTCOME_STUCK, OUTCOME_TIMEOUT, OUTCOME_FAILED, OUTCOMES };
/* Which of the two events of a race was executed first. */
enum outcome_order { OUTCOME_NO_ORDER, OUTCOME_FIRST, OUTCOME_SECOND };
/* How the run was led: by the anomaly's schedule; by one that the trace of a run before gave, which had left it; or by
 * holding threads at the anomaly's positions until they met. */
enum outcome_way { OUTCOME_BY_SCHEDULE, OUTCOME_BY_RERUN, OUTCOME_BY_SEARCH };
/* How a run ended, after that. */
enum outcome_end { OUTCOME_END_UNKNOWN, OUTCOME_STATUS, OUTCOME_SIGNAL, OUTCOME_DEADLOCK, OUTCOME_HANG };

/* A thread of a run that is stuck, and what it waits for or does. */
struct replay_wait {
	char *thread, *text;
};

/* Runs with the same schedule and order, and what came of the first of them that came to this outcome. */
struct replay_run {
	enum outcome_kind kind;
	enum outcome_way way;
	enum outcome_order order;
	uint32_t runs, same; /* made; of them with this outcome and this end */
	enum outcome_end end;
	int value;                 /* status or signal */
	bool end_differs;          /* from the recorded run's */
	bool output_differs;       /* from that of a run that did not follow a schedule */
	uint64_t printed;          /* digest of what it printed to standard output */
	char *output;              /* the beginning of what it printed; NULL: nothing, or it was not taken */
	char *why;                 /* FAILED, TIMEOUT: one line; NULL: none */
	char *thread;              /* DIVERGED: whose event; STUCK: whose turn */
	char *expected, *actual;   /* DIVERGED: the events */
	struct replay_wait *waits; /* STUCK */
	size_t wait_count;
};

struct replay_result {
	enum outcome_kind kind;   /* confirmed if any run is; else of the first run */
	int was; /* -1: none */   /* enum verdict before that */
	uint32_t runs, confirmed; /* in all */
	struct replay_run *items;
	size_t count, capacity;
};

/* Appends a run, whose contents change owner: one of the same order, outcome and end is counted. False without memory.
 */
bool replay_add(struct replay_result *o, struct replay_run *run);
void replay_run_release(struct replay_run *run);
/* Says of which runs the output differs from that with the digest `printed`, and counts runs together that are the same
 * then. Without it, runs with different outputs are apart. */
void replay_compare(struct replay_result *o, bool known, uint64_t printed);
/* NULL is allowed. */
void replay_free(struct replay_result *o);

const char *outcome_name(enum outcome_kind kind);         /* "confirmed" */
const char *outcome_way_name(enum outcome_way way);       /* "schedule" */
const char *outcome_order_name(enum outcome_order order); /* "first"; NULL for NO_ORDER */
/* "exit status 1", "killed by signal 11 (Segmentation fault)", "deadlock". */
void replay_end_text(const struct replay_run *run, char *text, size_t size);

#endif
