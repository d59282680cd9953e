/*
 * The judge's internals, shared by its files: create.c, scan.c (facts of the trace), value.c (values of
 * writes), prefix.c (schedules that begin as the trace does), tries.c (tries that failed), repeats.c
 * (accesses that were left out), verify.c (replaying a
 * schedule), proved.c (the verdict). Only they and the judge's test include this; never a prover.
 */
#ifndef LIB_JUDGE_JUDGE_H
#define LIB_JUDGE_JUDGE_H

#include "lib/judge/verify.h"

struct judge_left;

struct judge {
	const struct model *m;
	/* Computed once from the trace. */
	uint32_t *before; /* by entry of cell_events: entry of the last write before it in the cell, MODEL_NONE: initial
	                     value. NULL if no access has more than one cell */
	/* tries.c: tries that failed, and the events of what was tried, in the trace's order. */
	struct judge_tries {
		struct judge_try *items;
		uint32_t count;
		uint32_t *by_thread, *first; /* items, thread by thread; by thread: where its own begin */
	} tries;
	/* repeats.c: accesses that their threads may have repeated. All NULL: there are none. */
	struct judge_repeats {
		struct judge_epoch *epochs; /* thread by thread, rising */
		uint32_t *first;            /* by thread: where its own begin */
		uint8_t *twins;             /* by event, bits: an earlier access of the epoch is like it */
		uint8_t *cells;             /* by cell, bits: one of these accesses it */
	} repeats;
	/* The last schedule that was a witness, and its goal. */
	struct schedule_step *accepted;
	uint32_t accepted_count, accepted_capacity;
	bool accepted_any;
	struct goal accepted_goal;
	struct judge_left **left; /* by cell: the values that its writes left; NULL: not asked for yet */
	/*
	 * By event. Accesses of one cell: the last write before them; of several: their entry in the first. RELEASE,
	 * WAIT_BEGIN: the acquiring event that they end. WAIT_END: its signal. ONCE_SEEN: the ONCE_END. BARRIER_*: the
	 * round. HB_AFTER: the number of earlier HB_BEFORE of the object. MODEL_NONE: none.
	 */
	uint32_t *partner;
	uint32_t *round_size;
	uint32_t round_count;
	uint32_t without_rule;     /* an event whose operation has none, MODEL_NONE */
	uint32_t *by_object;       /* HB_BEFORE events, arrivals, signals, and those on semaphores, object by object */
	uint32_t *by_object_first; /* by object: where its events begin */
	int64_t *initial;          /* by object: least initial value that a semaphore must have had */
	/*
	 * Replay. The arrays are parts of one block, of which the first state_size bytes are saved and restored. The
	 * rest is what cells hold: after the trace's first events, that follows from their accesses.
	 */
	void *state;
	size_t state_size;
	int64_t *gives;    /* by thread: for judge_starves and judge_is_unheard alone */
	uint32_t replay;   /* number of it, from 1 */
	uint32_t restored; /* the trace's events before this one were not repeated */
	uint32_t *cut;     /* by thread: how many of its events are among these; only if leaves_out */
	bool leaves_out;
	uint32_t *misled; /* the accesses among these that read what is left out, in their order */
	uint32_t misled_count, misled_capacity;
	int64_t *value;      /* by object: value of a semaphore */
	uint32_t *next;      /* by thread: pos of its next event */
	uint32_t *last;      /* by cell: the last write, an event index, MODEL_NONE: initial value */
	uint32_t *met;       /* by cell: the replay that last met it; judge_cell */
	uint32_t *owner;     /* by object: acquiring event that holds it exclusively, MODEL_NONE */
	uint32_t *readers;   /* by object: number of shared holders */
	uint32_t *annotated; /* by object: number of its HB_BEFORE events, in trace order, that have occurred */
	uint32_t *arrived;   /* by round */
	bool *frozen;        /* by thread */
	bool *lost_signal;   /* by thread: the signal of its current wait came before the wait began */
	/* If there are updates. By thread: its last event is an update's read, which saw another value than in the
	 * trace. By cell: so is the value there. */
	bool *updating, *changed;
	/*
	 * Checkpoints: states of the replay after the first events of the trace, in the trace's order, from replays
	 * without a fault, but for the cells'. Number k is the state after (k + 1) * interval events. None of these is
	 * a goal event.
	 */
	void **checkpoints;
	uint32_t interval, checkpoint_count;
	uint32_t checkpoint_next; /* number of events after which the next one is saved; MODEL_NONE: none any more */
};

