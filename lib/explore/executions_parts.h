/* What the two parts of executions.h share: executions.c keeps what is to be made and was visited, execution.c takes
 * one execution. */
#ifndef LIB_EXPLORE_EXECUTIONS_PARTS_H
#define LIB_EXPLORE_EXECUTIONS_PARTS_H

#include "lib/base/hash.h"
#include "lib/base/set.h"
#include "lib/explore/executions.h"
#include "lib/explore/sharing.h"

enum { THREADS = RT_SEARCH_THREADS };

/* An execution to be made. */
struct execution {
	uint8_t *choices;
	uint32_t count;
	uint64_t target; /* hash of the state behind the last choice; 0: not known */
	uint32_t preemptions;
};

/* A state that was visited, with the fewest preemptions. */
struct visited_state {
	uint64_t hash;
	uint32_t preemptions;
	UT_hash_handle hh;
};

struct executions {
	struct executions_options o;
	struct executions_counts counts;
	struct visited_state *states;
	struct set scheduled; /* hashes of states that an execution to be made leads to */
	struct execution *items;
	size_t count, room, head; /* items[head..count) are to be made */
	struct execution *proofs; /* executions that show a race */
	size_t proof_count, proof_room;
	struct execution current; /* that executions_next gave; its choices are owned */
	struct sharing sharing;
	struct executions_race *races;
	size_t race_count, race_room;
	struct set race_keys;
	uint64_t random;
};

/* True if the state was visited, by no more preemptions if these are bounded. */
bool executions_visited(const struct executions *s, uint64_t hash, uint32_t preemptions);
/* *fresh: it was not visited at all. False without memory. */
bool executions_visit(struct executions *s, uint64_t hash, uint32_t preemptions, bool *fresh);
/* Forgets what was visited and what is to be made. */
void executions_forget(struct executions *s);
uint64_t executions_mix(uint64_t a, uint64_t b);

#endif
