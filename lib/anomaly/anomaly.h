/* Anomalies: found by the searches, decided by the provers, printed by the reports. */
#ifndef LIB_ANOMALY_ANOMALY_H
#define LIB_ANOMALY_ANOMALY_H

#include "lib/anomaly/reason.h"
#include "lib/anomaly/replay.h"
#include "lib/order/order.h"

enum anomaly_kind {
	ANOMALY_RACE,
	ANOMALY_ATOMICITY,
	ANOMALY_ASV,
	ANOMALY_DEADLOCK,
	ANOMALY_HANG,
	ANOMALY_PATTERN,
	ANOMALY_KINDS
};

/* From weakest to strongest, so that "at or above" is a comparison. */
enum verdict {
	VERDICT_REFUTED,
	VERDICT_CONDITIONAL,
	VERDICT_PREDICTED,
	VERDICT_PROVED,
	VERDICT_OBSERVED,
	VERDICT_CONFIRMED, /* by a replay alone */
	VERDICTS
};

enum witness_kind {
	WITNESS_NONE,
	WITNESS_RECORDED,
	WITNESS_PECAN,
	WITNESS_SYNCP,
	WITNESS_CLOSURE,
	WITNESS_EXHAUSTIVE,
	WITNESS_KINDS
};

#define ANOMALY_EVENTS_MAX 16
#define ANOMALY_NEEDS_MAX 64

/*
 * A schedule: the kept events of a witness in their new order, as runs of one thread's consecutive events. The goal
 * events of a race or a deadlock come after it; those of a sequence are part of it.
 */
struct schedule_step {
	uint32_t thread, from, to; /* pos of the first and of the last event */
};
struct schedule {
	struct schedule_step *steps;
	uint32_t count, capacity;
	uint64_t events; /* events of all steps */
};

struct anomaly {
	enum anomaly_kind kind;
	const char *pattern; /* "w-r"; borrowed from the pattern table */
	enum verdict verdict;
	enum witness_kind witness;
	bool follows;           /* only another race or a relaxed atomic orders it, or that and locks alone */
	const uint32_t *causes; /* its causes: indices into analysis.causes; borrowed */
	uint32_t cause_count;
	uint32_t orders_run;       /* bit i: orders[i] was computed for the instance */
	uint32_t orders_unordered; /* bit i: orders[i] leaves it unordered */
	uint32_t first_of;  /* bit i: the first pair that orders[i] leaves unordered has these source positions */
	uint64_t count;     /* pairs (tuples) of events that share these source positions */
	uint64_t ruled_out; /* number of them in which one of the events needs another to have happened before: never
	                       possible */
	bool partial;       /* there may be more at these source positions, neither counted nor kept */
	uint32_t event_count;
	uint32_t events[ANOMALY_EVENTS_MAX]; /* event indices of the best instance, in the pattern's order */
	uint32_t *others;                    /* more instances, event_count each; owned; NULL: none */
	uint32_t other_count;
	uint32_t *waits; /* of an observed deadlock or a hang: the BLOCK of each further stuck thread; owned */
	uint32_t wait_count;
	struct schedule *schedule; /* owned; NULL: none, or left out */
	uint32_t left_out;  /* number of steps of a schedule that was left out because all schedules together were too
	                       long; else 0 */
	const char *guess;  /* not NULL: the schedule is PECAN's, and this is why the judge refuses it; borrowed */
	uint32_t uncertain; /* number of reads in the schedule whose writer only time stamps tell (stamped traces) */
	uint32_t first_uncertain; /* the first of them, an event index */
	uint32_t substitutes;     /* reads in the schedule that see another write of the value that they saw */
	uint32_t substitute;      /* the first of them, an event index */
	uint32_t *needs;          /* conditional: reads that see another write in the schedule than they saw; owned */
	uint32_t need_count, need_total; /* number kept (at most ANOMALY_NEEDS_MAX), and in all; 0: not known */
	uint32_t turn; /* number of anomalies with the same source positions that are decided before this one */
	struct replay_result *replay; /* owned; NULL: it was not replayed */
	struct reasons reasons;       /* why it is only predicted; undefined for other verdicts */
};

