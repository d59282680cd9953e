/*
 * The base of a search: events that every witness of a goal may execute first, in the order of the trace, without loss.
 *
 * It is a prefix of each thread, of events that the goal needs, such that every other relevant event comes after all of
 * it (by thread order, reads-from and the partial order relation). Whatever order another witness gives the base, the
 * trace's order does as well. Reads in it see what they saw, and any read after it that saw one of its writes saw the
 * trace's last. The locks that are held at its end must have been taken after all other sections of the base that they
 * exclude. If a trace's threads communicate often, the base is nearly everything before the goal, so a search is small
 * however long the trace is.
 */
#ifndef LIB_PROVE_STATE_BASE_H
#define LIB_PROVE_STATE_BASE_H

#include "lib/anomaly/goal.h"
#include "lib/relation/sections.h"
#include "lib/relation/trf.h"

/* What base_find needs besides, and has done. */
struct base_work {
	uint32_t *threads;  /* room for all threads */
	uint64_t looked_at; /* threads that were looked at */
};

struct base {
	const struct model *m;           /* borrowed */
	const struct trf *trf;           /* borrowed */
	const struct sections *sections; /* borrowed */
	struct base_work *work;          /* borrowed; NULL: base_find is not called */
};

/* Finds a base. must, bound: by thread, number of events needed and relevant. at: by thread, number of events in the
 * base. */
void base_find(const struct base *b, const struct goal *goal, const uint32_t *must, const uint32_t *bound,
               uint32_t *at);

/* True if each lock that is held when the threads have executed these numbers of events is taken by no other thread
 * after, within these.
 */
bool base_keeps_locks(const struct base *b, const uint32_t *at);

/* False if the group, of the open one's lock, has no section of another thread after it; without a search for it. */
static inline bool base_has_later(const struct base *b, const struct section_group *g, const struct section *open)
{
	const struct sections *s = b->sections;
	return g->thread != open->thread && s->items[s->sorted[g->first + g->count - 1]].place > open->place;
}
/* Number of sections of a group, one lock's and thread's, that begin before pos. */
uint32_t base_count(const struct base *b, const struct section_group *g, uint32_t pos);
/* The thread's last section on the lock that begins before pos; NULL if there is none. */
const struct section *base_section(const struct base *b, uint32_t thread, uint32_t lock, uint32_t pos);
/*
 * One of the next few sections of the open one's lock, of another thread, that begin before these numbers of events; at
 * a place after *place, which is set to its own. NULL: there are no more near ones. Of thousands of threads that take a
 * lock one after the other, this finds the one that matters without a look at all.
 */
const struct section *base_next(const struct base *b, const struct section *open, const uint32_t *at, uint32_t *place);

/* Locks that a thread holds when it has executed this number of events. */
static inline const struct model_lockset *base_held(const struct model *m, uint32_t thread, uint32_t count)
{
	return &m->locksets[count ? model_lockset_of(m, m->threads[thread].events[count - 1]) : 0];
}

#endif
