/*
 * The state of a search through a trace's correct reorderings: how far each thread is, who wrote each cell last, who
 * holds which lock, whose signal came before its wait. Events are executed and taken back, each at a cost that does not
 * depend on the trace; a fingerprint of the state goes along. What may be executed is decided here as well.
 *
 * Only what matters to what is still to come is part of a state: the last write of a cell while some event that is not
 * yet executed reads from it. Who holds a lock follows from how far the threads are.
 */
#ifndef LIB_PROVE_STATE_SPACE_H
#define LIB_PROVE_STATE_SPACE_H

#include "lib/prove/state/reads.h"
#include "lib/prove/state/seen.h"
#include "lib/prove/state/waits.h"
#include "lib/relation/trf.h"

struct space_undo {
	uint32_t event;
	bool frozen, lost_signal; /* were its thread's */
};

/* Relevant reads, not yet executed, that must see what some write leaves, or the initial value. */
struct space_readers {
	uint32_t asked;
	uint32_t needed; /* so many of them */
};

/* One cell's part of the state. */
struct space_cell {
	uint32_t last; /* what the last write left to be seen (reads.h) */
	uint32_t left; /* relevant writes not yet executed */
	struct space_readers initial;
	bool looked; /* is it known what the base wrote last? */
};

struct space {
	const struct model *m;
	const struct trf *trf;
	const struct reads *reads;
	struct waits waits;
	/* What is searched; all borrowed. */
	const struct goal *goal;
	const uint32_t *must, *bound; /* by thread: so many events are needed; are relevant: no others are executed */
	const uint32_t *start;        /* by thread: so many are executed to begin with, in the order of the trace */
	uint32_t end;                 /* all of these are events before this one */
	/* The state. */
	uint32_t *pos; /* by thread */
	struct space_cell *cells;
	struct space_readers *writes; /* by entry of cell_events */
	uint32_t *owner, *readers;    /* by object */
	bool *frozen;                 /* by thread: its goal event saw another write (reads that are free: did not
	                                 synchronise) */
	bool *lost_signal;            /* by thread: the signal of its wait came before the wait began */
	uint32_t reached;             /* SEQUENCE: goal events executed */
	uint64_t hash[2];
	/* What was executed, in order. */
	struct space_undo *done;
	uint32_t done_count, done_capacity;
	uint32_t *saved;
	uint32_t saved_count, saved_capacity;
	struct seen seen;
	uint64_t spent; /* events executed, those behind the start that were looked at once included */
	bool failed;    /* no memory: the state is half changed */
};

/* False without memory. trf must be computed with the reads that are free. Both must outlive it. */
bool space_init(struct space *s, const struct reads *reads, const struct trf *trf);
void space_release(struct space *s);

/* Begins a search: sets the state to `start`. What is given must stay until space_end. */
void space_begin(struct space *s, const struct goal *goal, const uint32_t *must, const uint32_t *bound,
                 const uint32_t *start);
/* Takes everything back and forgets the states seen. Not after a failure. */
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
/* May e, its thread's next event, occur now? */
bool space_enabled(const struct space *s, uint32_t e);
/*
 * Would a write by e, which is the next event of its thread, be in nobody's way: will no other relevant event write its
 * cells, and nobody read what they hold now?
 */
bool space_writes_alone(const struct space *s, uint32_t e);
/* Does the thread stand before e, and has it begun; and if e ends a wait, has it heard its signal? */
bool space_stands_before(const struct space *s, uint32_t e);
/* Does the goal hold now? Of a sequence: was it executed to its end? It must be what is searched for then. */
bool space_meets(const struct space *s, const struct goal *goal);
void space_execute(struct space *s, uint32_t e);
void space_take_back(struct space *s);
/* Adds the present state to those seen; false if it was there, and without memory (failed). */
static inline bool space_see(struct space *s)
{
	bool is_new = seen_add(&s->seen, s->hash);
	s->failed |= s->seen.failed;
	return is_new;
}
/* Appends what was executed, the start first. False without memory. */
bool space_schedule(const struct space *s, struct schedule *out);

#endif
