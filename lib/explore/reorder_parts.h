/* What the files of reorder.h share: the events that matter to other threads, and the state of the search. */
#ifndef LIB_EXPLORE_REORDER_PARTS_H
#define LIB_EXPLORE_REORDER_PARTS_H

#include "lib/base/hash.h"
#include "lib/base/set.h"
#include "lib/explore/delay_parts.h"
#include "lib/explore/reorder.h"

/* A byte, or the object of a call. */
struct spot {
	uint64_t key; /* address, and which of the two */
	uint32_t id;  /* of the variable; by `find`. Of a call's object the last event at it */
	uint32_t thread;
	bool several; /* threads */
	UT_hash_handle hh;
};

struct variable {
	uint32_t joined; /* with this one, by overlapping accesses; itself: none */
	uint32_t writer; /* now; NONE: none so far */
	uint64_t object, initial;
	uint32_t bytes; /* of each access */
	bool mixed;     /* accesses differ in place or size: values are not compared */
	bool has_initial;
	uint32_t thread;
	bool shared, written;
	uint32_t read_at, written_at; /* by one thread, in the path: 0: not */
	uint32_t *accessed, *wrote;   /* by thread: how far it has come when it does so no more */
};

struct lock {
	uint64_t object;
	uint32_t *taken;       /* the same */
	uint32_t owner, depth; /* owner: NONE: none */
	uint32_t readers;
	UT_hash_handle hh;
};

/* An event that matters. */
struct matter {
	uint32_t event;    /* index in the trace */
	uint32_t before;   /* the one that it has to come behind, as in the run; by rank; NONE: none */
	uint32_t rank;     /* of its thread */
	uint32_t variable; /* NONE: it is no access */
	uint32_t saw;      /* the last write of the variable in the run; by index of the trace */
	struct lock *takes, *gives;
	uint64_t wrote; /* by its write, if has_wrote */
	bool has_wrote;
	uint64_t state; /* of its thread before it, by what it has read */
};

/* How the search came to a state. */
struct step {
	uint32_t matter;
	uint32_t undo; /* the write that it replaced, or whether the lock was held alone */
	uint32_t current, cost, next;
	bool following;
};

struct search {
	const struct delays *d;
	struct reorderings *found;
	struct spot *bytes, *objects;
	struct variable *variables;
	uint32_t variable_count, variable_room;
	struct lock *locks;
	struct matter *all;
	uint32_t count, room;
	uint32_t **by_thread; /* indices in all */
	uint32_t *lengths, *rooms, *at;
	uint32_t *matter_of; /* by event; NONE: it does not matter */
	struct set visited;
	struct step *path;
	uint32_t depth, bound;
	uint64_t steps, tried;
	uint64_t hash; /* of the state: what threads have done, and the values of variables */
	bool no_memory;
};

static inline const struct seen *seen_of(const struct search *s, const struct matter *m)
{
	return &s->d->events[m->event];
}

/* Both for the trace s->d; false without memory. *few: the search can be made (reorder_load.c). */
bool reorder_load(struct search *s, bool *few);
void reorder_release(struct search *s);
/* What a read's thread has read before, the read, and a value: the same in other runs. */
uint64_t reorder_key(const struct seen *read, uint64_t state, uint64_t value);
/* A value by which its reader tells it from others. *known: it is that; else it says which write it is of, or is a
 * guess. */
uint64_t reorder_value(const struct search *s, const struct variable *v, uint32_t writer, bool *known);
uint64_t reorder_mix(uint64_t a, uint64_t b, uint64_t c);

/* Number of events since the thread, or another one, did what the other one comes between; NONE: none does
 * (reorder_split.c). */
uint32_t reorder_splits(struct search *s, const struct matter *read, uint32_t thread);

#endif
