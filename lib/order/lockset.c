/*
 * lockset: Eraser (Savage et al. 1997; the survey of Kang 2004, section 6.1). Each cell goes from virgin to exclusive
 * (one thread) to shared (read by another) or shared-modified (written by another); its candidate locks are those held
 * at every access since it left exclusive. A pair is unordered if, at its second access, the cell is shared-modified
 * and has no candidate left. For a write only locks held as a writer count.
 *
 * lockset0: the refinement alone, without the states (the survey's figure 3): a cell's candidates are the locks held at
 * each of its accesses, by any thread.
 *
 * A cell that only atomic operations access needs no lock.
 */
#include "lib/base/vec.h"
#include "lib/order/builtin.h"

struct order_result {
	const struct model *m;
	uint32_t *failed_at; /* by cell: the event that left it without candidates; MODEL_NONE: none */
};

/* Candidate locks of the current cell. */
struct candidates {
	uint32_t *locks; /* object indices, sorted */
	uint32_t count, capacity;
	bool failed;
};

static void start_with(struct candidates *c, const struct model_lockset *set, bool writes)
{
	if (!vec_reserve(&c->locks, &c->capacity, set->count, sizeof *c->locks)) {
		c->failed = true;
		return;
	}
	c->count = 0;
	for (uint32_t i = 0; i < set->count; i++)
		if (!writes || !set->locks[i].shared)
			c->locks[c->count++] = set->locks[i].object;
}

static void intersect(struct candidates *c, const struct model_lockset *set, bool writes)
{
	uint32_t kept = 0;
	for (uint32_t i = 0, j = 0; i < c->count && j < set->count;) {
		if (c->locks[i] < set->locks[j].object) {
			i++;
		} else if (c->locks[i] > set->locks[j].object) {
			j++;
		} else {
			if (!writes || !set->locks[j].shared)
				c->locks[kept++] = c->locks[i];
			i++;
			j++;
		}
	}
	c->count = kept;
}

static uint32_t run_states(const struct model *m, const struct model_cell *cell, struct candidates *c)
{
	const uint32_t *events = &m->cell_events[cell->first];
	bool exclusive = true, modified = false;
	uint32_t owner = cell->count ? model_thread_of(m, events[0]) : 0;
	for (uint32_t i = 0; i < cell->count; i++) {
		bool writes = rt_op_writes(model_op(m, events[i]));
		if (exclusive && model_thread_of(m, events[i]) == owner)
			continue;
		const struct model_lockset *held = &m->locksets[model_lockset_of(m, events[i])];
		if (exclusive)
			start_with(c, held, writes);
		else
			intersect(c, held, writes);
		exclusive = false;
		modified |= writes;
		if (modified && !c->count)
			return events[i];
	}
	return MODEL_NONE;
}

static uint32_t run_plainly(const struct model *m, const struct model_cell *cell, struct candidates *c)
{
	const uint32_t *events = &m->cell_events[cell->first];
	for (uint32_t i = 0; i < cell->count; i++) {
		bool writes = rt_op_writes(model_op(m, events[i]));
		const struct model_lockset *held = &m->locksets[model_lockset_of(m, events[i])];
		if (i == 0)
			start_with(c, held, writes);
		else
			intersect(c, held, writes);
		if (!c->count)
			return events[i];
	}
	return MODEL_NONE;
}

static bool all_atomic(const struct model *m, const struct model_cell *cell)
{
	for (uint32_t i = 0; i < cell->count; i++)
		if (!rt_op_is_atomic(model_op(m, m->cell_events[cell->first + i])))
			return false;
	return true;
}

void lockset_free(struct order_result *r)
{
	if (!r)
		return;
	free(r->failed_at);
	free(r);
}

typedef uint32_t run_cell(const struct model *m, const struct model_cell *cell, struct candidates *c);

static enum rt_status compute(const struct model *m, run_cell *run, struct order_result **out, struct rt_error *err)
{
	struct order_result *r = calloc(1, sizeof *r);
	struct candidates c = {0};
	*out = r;
	if (r && (r->failed_at = malloc(((size_t)m->cell_count + 1) * sizeof *r->failed_at))) {
		r->m = m;
		for (uint32_t i = 0; i < m->cell_count; i++)
			r->failed_at[i] = all_atomic(m, &m->cells[i]) ? MODEL_NONE : run(m, &m->cells[i], &c);
		free(c.locks);
		if (!c.failed)
			return RT_OK;
	}
	lockset_free(r);
	*out = NULL;
	return rt_error_set(err, RT_EMEMORY, "no memory for the locks of the trace's cells");
}

enum rt_status lockset_compute(struct facts *f, struct order_result **out, struct rt_error *err)
{
	return compute(f->m, run_states, out, err);
}

enum rt_status lockset0_compute(struct facts *f, struct order_result **out, struct rt_error *err)
{
	return compute(f->m, run_plainly, out, err);
}

uint32_t lockset_warned_at(const struct order_result *r, uint32_t cell)
{
	return r->failed_at[cell];
}

bool lockset_unordered(const struct order_result *r, uint32_t e1, uint32_t e2)
{
	const struct model *m = r->m;
	uint32_t first1 = m->events[e1].object, first2 = m->events[e2].object;
	uint32_t end1 = first1 + m->sites[m->events[e1].site].cells, end2 = first2 + m->sites[m->events[e2].site].cells;
	for (uint32_t c = first1 > first2 ? first1 : first2; c < end1 && c < end2; c++)
		if (r->failed_at[c] <= e2)
			return true;
	return false;
}
