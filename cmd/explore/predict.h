/* What the parts of predict share: predict.c, and orders.c, which has the orders of turns. */
#ifndef CMD_EXPLORE_PREDICT_H
#define CMD_EXPLORE_PREDICT_H

#include "cmd/explore/explore.h"
#include "lib/base/set.h"
#include "lib/explore/delay.h"

enum {
	PREDICT_TAKEN = 64,  /* schedules, and orders of a kind, that are taken on from one run */
	PREDICT_ATTEMPTS = 3 /* runs for what may need several */
};

/*
 * A run that is for all anomalies of a kind at once. Races: threads wait at either place. Sequences, which are
 * atomicity violations and ASVs: a thread waits before its last event while others can go on. Deadlocks: with a lock,
 * before the next. Turns: where an order needs another thread's turn before.
 */
enum sweep { SWEEP_NONE, SWEEP_RACES, SWEEP_SEQUENCES, SWEEP_DEADLOCKS, SWEEP_TURNS, SWEEP_AGAIN, SWEEPS };

/* A run to be made. */
struct candidate {
	char fingerprint[17];
	struct rt_plan *plan; /* NULL: it was run, or it has none */
	/* "": none; else positions that a run is to come to in this order, at one object: by one thread and another, or
	 * by one, another, and the first again. */
	char at[3][300];
	enum sweep sweep;
	uint64_t delay; /* of a run that delays an event: which one, and for which thread; else 0 */
	double torn;    /* what is added to the score of one in which another thread comes between two things; else 0 */
	double reordered; /* of one in which a read sees another value: how promising, beside others like it; else 0 */
	bool proved;      /* it is the schedule of an anomaly that no run had, but some could have */
	bool open;        /* it was not run */
	enum outcome_order resolve;
	enum outcome_way way;
	double score;
};

/* An anomaly that was met. */
struct known {
	char fingerprint[17];
	uint32_t attempts; /* runs for it, made and planned */
	bool confirmed, planned;
};

/* Turns that a run is to have in this order. */
struct turn_order {
	uint64_t key;
	uint32_t count;
	char at[3][300];
};

/* Positions as --at takes them. */
struct places {
	char **items;
	size_t count, room;
	struct set keys;
};

struct predict {
	struct candidate *items;
	size_t count, room;
	struct known *known;
	size_t known_count, known_room;
	struct set positions;  /* of events, in any run */
	struct set had, tried; /* orders of turns that some run had, or was made for */
	struct set saw;        /* which write a read sees: in some run, or one was made for it */
	struct set values;     /* which value a read sees behind others: in some run, or one was made for it */
	struct set open;       /* orders that no run had when they were found, which are: */
	struct turn_order *orders;
	size_t order_count, order_room;
	struct places at[SWEEPS]; /* of anomalies that are not excluded */
	uint32_t quiet;
	bool delayed; /* some run had a delay */
	bool news;    /* the run under way brought some */
	/* What became of the run's plan, until its report is merged. */
	struct replay_run outcome;
	bool has_outcome;
};

/* Known by module and offset, in any run. */
uint64_t predict_position_key(const struct rt_trace *trace, uint64_t pc);
/* "app+0x1234". False: it is in no module. */
bool predict_put_position(const struct rt_trace *trace, uint64_t pc, char *to, size_t size);

/* Both false without memory. many: a run for many anomalies. */
bool predict_add(struct predict *p, const struct candidate *c);
bool predict_add_sweep(struct predict *p, enum sweep sweep, bool new_code, bool many);

/* A run's trace, from which further runs are made. */
struct delaying {
	struct predict *p;
	struct rt_trace *trace;
	struct delays *delays; /* NULL: not loaded, or the trace is too long */
	size_t first;          /* index of the first candidate of this trace */
	size_t made;
	bool loaded;
};
/* A run with a delay, if it can be made, or there is one: *added. taken: number of such runs so far, which is counted
 * on. */
enum rt_status predict_delay(struct delaying *d, const struct delay *delay, double score, size_t *taken, bool *added,
                             struct rt_error *err);
/* Runs in which reads see what no run has shown them to: another write, or another value. */
enum rt_status predict_take_on_sights(struct delaying *d, bool new_code, struct rt_error *err);

/* A run for all orders of turns that no run has had; if there are none, for all. False without memory. */
bool predict_order_turns(struct predict *p, struct run_order *order);
/* Takes on the orders of turns that no run had. covered: the run was for all of them. */
enum rt_status predict_take_on_turns(struct predict *p, const struct analysis *a, bool new_code, bool covered,
                                     struct rt_error *err);

#endif