/*
 * Limits an anomaly to `predicted`, and records the reason. May be called before the provers decide, which then respect
 * it, and after they have; not by them. A refuted one stays refuted. detail: named in the reason's text, or NULL;
 * borrowed, it must live as long as the anomaly.
 */
void anomaly_cap(struct anomaly *a, enum reason reason, const char *detail);

/* True if it is a race with the allocation of a block. Its first event is then the ALLOC, which is no access. */
static inline bool anomaly_is_alloc_race(const struct model *m, const struct anomaly *a)
{
	return a->kind == ANOMALY_RACE && model_op(m, a->events[0]) == RT_OP_ALLOC;
}

/*
 * True if it is a race of a free with a use of the same memory that was handed out again in between. Its events access
 * the cells of two blocks.
 */
static inline bool anomaly_is_stale_use(const struct model *m, const struct anomaly *a)
{
	if (a->kind != ANOMALY_RACE || !(m->sites[m->events[a->events[0]].site].flags & RT_F_FREE))
		return false;
	const struct model_event *e1 = &m->events[a->events[0]], *e2 = &m->events[a->events[1]];
	return e1->object + m->sites[e1->site].cells <= e2->object ||
	       e2->object + m->sites[e2->site].cells <= e1->object;
}

/* True if it is a race by when a block begins or ends: happens-before alone tells, and no other run shows it. */
static inline bool anomaly_is_of_blocks(const struct model *m, const struct anomaly *a)
{
	return anomaly_is_alloc_race(m, a) || anomaly_is_stale_use(m, a);
}

/* True if its events are the threads' waits instead of accesses. */
static inline bool anomaly_is_of_waits(const struct anomaly *a)
{
	return a->kind == ANOMALY_DEADLOCK || a->kind == ANOMALY_HANG;
}

/* True if a thread acts in one critical section on what it read in an earlier one. */
bool anomaly_is_check(const struct anomaly *a);
/* True if a thread changes what it found in an earlier critical section: its act is on another cell than its look-up.
 */
bool anomaly_is_lookup(const struct anomaly *a);

/*
 * True of a race whose accesses may both be atomic, as far as machine code tells: that a run of it has both pending
 * does not make it a race.
 */
static inline bool anomaly_may_be_atomic(const struct anomaly *a)
{
	return a->verdict <= VERDICT_PREDICTED && reasons_has(&a->reasons, REASON_MACHINE_CODE);
}

/* Why it is only predicted, as part of a sentence. False if it is not, or no reason is known. */
static inline bool anomaly_reasons(const struct anomaly *a, char text[REASONS_TEXT_MAX])
{
	reasons_text(&a->reasons, text);
	return a->verdict == VERDICT_PREDICTED && text[0];
}

/* True if it is about threads that are stuck when the trace ends. Its events are then their BLOCKs. */
static inline bool anomaly_is_stuck(const struct model *m, const struct anomaly *a)
{
	return anomaly_is_of_waits(a) && model_op(m, a->events[0]) == RT_OP_BLOCK;
}

struct anomaly_list {
	struct anomaly *items;
	size_t count, capacity;
};

/* Appends a copy, which takes the schedule and the instances. Returns it, or NULL without memory. */
struct anomaly *anomaly_add(struct anomaly_list *list, const struct anomaly *a);
void anomaly_list_release(struct anomaly_list *list);
/* Merges the races that share pattern and source positions into one anomaly, represented by the strongest. Races come
 * first in the list. */
void anomaly_list_fold_races(struct anomaly_list *list, const struct model *m);

const char *anomaly_kind_name(enum anomaly_kind kind);  /* "race" */
const char *anomaly_kind_title(enum anomaly_kind kind); /* "data race" */
char anomaly_kind_letter(enum anomaly_kind kind);       /* 'R' */
const char *verdict_name(enum verdict verdict);
const char *witness_name(enum witness_kind witness); /* NULL for WITNESS_NONE */

#endif
