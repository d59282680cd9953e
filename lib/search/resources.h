/*
 * What threads wait for in a deadlock that did not happen, as one notion: a resource, which other threads have. A wait
 * for it cannot end before each thread that has the resource goes on, and gives it.
 *
 *   a lock             is had by the thread that holds it
 *   a thread's end     by that thread
 *   a once-routine     by the thread that runs it
 *   a future's result  by the thread that sets it, from where it certainly does
 *   a semaphore        by the one thread that posts it, up to its last post, if but one other thread waits for it
 *   a condition        by the one thread that signals it, up to its last signal
 *   a barrier          by each of its parties, up to its last arrival, if no more threads arrive there than are parties
 *
 * Where other threads could give the resource as well, nothing is said of it.
 */
#ifndef LIB_SEARCH_RESOURCES_H
#define LIB_SEARCH_RESOURCES_H

#include "lib/relation/por.h"

/* A resource that is no lock, which a thread has from its event `from` (pos) on, up to `to`. */
struct resource_give {
	uint32_t resource, thread, from, to;
};

struct resources {
	const struct model *m;       /* borrowed */
	bool *known;                 /* by resource: which threads can give it is certain */
	struct resource_give *gives; /* of resources that are waited for, by thread, then by `to` */
	uint32_t count;
	uint32_t *first; /* by thread: index of its first one */
	uint32_t *made;  /* by object: the initialisation of a semaphore, MODEL_NONE */
};

/* False without memory; resources_release in any case. */
bool resources_find(struct resources *w, const struct model *m);
void resources_release(struct resources *w);

/* Number of resources: objects, and then threads, which are their ends. */
static inline uint32_t resources_count(const struct model *m)
{
	return m->object_count + m->thread_count;
}
/* The resource that an event waits for, as long as it takes; MODEL_NONE: it waits for none that is known. The end of a
 * wait for a condition waits for that until it is signalled, and then for its mutex. */
uint32_t resources_wanted(const struct resources *w, uint32_t e, bool signal);
/* True if the event waits for something. */
bool resources_waits(const struct model *m, uint32_t e);
/* Index of the locks held by an event's thread when it comes to it. */
uint32_t resources_locks(const struct model *m, uint32_t e);
/* Index of the first of its thread's gives that is behind the event; the thread's last ones are, too. */
uint32_t resources_left(const struct resources *w, uint32_t e);
/* True if the resource is a condition. */
static inline bool resources_is_signal(const struct model *m, uint32_t resource)
{
	return resource < m->object_count && m->objects[resource].kind == OBJECT_CONDITION;
}
/* Number of the thread's events that come before one that waits for the resource. */
static inline uint32_t resources_horizon(const struct segment_order *por, uint32_t wait, uint32_t resource,
                                         uint32_t thread)
{
	return resources_is_signal(por->m, resource) ? segment_order_before_own(por, wait, thread)
	                                             : segment_order_wait_horizon(por, wait, thread);
}
/* True if the wait for the resource cannot end before the thread that has it comes past its event e. */
bool resources_need(const struct resources *w, const struct segment_order *por, uint32_t wait, uint32_t resource,
                    uint32_t e);

#endif
