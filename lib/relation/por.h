/*
 * The partial order relation of PECAN's constraint model, extended to the synchronisation of C programs: program order,
 * fork, join, notify to wait, barriers, semaphores, once, release and acquire of atomics, annotations; not locks, nor
 * semaphores that are used as such. Other orders are built on it: hybrid adds locksets; hb adds lock edges; shb adds
 * hb's edges and last write to read.
 */
#ifndef LIB_RELATION_POR_H
#define LIB_RELATION_POR_H

#include "lib/relation/clock.h"
#include "lib/trace/model.h"

/* A computed order whose clocks change only where segments begin. */
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

/* Number of the thread's events that are ordered before e (own thread: up to and with e). */
static inline uint32_t segment_order_horizon(const struct segment_order *o, uint32_t e, uint32_t thread)
{
	uint32_t segment = o->m->events[e].segment;
	if (o->m->segments[segment].thread == thread)
		return o->m->events[e].pos + 1;
	return clock_get(&o->clocks, o->segments[segment], thread);
}
/* The same for events of another thread, without the edges of e itself. */
static inline uint32_t segment_order_before_own(const struct segment_order *o, uint32_t e, uint32_t thread)
{
	const struct model *m = o->m;
	uint32_t own = model_thread_of(m, e), pos = m->events[e].pos;
	if (!pos)
		return clock_get(&o->clocks, o->begin[own], thread);
	return segment_order_horizon(o, m->threads[own].events[pos - 1], thread);
}
/* The clock of the events of other threads before an access that may race. The edges of an acquiring atomic itself are
 * left out, as it may read another write at the place where it races. */
static inline uint32_t segment_order_race_clock(const struct segment_order *o, uint32_t e)
{
	const struct model *m = o->m;
	uint32_t own = model_thread_of(m, e), pos = m->events[e].pos;
	if (!rt_op_is_atomic(model_op(m, e)))
		return o->segments[m->events[e].segment];
	return pos ? o->segments[m->events[m->threads[own].events[pos - 1]].segment] : o->begin[own];
}
/* The number of a thread's events that come before an access that may race, by that clock. */
static inline uint32_t segment_order_race_horizon(const struct segment_order *o, uint32_t e, uint32_t thread)
{
	if (model_thread_of(o->m, e) == thread)
		return o->m->events[e].pos + (rt_op_is_atomic(model_op(o->m, e)) ? 0 : 1);
	return clock_get(&o->clocks, segment_order_race_clock(o, e), thread);
}
/* The same for events of another thread and one that waits there: what ends the wait has not occurred. Of a wait for a
 * condition only the mutex is waited for, unless it is to be signalled (segment_order_before_own). */
static inline uint32_t segment_order_wait_horizon(const struct segment_order *o, uint32_t e, uint32_t thread)
{
	enum rt_op op = model_op(o->m, e);
	bool own = (rt_op_has(op, RT_WAITS) && op != RT_OP_WAIT_END) || rt_op_is_atomic(op);
	return own ? segment_order_before_own(o, e, thread) : segment_order_horizon(o, e, thread);
}
/* True if e1 is ordered before e2 or is e2. */
static inline bool segment_order_before(const struct segment_order *o, uint32_t e1, uint32_t e2)
{
	return o->m->events[e1].pos < segment_order_horizon(o, e2, model_thread_of(o->m, e1));
}

/* For orders that walk the trace themselves: the edges of the relation, event by event. */
struct por;

/* locks: adds the edges from a release to later acquires. clocks is borrowed and shared with the caller. NULL without
 * memory. */
struct por *por_create(const struct model *m, struct clocks *clocks, bool locks);
void por_free(struct por *p);
/* Processes the next event of model.sync (every one, in order). Returns the clock of the event. */
uint32_t por_step(struct por *p, uint32_t e);
/*
 * The same in two halves, for orders that pass on another clock than they keep. por_receive returns the clock that the
 * event comes after, joined to now (0: that alone). por_send records the event for later ones, with now as its clock.
 * For each sync event: receive once, then send once. por_now of a joined thread is the clock that a join receives.
 */
uint32_t por_receive(struct por *p, uint32_t e, uint32_t now);
void por_send(struct por *p, uint32_t e, uint32_t now);
/* Clock of a thread's last processed event; before its first one, the clock from its fork. */
uint32_t por_now(const struct por *p, uint32_t thread);
/* Raises it, for the caller's own edges. */
void por_set_now(struct por *p, uint32_t thread, uint32_t clock);
/* False if memory ran out: the clocks are then wrong. */
bool por_ok(const struct por *p);

#endif
