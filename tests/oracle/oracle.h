/*
 * What the analysis should find in a small trace, straight from the definitions and as slow as they are: orders by
 * transitive closure and by adding edges until no rule adds one, predictable and sync-preserving pairs by trying every
 * reordering. Shares nothing with lib/ but the event vocabulary.
 */
#ifndef TESTS_ORACLE_ORACLE_H
#define TESTS_ORACLE_ORACLE_H

#include "tracefmt/event.h"

#include <stdbool.h>

enum { ORACLE_EVENTS = 36, ORACLE_THREADS = 4, ORACLE_HALVES = 8 };

/*
 * A trace: events in order. Accesses touch halves (4 bytes each) of memory at ORACLE_MEMORY; 4 or 8 bytes at a multiple
 * of 4. Locks, conditions and so on have the small addresses below.
 */
#define ORACLE_MEMORY UINT64_C(0x1000)
struct oracle_trace {
	struct rt_event events[ORACLE_EVENTS];
	int count, threads;
	bool zeroed;  /* memory is known to begin as 0 */
	bool program; /* recorded from one: what an event reads may decide what its thread does next */
};

typedef bool oracle_pairs[ORACLE_EVENTS][ORACLE_EVENTS];

struct oracle {
	/* [i][j], i < j: the pair is left unordered; syncp, predictable: it can be enabled. */
	oracle_pairs hybrid, hb, shb, cp, wcp, syncp, predictable;
};

/* What a random trace may hold. */
enum oracle_feature {
	ORACLE_LOCKS = 1,
	ORACLE_READERS = 2,
	ORACLE_FORKS = 4,
	ORACLE_CONDITIONS = 8,
	ORACLE_BARRIERS = 16,
	ORACLE_SEMAPHORES = 32,
	ORACLE_ONCES = 64,
	ORACLE_ATOMICS = 128,
	ORACLE_ANNOTATIONS = 256,
	ORACLE_HALF_ACCESSES = 512,
	ORACLE_VALUES = 1024,
	ORACLE_ALL = 2047,
	ORACLE_STRAYS = 2048, /* releases of locks that the thread does not hold; see enum oracle_hold */
	ORACLE_DENSE = 4096,  /* few accesses, so more of the rest */
	ORACLE_BINARY = 8192  /* semaphores as locks; now and then one that is posted by another thread */
};

/* A random trace that could be of a real run. */
void oracle_random(struct oracle_trace *t, uint64_t seed, unsigned features, int length);
/* Everything above of a trace. */
void oracle_run(const struct oracle_trace *t, struct oracle *out);

/*
 * Is e1 before e2 by happens-before and by edges from writes to the reads that saw them, as far as those count and
 * happens-before leaves the two unordered, e2's own left out? locks: the former has the edges between critical
 * sections.
 */
typedef bool oracle_edge_counts(const struct oracle_trace *t, int write, int read, const void *arg);
bool oracle_ordered(const struct oracle_trace *t, int e1, int e2, bool locks, oracle_edge_counts *counts,
                    const void *arg);

/*
 * Is this a correct reordering (events' places in the trace, in their new order) after which both e1 and e2 are their
 * threads' next?
 */
bool oracle_accepts(const struct oracle_trace *t, const int *order, int count, int e1, int e2);

/*
 * Is there a correct reordering that executes these events in this order (sequence: they may see other writes; a thread
 * whose event did so goes on to the next of them only, if that is its next one), or after which they are all their
 * threads' next (not sequence; who ends a wait has had its signal)?
 */
bool oracle_reaches(const struct oracle_trace *t, bool sequence, const int *events, int count);

/*
 * The same if reads may see any write: those of them that are set, by place; NULL: all. What atomics synchronise with
 * in the trace still comes before them; a thread whose event of the sequence comes before that runs no further.
 */
bool oracle_reaches_free(const struct oracle_trace *t, bool sequence, const int *events, int count, const bool *free);

/* Shared by the oracle's files. */

