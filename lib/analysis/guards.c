/* Locks that guard none of the variables accessed under them; see guards.h. The idea of a guard is RacerX's (SOSP
 * 2003). */
#include "lib/analysis/guards.h"

#include "lib/analysis/binary.h"
#include "lib/search/classes.h"

#include <stdlib.h>

/* A hold of at least this number of events is nearly a thread's whole life if it has this share of its events. */
enum { LONG_EVENTS = 32, LONG_PERCENT = 90 };

struct guarded_cells {
	const struct model *m;
	bool program;
	struct snippets sources;
	/* Memo of answers, in a class's `first`: by cell, thread and lock, twice; by cell; by region and lock; by site
	 * and cell. */
	struct classes guarded, held, atomic, lifelong, machine;
};

/* The memo of a class; *known: it is set. */
static uint32_t *answer(struct classes *c, const uint32_t key[CLASS_KEY], bool *known)
{
	uint32_t index = classes_index(c, key);
	if (c->failed)
		return NULL;
	*known = c->items[index].count;
	c->items[index].count = 1;
	return &c->items[index].first;
}

/* True if this thread, or one of the others, holds the lock at an access of the cell. */
static bool is_held_by(struct guarded_cells *g, struct classes *answers, bool others, uint32_t cell, uint32_t thread,
                       uint32_t lock)
{
	const struct model *m = g->m;
	bool known;
	uint32_t *is = answer(answers, (uint32_t[CLASS_KEY]){cell, thread, lock}, &known);
	if (!is || known)
		return !is || *is;
	const uint32_t *events = &m->cell_events[m->cells[cell].first];
	*is = 0;
	for (uint32_t i = 0; i < m->cells[cell].count && !*is; i++)
		*is = (model_thread_of(m, events[i]) != thread) == others &&
		      model_lockset_lock(m, model_lockset_of(m, events[i]), lock);
	return *is;
}

/* True if another thread holds the lock at an access of the cell. */
static bool is_guarded(struct guarded_cells *g, uint32_t cell, uint32_t thread, uint32_t lock)
{
	return is_held_by(g, &g->guarded, true, cell, thread, lock);
}

/* True if this thread holds the lock at an access of the cell. */
static bool is_held(struct guarded_cells *g, uint32_t cell, uint32_t thread, uint32_t lock)
{
	return is_held_by(g, &g->held, false, cell, thread, lock);
}

/* True of an atomic operation, and of what may be one. */
static bool may_be_atomic(struct guarded_cells *g, uint32_t e)
{
	const struct model *m = g->m;
	bool known;
	if (rt_op_is_atomic(model_op(m, e)) || !rt_trace_info(m->trace)->binary)
		return rt_op_is_atomic(model_op(m, e));
	uint32_t *may = answer(&g->machine, (uint32_t[CLASS_KEY]){m->events[e].site, m->events[e].object}, &known);
	if (may && !known)
		*may = binary_may_be_atomic(m, &g->sources, e);
	return may && *may;
}

/*
 * True if the cell is accessed by atomic operations alone once a second thread has come. Before that, constructors
 * initialise atomic objects by plain writes; and in the end its block is freed.
 */
static bool is_atomic(struct guarded_cells *g, uint32_t cell)
{
	const struct model *m = g->m;
	bool known;
	uint32_t *is = answer(&g->atomic, (uint32_t[CLASS_KEY]){cell}, &known);
	if (!is || known)
		return is && *is;
	const uint32_t *events = &m->cell_events[m->cells[cell].first];
	bool shared = false;
	*is = 1;
	for (uint32_t i = 0; i < m->cells[cell].count && *is; i++) {
		shared |= model_thread_of(m, events[i]) != model_thread_of(m, events[0]);
		bool freed = m->sites[m->events[events[i]].site].flags & RT_F_FREE;
		*is = !shared || freed || may_be_atomic(g, events[i]);
	}
	*is &= shared || may_be_atomic(g, events[0]);
	return *is;
}

/* True if the hold of the lock around the event covers nearly all of its thread's events. */
static bool is_lifelong(struct guarded_cells *g, uint32_t e, uint32_t lock)
{
	const struct model *m = g->m;
	uint32_t thread = model_thread_of(m, e);
	const struct model_thread *t = &m->threads[thread];
	bool known;
	uint32_t key[CLASS_KEY] = {thread, lock, m->segments[m->events[e].segment].region};
	uint32_t *is = answer(&g->lifelong, key, &known);
	if (!is || known)
		return is && *is;
	uint32_t first = m->events[e].pos, end = first + 1;
	while (first && model_lockset_lock(m, model_lockset_of(m, t->events[first - 1]), lock))
		first--;
	while (end < t->count && model_lockset_lock(m, model_lockset_of(m, t->events[end]), lock))
		end++;
	bool forks = false;
	for (uint32_t i = first; i < end && g->program && !forks; i++)
		forks = model_op(m, t->events[i]) == RT_OP_FORK;
	*is =
	    (forks || end - first >= LONG_EVENTS) && (uint64_t)(end - first) * 100 >= (uint64_t)t->count * LONG_PERCENT;
	return *is;
}

