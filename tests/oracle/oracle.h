/*
 * What the analysis should find in a small trace, straight from the definitions and as slow as they are: orders by
 * transitive closure, predictable pairs by trying every reordering. Shares nothing with lib/ but the event vocabulary.
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
};

typedef bool oracle_pairs[ORACLE_EVENTS][ORACLE_EVENTS];

struct oracle {
	oracle_pairs hybrid, hb, shb, predictable; /* [i][j], i < j: the pair is left unordered, or can be enabled */
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
	ORACLE_HALF_ACCESSES = 512
};

/* A random trace that could be of a real run. */
void oracle_random(struct oracle_trace *t, uint64_t seed, unsigned features, int length);
/* Everything above of a trace. */
void oracle_run(const struct oracle_trace *t, struct oracle *out);

/* Shared by the oracle's files: direct edges of the partial order relation (por) and of locks, [i][j]: i before j. */
void oracle_por_edges(const struct oracle_trace *t, oracle_pairs edges);
void oracle_lock_edges(const struct oracle_trace *t, oracle_pairs edges);
/* The pairs of conflicting accesses that some correct reordering enables both of. */
void oracle_reorder(const struct oracle_trace *t, oracle_pairs edges, oracle_pairs predictable);
bool oracle_conflict(const struct oracle_trace *t, int i, int j);
/* Bit mask of the halves that an access touches; 0: not an access. */
unsigned oracle_halves(const struct rt_event *e);
/* The last write to a half before event i, -1: none. */
int oracle_last_write(const struct oracle_trace *t, int half, int i);

#endif