/* Computes the facts of the trace: all but the arrays of the replay. False without memory. */
bool judge_scan(struct judge *j);
/* proved.c: keeps the schedule, which is a witness for the goal. */
void judge_remember(struct judge *j, const struct schedule *s, const struct goal *goal);
/* tries.c. False without memory. */
bool judge_scan_tries(struct judge *j);
void judge_tries_release(struct judge_tries *t);
/* repeats.c. False without memory. */
bool judge_scan_repeats(struct judge *j);
void judge_repeats_release(struct judge_repeats *r);
/* True if the access's thread may have repeated it, or what it wrote over, where the trace does not tell. */
static inline bool judge_may_be_repeated(const struct judge *j, uint32_t e)
{
	return j->repeats.twins && j->repeats.twins[e / 8] >> e % 8 & 1;
}
/* value.c: true if it is known that two writes of the cell (MODEL_NONE: none yet) left the same value in it. False
 * without memory, too. */
bool judge_same_value(struct judge *j, uint32_t cell, uint32_t write1, uint32_t write2);
void judge_values_release(struct judge *j);
/* The WAIT_END of the wait that begins at this event; MODEL_NONE if the trace ends before. */
uint32_t judge_wait_end(const struct model *m, uint32_t begin);

/* Makes room for the state of a replay, and for checkpoints. False without memory. */
bool judge_state_init(struct judge *j);
void judge_state_release(struct judge *j);
/* Requests a checkpoint after every `interval` events, or none (0); drops existing ones. False without memory. */
bool judge_checkpoints(struct judge *j, uint32_t interval);
/* Number of the schedule's first steps that are the trace's first *events events in the trace's order; 0 if checkpoints
 * are off. */
uint32_t judge_prefix(const struct judge *j, const struct schedule *s, uint32_t *events);
/* Restores the latest checkpoint of at most `most` events of the trace; returns its number of events. */
uint32_t judge_restore(struct judge *j, uint32_t most);
/* The trace's events before this one, or those of them in the cut, have occurred: what cells hold follows from that. */
void judge_forget_cells(struct judge *j, uint32_t events, bool leaves_out);
/* Saves the state as the next checkpoint: the one after checkpoint_next events. */
void judge_keep(struct judge *j);

/* True if the thread whose next event is `at` has what `want` waits for. Only a BLOCK waits for its own thread. */
bool judge_blocks(const struct model *m, uint32_t at, uint32_t want);

/*
 * True if at the end of a schedule the SEM_WAIT, one of the goal's, waits for posts of the goal's other threads alone.
 * The semaphore's first value is known and all is taken. Only those threads have taken it, or give more of it in what
 * they have left than they take.
 */
bool judge_starves(const struct judge *j, const struct goal *goal, uint32_t wait);
/* The same of a BARRIER_LEAVE: the number of parties is known, fewer have arrived in its round and the rounds before,
 * and only the goal's other threads have arrivals left there. */
bool judge_lacks(const struct judge *j, const struct goal *goal, uint32_t leave);

/* The same of a WAIT_END: its wait has begun, no signal of its condition came since, and only the goal's other threads
 * have some left. */
bool judge_is_unheard(const struct judge *j, const struct goal *goal, const struct schedule *s, uint32_t end);

/* Steps of a schedule that run events in the trace's order, before event `behind`; `events` of them (left_out.c). */
struct judge_part {
	uint32_t steps, events, behind;
	uint32_t resumed; /* pos from which the step after these goes on; MODEL_NONE: it begins behind the part */
};
/*
 * Finds the first such part of a schedule, of events before `end`; sets `cut` and `misled`. All other accesses of it
 * see what they saw. True if it is worth to skip these. known: events at its beginning that need no replay.
 */
bool judge_find_part(struct judge *j, const struct schedule *s, uint32_t end, uint32_t known, struct judge_part *part);
/* True if the event is in the part, or would be if it came early enough. */
static inline bool judge_keeps(const struct judge *j, uint32_t e)
{
	return j->m->events[e].pos < j->cut[model_thread_of(j->m, e)];
}

/* What the cell holds when the replay first meets it (last, changed). */
void judge_meet(struct judge *j, uint32_t cell);
/* The write of its cell that the access at this entry comes after, MODEL_NONE: none. */
uint32_t judge_saw(const struct judge *j, uint32_t e, uint32_t entry);
/* To be called before either is used. */
static inline void judge_cell(struct judge *j, uint32_t cell)
{
	if (j->met[cell] != j->replay)
		judge_meet(j, cell);
}

#endif