static uint32_t cells_end(const struct model *m, uint32_t e)
{
	return m->events[e].object + m->sites[m->events[e].site].cells;
}

/* True if one of the thread's events of the instance is an atomic operation on a cell with atomic operations only. */
static bool has_atomic(struct guarded_cells *g, const uint32_t *events, uint32_t count, uint32_t thread)
{
	const struct model *m = g->m;
	for (uint32_t i = 0; i < count; i++) {
		bool atomic = model_thread_of(m, events[i]) == thread && may_be_atomic(g, events[i]);
		for (uint32_t cell = m->events[events[i]].object; cell < cells_end(m, events[i]) && atomic; cell++)
			atomic = is_atomic(g, cell);
		if (atomic)
			return true;
	}
	return false;
}

/* True if one of the instance's other threads holds the lock at any access of the cell. */
static bool is_guarded_here(struct guarded_cells *g, const uint32_t *events, uint32_t count, uint32_t cell,
                            uint32_t thread, uint32_t lock)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t other = model_thread_of(g->m, events[i]);
		if (other != thread && is_held(g, cell, other, lock))
			return true;
	}
	return false;
}

/*
 * True if the thread's events of the instance are in a critical section that is no unit of work. Atomic operations need
 * no lock: with one among the events, a lock is a guard only if the threads in between respect it elsewhere.
 */
static bool is_idle(struct guarded_cells *g, const uint32_t *events, uint32_t count, uint32_t thread)
{
	const struct model *m = g->m;
	uint32_t first = MODEL_NONE;
	bool atomic = has_atomic(g, events, count, thread), idle = atomic;
	for (uint32_t i = 0; i < count && first == MODEL_NONE; i++)
		if (model_thread_of(m, events[i]) == thread)
			first = events[i];
	uint32_t region = m->segments[m->events[first].segment].region;
	const struct model_lockset *locks = &m->locksets[model_lockset_of(m, first)];
	for (uint32_t i = 0; i < count; i++) {
		if (model_thread_of(m, events[i]) != thread)
			continue;
		/* A single event, or an annotated region: locks do not matter. */
		if (region == MODEL_NONE || m->segments[m->events[events[i]].segment].region != region)
			return false;
		for (uint32_t cell = m->events[events[i]].object; cell < cells_end(m, events[i]); cell++)
			for (uint32_t k = 0; k < locks->count; k++) {
				uint32_t lock = locks->locks[k].object;
				if (atomic ? is_guarded_here(g, events, count, cell, thread, lock)
				           : is_guarded(g, cell, thread, lock))
					return false;
			}
	}
	for (uint32_t k = 0; k < locks->count && !idle; k++)
		idle = is_lifelong(g, first, locks->locks[k].object);
	return idle && locks->count;
}

/* True if the instance has a thread with several events that are no unit of work. */
static bool has_idle(struct guarded_cells *g, const uint32_t *events, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t thread = model_thread_of(g->m, events[i]), own = 0;
		for (uint32_t k = 0; k < count; k++)
			own += model_thread_of(g->m, events[k]) == thread;
		if (own > 1 && is_idle(g, events, count, thread))
			return true;
	}
	return false;
}

bool guards_cap(const struct model *m, bool program, struct anomaly_list *list)
{
	struct guarded_cells g = {.m = m, .program = program, .sources = {.trace = m->trace}};
	for (size_t i = 0; i < list->count; i++) {
		struct anomaly *a = &list->items[i];
		if (a->kind != ANOMALY_ATOMICITY && a->kind != ANOMALY_ASV)
			continue;
		bool idle = has_idle(&g, a->events, a->event_count);
		for (uint32_t k = 0; k < a->other_count && idle; k++)
			idle = has_idle(&g, a->others + (size_t)k * a->event_count, a->event_count);
		if (idle)
			anomaly_cap(a, REASON_UNGUARDED, NULL);
	}
	bool ok = !g.guarded.failed && !g.held.failed && !g.atomic.failed && !g.lifelong.failed && !g.machine.failed &&
	          !g.sources.no_memory;
	classes_release(&g.guarded);
	classes_release(&g.held);
	classes_release(&g.atomic);
	classes_release(&g.lifelong);
	classes_release(&g.machine);
	snippets_release(&g.sources);
	return ok;
}
