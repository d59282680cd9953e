/* Anomalies: what the searches find, the provers decide and the reports print. */
#ifndef LIB_ANOMALY_ANOMALY_H
#define LIB_ANOMALY_ANOMALY_H

#include "lib/anomaly/reason.h"
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
enum verdict { VERDICT_REFUTED, VERDICT_CONDITIONAL, VERDICT_PREDICTED, VERDICT_PROVED, VERDICT_OBSERVED, VERDICTS };

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
 * A schedule: the kept events of a witness in their new order, as runs of one thread's consecutive events. Of a race or
 * a deadlock the goal events themselves come after it; of a sequence they are in it.
 */
struct schedule_step {
	uint32_t thread, from, to; /* pos of the first and of the last event */
};
struct schedule {
	struct schedule_step *steps;
	uint32_t count;
	uint64_t events; /* in all steps */
};

struct anomaly {
	enum anomaly_kind kind;
	const char *pattern; /* "w-r"; borrowed from the pattern table */
	enum verdict verdict;
	enum witness_kind witness;
	bool follows;           /* observed, and another race or a relaxed atomic alone orders it */
	const uint32_t *causes; /* which: indices into analysis.causes; borrowed */
	uint32_t cause_count;
	uint32_t orders_run;       /* bit i: orders[i] was asked about the instance */
	uint32_t orders_unordered; /* bit i: orders[i] leaves it unordered */
	uint32_t first_of;         /* bit i: the first pair that orders[i] leaves unordered is one of these positions */
	uint64_t count;            /* pairs (tuples) of events that share these source positions */
	uint64_t ruled_out; /* so many of them need one of their own events to have happened before: never possible */
	bool partial;       /* there may be others at these source positions, neither counted nor kept */
	uint32_t event_count;
	uint32_t events[ANOMALY_EVENTS_MAX]; /* event indices of the best instance, in the pattern's order */
	uint32_t *others;                    /* more instances, event_count each; owned; NULL: none */
	uint32_t other_count;
	uint32_t *waits; /* of an observed deadlock, a hang: the BLOCK of each further thread that is stuck; owned */
	uint32_t wait_count;
	struct schedule *schedule; /* owned; NULL: none, or left out */
	uint32_t left_out;         /* steps of the schedule that was left out, since all together were too long; or 0 */
	const char *guess;         /* not NULL: the schedule is PECAN's, and why the judge refuses it; borrowed */
	uint32_t uncertain;        /* reads in the schedule whose writer is known by time stamp only (stamped traces) */
	uint32_t first_uncertain;  /* the first of them, an event index */
	uint32_t substitutes;      /* reads in the schedule that see another write of the value that they saw */
	uint32_t substitute;       /* the first of them, an event index */
	uint32_t *needs;           /* conditional: reads that see another write in the schedule than they saw; owned */
	uint32_t need_count, need_total; /* kept (at most ANOMALY_NEEDS_MAX), and in all */
	struct reasons reasons;          /* why it is only predicted; of no meaning for other verdicts */
};

/*
 * Holds an anomaly to `predicted` at most, and notes why. May be called before the provers decide, which then keep to
 * it, and after they have; not by them. A refuted one stays refuted. detail: what the reason's text names, borrowed: it
 * must live as long as the anomaly; or NULL.
 */
void anomaly_cap(struct anomaly *a, enum reason reason, const char *detail);

/* Is it a race with the allocation of a block? Its first event is the ALLOC, and no access. */
static inline bool anomaly_is_alloc_race(const struct model *m, const struct anomaly *a)
{
	return a->kind == ANOMALY_RACE && model_op(m, a->events[0]) == RT_OP_ALLOC;
}

/* Are its events not accesses, but what threads wait for? */
static inline bool anomaly_is_of_waits(const struct anomaly *a)
{
	return a->kind == ANOMALY_DEADLOCK || a->kind == ANOMALY_HANG;
}

/* Is it about the threads that are stuck when the trace ends? Its events are their BLOCKs. */
static inline bool anomaly_is_stuck(const struct model *m, const struct anomaly *a)
{
	return anomaly_is_of_waits(a) && model_op(m, a->events[0]) == RT_OP_BLOCK;
}

struct anomaly_list {
	struct anomaly *items;
	size_t count, capacity;
};

/* Appends a copy (the schedule and the instances change owner); returns it, or NULL without memory. */
struct anomaly *anomaly_add(struct anomaly_list *list, const struct anomaly *a);
void anomaly_list_release(struct anomaly_list *list);
/* Makes one anomaly of the races that share pattern and source positions: the strongest stands for all. Races come
 * first in the list. */
void anomaly_list_fold_races(struct anomaly_list *list, const struct model *m);

const char *anomaly_kind_name(enum anomaly_kind kind); /* "race" */
char anomaly_kind_letter(enum anomaly_kind kind);      /* 'R' */
const char *verdict_name(enum verdict verdict);
const char *witness_name(enum witness_kind witness); /* NULL for WITNESS_NONE */

#endif
