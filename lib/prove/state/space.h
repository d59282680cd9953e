/*
 * The state of a search through a trace's correct reorderings: the position of each thread, the last writer of each
 * cell, the holder of each lock, the waits that have lost their signal. Executing and undoing an event costs the same
 * in any trace; a fingerprint of the state is kept up to date. It also decides which events may be executed.
 *
 * Only what matters to later events is part of a state: the last write of a cell counts while some event that is not
 * yet executed reads from it. The holders of locks follow from the threads' positions.
 */
#ifndef LIB_PROVE_STATE_SPACE_H
#define LIB_PROVE_STATE_SPACE_H

#include "lib/prove/state/reads.h"
#include "lib/prove/state/seen.h"
#include "lib/prove/state/waits.h"
#include "lib/relation/trf.h"

struct space_undo {
	uint32_t event;
	bool frozen, lost_signal; /* values of its thread before */
};

/* Relevant reads, not yet executed, that must see a given write or the initial value. */
struct space_readers {
	uint32_t asked;
	uint32_t needed; /* number of them */
};

/* One cell's part of the state. */
struct space_cell {
	uint32_t last; /* what the last write provides to readers (reads.h) */
	uint32_t left; /* relevant writes not yet executed */
	struct space_readers initial;
	bool looked; /* true if the base's last write is known */
};

struct space {
	const struct model *m;
	const struct trf *trf;
	const struct reads *reads;
	struct waits waits;
	/* The trace and the goal; all borrowed. */
	const struct goal *goal;
	const uint32_t *must, *bound; /* by thread: number of events needed; number relevant: no others are executed */
	const uint32_t *start;        /* by thread: number executed at the start, in the order of the trace */
	uint32_t end;                 /* all of these are events before this one */
	uint32_t unsignalled[ANOMALY_EVENTS_MAX], unsignalled_count; /* the goal's waits that await a signal */
	/* The state. */
	uint32_t *pos; /* by thread */
	struct space_cell *cells;
	struct space_readers *writes; /* by entry of cell_events */
	uint32_t *owner, *readers;    /* by object */
	bool *frozen;      /* by thread: its goal event saw another write (with free reads: did not synchronise) */
	bool *lost_signal; /* by thread: the signal of its wait came before the wait began */
	uint32_t reached;  /* SEQUENCE: goal events executed */
	uint64_t hash[2];
	/* Executed events, in order. */
	struct space_undo *done;
	uint32_t done_count, done_capacity;
	uint32_t *saved;
	uint32_t saved_count, saved_capacity;
	struct seen seen;
	uint64_t spent; /* events executed, including those after the start that were examined once */
	bool failed;    /* no memory: the state is half changed */
};

/* False without memory. trf must be computed with the same free reads. Both must outlive it. */
bool space_init(struct space *s, const struct reads *reads, const struct trf *trf);
void space_release(struct space *s);

/* Begins a search: sets the state to `start`. The arguments must stay valid until space_end. */
void space_begin(struct space *s, const struct goal *goal, const uint32_t *must, const uint32_t *bound,
                 const uint32_t *start);
/* Undoes everything and drops the states seen. Not to be called after a failure. */
void space_end(struct space *s);

/* The thread's next relevant event, MODEL_NONE if there is none. */
static inline uint32_t space_next(const struct space *s, uint32_t thread)
{
	return s->pos[thread] < s->bound[thread] ? s->m->threads[thread].events[s->pos[thread]] : MODEL_NONE;
}
static inline bool space_occurred(const struct space *s, uint32_t e)
{
	return s->pos[model_thread_of(s->m, e)] > s->m->events[e].pos;
}
/* True if e, its thread's next event, may occur now. */
bool space_enabled(const struct space *s, uint32_t e);
/*
 * True if a write by e, its thread's next event, is independent of all other relevant events: none of them writes its
 * cells or reads their present values.
 */
bool space_writes_alone(const struct space *s, uint32_t e);
/* True if the goal holds now; a sequence: if it was executed to its end. Must be the goal that is searched for. */
bool space_meets(const struct space *s, const struct goal *goal);
/* True if e begins a wait of the goal that no signal is to end: signals come before. */
bool space_begins_wait(const struct space *s, uint32_t e);
void space_execute(struct space *s, uint32_t e);
void space_take_back(struct space *s);
/* Adds the present state to those seen. False if it was there, and without memory (failed). */
static inline bool space_see(struct space *s)
{
	bool is_new = seen_add(&s->seen, s->hash);
	s->failed |= s->seen.failed;
	return is_new;
}
/* Appends the executed events, the start first. False without memory. */
bool space_schedule(const struct space *s, struct schedule *out);

#endif