/*
 * Direct edges, [i][j]: i before j. Of threads' own order; of the rest of the partial order relation (por); of locks:
 * release to later acquire.
 */
void oracle_thread_edges(const struct oracle_trace *t, oracle_pairs edges);
void oracle_por_edges(const struct oracle_trace *t, oracle_pairs edges);
void oracle_lock_edges(const struct oracle_trace *t, oracle_pairs edges);
/* Happens-before, closed, and por's edges give the pairs that cp, or wcp (weak), leaves unordered. */
void oracle_causal(const struct oracle_trace *t, oracle_pairs por, oracle_pairs hb, bool weak, oracle_pairs unordered);
/*
 * The pairs of conflicting accesses that some correct reordering enables both of; of those that keep the order of each
 * lock's critical sections, or of all.
 */
void oracle_reorder(const struct oracle_trace *t, bool keep_sections, oracle_pairs enabled);
bool oracle_conflict(const struct oracle_trace *t, int i, int j);
/* Bit mask of the halves that an access touches; 0: not an access. */
unsigned oracle_halves(const struct rt_event *e);
/* The last write to a half before event i, -1: none. */
int oracle_last_write(const struct oracle_trace *t, int half, int i);
/* Is it known of two writes (-1: what was there before any) that they left the same value in a half? */
bool oracle_same_value(const struct oracle_trace *t, int half, int w1, int w2);
/* A wait's other end: the last WAIT_BEGIN of the thread before the WAIT_END at i. */
int oracle_wait_begin(const struct oracle_trace *t, int i);

/*
 * Locks: who takes which, and whether both may hold it at a time. What an event does to its lock, in rt_event.reserved.
 * A release by a thread that does not hold the lock is none. But if a thread takes the lock before the holder has
 * released it, that release has ended the hold: it was handed over. Then the hold protects nothing. The lock's releases
 * before it come before it, and its later acquires come after the release that ended it.
 *
 * A semaphore is a lock if it begins with 1, and each of its posts is by the thread of the last wait before it, with no
 * other post between.
 */
enum oracle_hold {
	ORACLE_HOLD_OWN,    /* a hold that its own thread ends, if it ends; or the release that does */
	ORACLE_HOLD_HANDED, /* the acquire of a hold that is handed over: it needs the lock, and holds it no longer */
	ORACLE_HOLD_GIVES,  /* the release that hands it over */
	ORACLE_HOLD_NONE    /* nothing: a release of what the thread does not hold */
};

static inline bool oracle_releases(const struct rt_event *e)
{
	return (e->op == RT_OP_RELEASE || e->op == RT_OP_WAIT_BEGIN || e->op == RT_OP_SEM_POST) &&
	       e->reserved == ORACLE_HOLD_OWN;
}
/* Does the event need the lock? */
static inline bool oracle_acquires(const struct rt_event *e)
{
	return e->op == RT_OP_ACQUIRE || e->op == RT_OP_ACQUIRE_SHARED || e->op == RT_OP_WAIT_END ||
	       (e->op == RT_OP_SEM_WAIT && e->reserved != ORACLE_HOLD_NONE);
}
/* Does its thread hold the lock after it? */
static inline bool oracle_holds(const struct rt_event *e)
{
	return oracle_acquires(e) && e->reserved == ORACLE_HOLD_OWN;
}
static inline uint64_t oracle_lock(const struct rt_event *e)
{
	return e->op == RT_OP_WAIT_BEGIN || e->op == RT_OP_WAIT_END ? e->arg : e->addr;
}
static inline bool oracle_both_read(const struct rt_event *acquire1, const struct rt_event *acquire2)
{
	return acquire1->op == RT_OP_ACQUIRE_SHARED && acquire2->op == RT_OP_ACQUIRE_SHARED;
}
/* The parties of the barrier; there is one at most. */
uint64_t oracle_parties(const struct oracle_trace *t);
/* Sets rt_event.reserved of all events that release a lock or take one. oracle_random has done so. */
void oracle_mark_holds(struct oracle_trace *t);

#endif
