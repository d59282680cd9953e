/* What threads wait for, and which threads have it; see resources.h. */
#include "lib/search/resources.h"

#include "lib/anomaly/goal.h"
#include "lib/base/free.h"
#include "lib/base/lower_bound.h"
#include "lib/base/vec.h"

#include <stdlib.h>

/* What gives the resource: MODEL_NONE where an event of another kind does, or none. */
static uint32_t given_by(const struct model *m, uint32_t e)
{
	enum rt_op op = model_op(m, e);
	bool gives = op == RT_OP_ONCE_END || op == RT_OP_BARRIER_ARRIVE || rt_op_has(op, RT_WAKES) ||
	             (op == RT_OP_SEM_POST && model_lock_released(m, e) == MODEL_NONE);
	return gives ? m->events[e].object : MODEL_NONE;
}

/* True if the end of the thread, which a join waited for, comes after all of its events. */
static bool ends_before(const struct model *m, uint32_t thread, uint32_t join)
{
	const struct model_thread *t = &m->threads[thread];
	return !t->count || t->events[t->count - 1] < join;
}

uint32_t resources_wanted(const struct resources *w, uint32_t e, bool signal)
{
	const struct model *m = w->m;
	const struct model_site *site = &m->sites[m->events[e].site];
	uint32_t object = m->events[e].object, other;
	if (signal)
		return w->known[object] && goal_wait_begin(m, e) != MODEL_NONE ? object : MODEL_NONE;
	if (site->flags & RT_F_TIMED && site->op != RT_OP_WAIT_END)
		return MODEL_NONE;
	if (site->op == RT_OP_JOIN)
		return ends_before(m, object, e) ? m->object_count + object : MODEL_NONE;
	if ((other = model_lock_taken(m, e)) != MODEL_NONE)
		return other;
	if ((other = model_once_passed(m, e)) != MODEL_NONE)
		object = other;
	else if (site->op != RT_OP_SEM_WAIT && site->op != RT_OP_BARRIER_LEAVE)
		return MODEL_NONE;
	return w->known[object] ? object : MODEL_NONE;
}

bool resources_waits(const struct model *m, uint32_t e)
{
	return rt_op_has(model_op(m, e), RT_WAITS) || model_once_passed(m, e) != MODEL_NONE;
}

uint32_t resources_locks(const struct model *m, uint32_t e)
{
	uint32_t pred = model_pred(m, e);
	return pred == MODEL_NONE ? 0 : model_lockset_of(m, pred);
}

uint32_t resources_left(const struct resources *w, uint32_t e)
{
	uint32_t thread = model_thread_of(w->m, e), pos = w->m->events[e].pos;
	return lower_bound(i, w->first[thread], w->first[thread + 1], w->gives[i].to <= pos);
}

bool resources_need(const struct resources *w, const struct segment_order *por, uint32_t wait, uint32_t resource,
                    uint32_t e)
{
	const struct model *m = w->m;
	uint32_t thread = model_thread_of(m, e), pos = m->events[e].pos, last;
	if (resource >= m->object_count || resource == model_lock_taken(m, wait))
		return true;
	uint32_t horizon = segment_order_horizon(por, wait, thread), i = resources_left(w, e);
	while (i < w->first[thread + 1] && w->gives[i].resource != resource)
		i++;
	if (pos >= horizon || i == w->first[thread + 1] || w->gives[i].from > pos)
		return false;
	uint32_t made = w->made[resource];
	/* It is no semaphore before that. */
	if (made != MODEL_NONE &&
	    segment_order_wait_horizon(por, wait, model_thread_of(m, made)) <= m->events[made].pos)
		return false;
	/* Its next arrival is of the round that the wait is of, or of an earlier one. */
	for (last = pos; model_op(m, wait) == RT_OP_BARRIER_LEAVE && ++last < horizon;)
		if (given_by(m, m->threads[thread].events[last]) == resource)
			return true;
	return model_op(m, wait) != RT_OP_BARRIER_LEAVE;
}

/* Finding them. */

enum { NO_THREAD = UINT32_MAX, SEVERAL = UINT32_MAX - 1 };

