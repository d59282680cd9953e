/*
 * The partial order relation of PECAN's constraint model, widened to what C programs synchronise with: program order,
 * fork, join, notify to wait, barriers, semaphores, once, release and acquire of atomics, annotations; not locks. Other
 * orders build on it: hybrid adds locksets; hb adds lock edges; shb adds hb's and last write to read.
 */
#ifndef LIB_RELATION_POR_H
#define LIB_RELATION_POR_H

#include "lib/relation/clock.h"
#include "lib/trace/model.h"

/* A finished order whose clocks change where segments begin and nowhere else. */
struct segment_order {
	const struct model *m; /* borrowed */
	struct clocks clocks;
	uint32_t *segments; /* clock of each segment */
	uint32_t *begin;    /* by thread: the clock it begins with, from its fork */
};

/* The partial order relation, with lock edges (release to later acquire) or without. */
enum rt_status segment_order_compute(const struct model *m, bool locks, struct segment_order *out,
                                     struct rt_error *err);
void segment_order_release(struct segment_order *o);
/* Gives segments without a clock (MODEL_NONE: they begin at a plain access) that of their thread's segment before. */
bool segment_order_fill(const struct model *m, uint32_t *segments, const uint32_t *begin);

/* Of the thread's events, how many are ordered before e (own thread: up to and with e). */
static inline uint32_t segment_order_horizon(const struct segment_order *o, uint32_t e, uint32_t thread)
{
	uint32_t segment = o->m->events[e].segment;
	if (o->m->segments[segment].thread == thread)
		return o->m->events[e].pos + 1;
	return clock_get(&o->clocks, o->segments[segment], thread);
}
/*
 * The same for an access that may race, another thread's events: an acquiring atomic's own edges are left out, as it
 * need not read what it read when it is moved to where it races.
 */
static inline uint32_t segment_order_race_horizon(const struct segment_order *o, uint32_t e, uint32_t thread)
{
	const struct model *m = o->m;
	const struct model_event *event = &m->events[e];
	uint32_t segment = event->segment;
	if (rt_op_is_atomic(m->sites[event->site].op) && m->segments[segment].first == event->pos) {
		uint32_t own = m->segments[segment].thread;
		if (!event->pos)
			return clock_get(&o->clocks, o->begin[own], thread);
		segment = m->events[m->threads[own].events[event->pos - 1]].segment;
	}
	return clock_get(&o->clocks, o->segments[segment], thread);
}
/* Is e1 ordered before e2 (or the same)? */
static inline bool segment_order_before(const struct segment_order *o, uint32_t e1, uint32_t e2)
{
	return o->m->events[e1].pos < segment_order_horizon(o, e2, model_thread_of(o->m, e1));
}

/* For orders that walk the trace themselves: the relation's edges, event by event. */
struct por;

/* locks: with release to later acquire edges. clocks is borrowed and shared with the caller. NULL without memory. */
struct por *por_create(const struct model *m, struct clocks *clocks, bool locks);
void por_free(struct por *p);
/* Goes on by one event of model.sync (every one, in order). Returns the clock of the event. */
uint32_t por_step(struct por *p, uint32_t e);
/*
 * The same by halves, for orders that hand on another clock than they keep: first what the event comes after, joined to
 * now (0: that alone); then what comes after the event, which is given now as its clock. Of each sync event: receive
 * once, then send once. por_now of a joined thread is what a join receives.
 */
uint32_t por_receive(struct por *p, uint32_t e, uint32_t now);
void por_send(struct por *p, uint32_t e, uint32_t now);
/* Clock of a thread's last event so far; before its first: what its fork handed on. */
uint32_t por_now(const struct por *p, uint32_t thread);
/* Raises it, for edges of the caller's own. */
void por_set_now(struct por *p, uint32_t thread, uint32_t clock);
/* False once memory was short: the clocks are wrong. */
bool por_ok(const struct por *p);

/* The partial order relation that the order "hybrid" is made of. */
struct order_result;
const struct segment_order *hybrid_por(const struct order_result *hybrid);

#endif
