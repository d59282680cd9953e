/*
 * Critical sections: the events of a thread from an acquire to the release of the lock, both included. A wait ends one
 * and begins another; an open section contains everything after its acquire. And the earlier sections of the same lock
 * that a section's accesses conflict with, which the rules of CP (POPL 2012) and WCP (PLDI 2017) use.
 */
#ifndef LIB_RELATION_SECTIONS_H
#define LIB_RELATION_SECTIONS_H

#include "lib/relation/clock.h"
#include "lib/trace/model.h"

#include <stdbool.h>

struct section {
	uint32_t acquire, release; /* event indices; release: MODEL_NONE while open */
	uint32_t lock;             /* object index */
	uint32_t thread;
	uint32_t place; /* among the sections of its lock, from 0, in the order of their acquires */
	bool shared;    /* a reader's */
};

struct sections {
	struct section *items; /* in the order of their acquires */
	uint32_t count;
	/* The same by lock, thread and place: of each lock, its threads by number, of each thread, its sections. */
	uint32_t *sorted;
	struct section_group {
		uint32_t lock, thread, first, count; /* in sorted */
	} * groups;
	uint32_t group_count;
	uint32_t *lock_first;  /* by object: its first group; one more at the end */
	uint32_t *by_place;    /* section indices, lock by lock in order of place */
	uint32_t *place_first; /* by object: where its sections begin in by_place */
	/* In the order of by_place: the place from which on all sections up to this one are of its thread. */
	uint32_t *run;
	/* By object: each of its sections but the last ends before the next begins; none is a reader's. */
	bool *in_turn;
};

bool sections_init(struct sections *s, const struct model *m);
void sections_release(struct sections *s);

/* True if the two sections exclude each other. */
static inline bool sections_exclude(const struct section *a, const struct section *b)
{
	return !(a->shared && b->shared);
}

/*
 * The newest section of the lock before `mine`, at place `from` or later, by another thread, whose acquire is before an
 * event with this clock; MODEL_NONE if there is none. For sections in turn, and a clock that has what happens before
 * all that it has: so there is a place up to which all of them are before the event.
 */
uint32_t sections_newest_before(const struct sections *s, const struct model *m, const struct clocks *clocks,
                                uint32_t clock, const struct section *mine, uint32_t from);

/* Walks a trace's events in order; reports open sections and conflicts. */
struct section_walk;

struct section_walk *section_walk_create(const struct model *m, const struct sections *s);
void section_walk_free(struct section_walk *w);
/*
 * Processes the next event. An acquire opens its section before the event, a release closes it after it: *section is
 * that section, or MODEL_NONE if the event is neither. For an access, calls conflict(arg, mine, earlier) for every
 * section `mine` that contains it and the newest sections `earlier` of the same lock, by other threads, whose accesses
 * of the same cell conflict with it. False without memory.
 */
bool section_walk_step(struct section_walk *w, uint32_t e, uint32_t *section,
                       void (*conflict)(void *arg, uint32_t mine, uint32_t earlier), void *arg);

#endif