/* What is known of an object from all of its events. */
struct object_facts {
	uint32_t waiter;  /* the only thread that waits for it */
	uint32_t from;    /* of a future's result: see model_pass; else MODEL_NONE */
	uint32_t parties; /* 0: unknown, or not the same at each arrival */
	bool made;        /* its initialisation is the first of its events */
	bool begun;
};

static void look_at(struct object_facts *f, const struct model *m, uint32_t e)
{
	enum rt_op op = model_op(m, e);
	uint32_t thread = model_thread_of(m, e), parties = model_arg(m, e);
	if (op == RT_OP_SEM_INIT)
		f->made = !f->begun;
	if (op == RT_OP_SEM_WAIT)
		f->waiter = !f->begun || f->waiter == NO_THREAD || f->waiter == thread ? thread : SEVERAL;
	if (op == RT_OP_BARRIER_ARRIVE)
		f->parties = !f->begun || f->parties == parties ? parties : 0;
	f->begun = true;
}

static int by_resource(const void *a, const void *b)
{
	const struct resource_give *x = a, *y = b;
	if (x->resource != y->resource)
		return x->resource < y->resource ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

static int by_thread(const void *a, const void *b)
{
	const struct resource_give *x = a, *y = b;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return x->resource < y->resource ? -1 : x->resource > y->resource;
}

struct finding {
	struct resources *w;
	struct object_facts *facts;
	struct resource_give *all; /* by resource, then by thread */
	uint32_t count, capacity;
	bool *wanted; /* by resource: a thread waits for it that has something itself */
	bool *gives;  /* by thread: it gives such a resource */
};

static bool add(struct finding *f, struct resource_give give)
{
	if (!vec_reserve(&f->all, &f->capacity, (uint64_t)f->count + 1, sizeof *f->all))
		return false;
	f->all[f->count++] = give;
	return true;
}

/* Behind which event the thread began the routine that ends at this event (pos). */
static uint32_t routine_begin(const struct model *m, uint32_t end)
{
	uint32_t e = model_pred(m, end);
	while (e != MODEL_NONE && (m->events[e].object != m->events[end].object || model_op(m, e) != RT_OP_ONCE_BEGIN))
		e = model_pred(m, e);
	return e == MODEL_NONE ? 0 : m->events[e].pos + 1;
}

/* From where on the thread has what it gives at the event. */
static uint32_t given_from(const struct finding *f, uint32_t e)
{
	const struct model *m = f->w->m;
	uint32_t from = f->facts[m->events[e].object].from;
	if (model_op(m, e) != RT_OP_ONCE_END)
		return 0;
	return from == MODEL_NONE ? routine_begin(m, e) : from;
}

/* All that is given, each time. */
static bool collect(struct finding *f)
{
	const struct model *m = f->w->m;
	bool ok = true;
	for (uint32_t i = 0; ok && i < m->sync_count; i++) {
		uint32_t e = m->sync[i], resource = given_by(m, e), op = model_op(m, e);
		if (resource == MODEL_NONE && op != RT_OP_SEM_INIT && op != RT_OP_SEM_WAIT)
			continue;
		look_at(&f->facts[m->events[e].object], m, e);
		if (op == RT_OP_SEM_INIT)
			f->w->made[m->events[e].object] = e;
		if (resource != MODEL_NONE)
			ok = add(f, (struct resource_give){resource, model_thread_of(m, e), given_from(f, e),
			                                   m->events[e].pos});
	}
	for (uint32_t t = 0; ok && t < m->thread_count; t++)
		ok = add(f, (struct resource_give){m->object_count + t, t, 0, MODEL_NONE});
	if (ok && f->count)
		qsort(f->all, f->count, sizeof *f->all, by_resource);
	return ok;
}

/* True if these threads, `count` of them, the first one of which is given, are certainly all that may give the
 * resource. */
static bool is_known(const struct model *m, const struct object_facts *f, const struct resource_give *first,
                     uint32_t count)
{
	if (first->resource >= m->object_count)
		return true;
	switch (m->objects[first->resource].kind) {
	case OBJECT_ONCE:
		return true;
	case OBJECT_SEMAPHORE:
		return !m->part && !m->losses.count && f->made && count == 1 && f->waiter < SEVERAL &&
		       f->waiter != first->thread;
	case OBJECT_BARRIER:
		return !m->part && !m->losses.count && f->parties == count;
	case OBJECT_CONDITION:
		return !m->part && !m->losses.count && count == 1;
	case OBJECT_LOCK:
	case OBJECT_ANNOTATION:
		break;
	}
	return false;
}

/* Keeps the last time that each thread gives a resource, of resources of which all threads are known that do. */
static void keep_last(struct finding *f)
{
	const struct model *m = f->w->m;
	uint32_t kept = 0;
	for (uint32_t i = 0, end; i < f->count; i = end) {
		uint32_t first = kept, resource = f->all[i].resource;
		for (end = i; end < f->count && f->all[end].resource == resource; end++) {
			bool same = kept > first && f->all[kept - 1].thread == f->all[end].thread;
			kept -= same;
			f->all[kept++] = f->all[end];
		}
		f->w->known[resource] =
		    is_known(m, resource < m->object_count ? &f->facts[resource] : NULL, &f->all[first], kept - first);
		if (!f->w->known[resource])
			kept = first;
	}
	f->count = kept;
}

/* Finds the resources that are waited for by threads that have some themselves. A resource that such a thread gives
 * after its wait is waited for later in the trace. */
static void find_wanted(struct finding *f)
{
	const struct model *m = f->w->m;
	for (uint32_t i = m->sync_count; i-- > 0;) {
		uint32_t e = m->sync[i];
		bool signal = model_op(m, e) == RT_OP_WAIT_END;
		if (!resources_waits(m, e) || (!signal && model_lock_taken(m, e) != MODEL_NONE))
			continue;
		uint32_t resource = resources_wanted(f->w, e, signal);
		if (resource == MODEL_NONE || f->wanted[resource] ||
		    (!m->locksets[resources_locks(m, e)].count && !f->gives[model_thread_of(m, e)]))
			continue;
		f->wanted[resource] = true;
		uint32_t k = lower_bound(n, 0, f->count, f->all[n].resource < resource);
		for (; k < f->count && f->all[k].resource == resource; k++)
			f->gives[f->all[k].thread] = true;
	}
}

/* Lists them by thread. */
static void list(struct finding *f)
{
	struct resources *w = f->w;
	for (uint32_t i = 0; i < f->count; i++)
		if (f->wanted[f->all[i].resource])
			f->all[w->count++] = f->all[i];
	if (f->all)
		qsort(f->all, w->count, sizeof *f->all, by_thread);
	w->gives = f->all;
	for (uint32_t i = 0; i < w->count; i++)
		w->first[w->gives[i].thread + 1]++;
	for (uint32_t t = 0; t < w->m->thread_count; t++)
		w->first[t + 1] += w->first[t];
}

bool resources_find(struct resources *w, const struct model *m)
{
	size_t resources = (size_t)resources_count(m) + 1, threads = (size_t)m->thread_count + 2;
	*w = (struct resources){.m = m,
	                        .known = calloc(resources, sizeof *w->known),
	                        .first = calloc(threads, sizeof *w->first),
	                        .made = calloc((size_t)m->object_count + 1, sizeof *w->made)};
	struct finding f = {.w = w,
	                    .facts = calloc((size_t)m->object_count + 1, sizeof *f.facts),
	                    .wanted = calloc(resources, sizeof *f.wanted),
	                    .gives = calloc(threads, sizeof *f.gives)};
	bool ok = w->known && w->first && w->made && f.facts && f.wanted && f.gives;
	for (uint32_t o = 0; ok && o < m->object_count; o++) {
		f.facts[o].waiter = NO_THREAD;
		f.facts[o].from = w->made[o] = MODEL_NONE;
	}
	for (uint32_t i = 0; ok && i < m->pass_count; i++)
		if (m->passes[i].set != MODEL_NONE)
			f.facts[m->passes[i].once].from = m->passes[i].from;
	ok = ok && collect(&f);
	if (ok) {
		keep_last(&f);
		find_wanted(&f);
		list(&f);
	} else {
		free(f.all);
	}
	free_all(f.facts, f.wanted, f.gives);
	return ok;
}

void resources_release(struct resources *w)
{
	free_all(w->known, w->gives, w->first, w->made);
}
