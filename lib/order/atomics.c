/*
 * Synchronises-with edges of atomics by C11 (7.17.3, 7.17.4): a release store heads a release sequence (its thread's
 * later stores and everybody's read-modify-writes go on with it); an acquire load that reads from the sequence comes
 * after its head; fences stand in for either side. Reads-from is by trace order, which is exact for atomics. A relaxed
 * atomic orders nothing. A plain write to the cell ends the sequence.
 */
#include "lib/order/sync.h"
#include "lib/trace/vec.h"

enum { RELAXED, CONSUME, ACQUIRE, RELEASE, ACQ_REL, SEQ_CST };

static bool acquires(unsigned order)
{
	return order != RELAXED && order != RELEASE;
}

static bool releases(unsigned order)
{
	return order >= RELEASE;
}

bool atomics_init(struct atomics *a, const struct model *m, struct clocks *clocks)
{
	memset(a, 0, sizeof *a);
	a->m = m;
	a->clocks = clocks;
	uint64_t atomic = 0;
	for (unsigned op = 0; op < RT_OP_COUNT; op++)
		atomic |= (uint64_t)(rt_op_group(op) == RT_GROUP_ATOMIC) << op;
	if (!(m->ops & atomic))
		return true;
	a->index = calloc((size_t)m->cell_count + 1, sizeof *a->index);
	a->pending = calloc((size_t)m->thread_count + 1, sizeof *a->pending);
	a->fence = calloc((size_t)m->thread_count + 1, sizeof *a->fence);
	return a->index && a->pending && a->fence;
}

void atomics_release(struct atomics *a)
{
	free(a->cells);
	free(a->index);
	free(a->pending);
	free(a->fence);
}

/* The cell's release sequence as of event e; NULL without memory. */
static struct atomic_cell *sequence(struct atomics *a, uint32_t cell, uint32_t e)
{
	const struct model *m = a->m;
	if (!a->index[cell]) {
		if (!vec_reserve(&a->cells, &a->cell_capacity, (uint64_t)a->cell_count + 1, sizeof *a->cells)) {
			a->failed = true;
			return NULL;
		}
		a->cells[a->cell_count] = (struct atomic_cell){.head = MODEL_NONE};
		a->index[cell] = ++a->cell_count;
	}
	struct atomic_cell *c = &a->cells[a->index[cell] - 1];
	const uint32_t *accesses = &m->cell_events[m->cells[cell].first];
	for (; c->cursor < m->cells[cell].count && accesses[c->cursor] < e; c->cursor++)
		if (model_op(m, accesses[c->cursor]) == RT_OP_WRITE) {
			c->clock = 0;
			c->head = MODEL_NONE;
		}
	return c;
}

static uint32_t read_from(struct atomics *a, const struct atomic_cell *c, uint32_t thread, unsigned order, uint32_t now)
{
	if (acquires(order))
		return clock_join(a->clocks, now, c->clock);
	a->pending[thread] = clock_join(a->clocks, a->pending[thread], c->clock);
	return now;
}

/* full: the thread's clock with the event itself. rmw: goes on with whatever sequence there is. */
static void write_to(struct atomics *a, struct atomic_cell *c, uint32_t thread, unsigned order, uint32_t full, bool rmw)
{
	if (!rmw && c->head != thread)
		c->clock = 0;
	if (releases(order)) {
		c->clock = clock_join(a->clocks, c->clock, full);
		c->head = thread;
	} else {
		c->clock = clock_join(a->clocks, c->clock, a->fence[thread]);
		if (a->fence[thread])
			c->head = thread;
		else if (!rmw && c->head != thread)
			c->head = MODEL_NONE;
	}
}

static uint32_t fence(struct atomics *a, uint32_t e, uint32_t now)
{
	uint32_t thread = model_thread_of(a->m, e);
	unsigned order = a->m->sites[a->m->events[e].site].order;
	if (acquires(order))
		now = clock_join(a->clocks, now, a->pending[thread]);
	if (releases(order))
		a->fence[thread] = clock_raise(a->clocks, now, thread, a->m->events[e].pos + 1);
	return now;
}

uint32_t atomics_step(struct atomics *a, uint32_t e, uint32_t now)
{
	const struct model_site *site = &a->m->sites[a->m->events[e].site];
	uint32_t first = a->m->events[e].object, thread = model_thread_of(a->m, e);
	if (site->op == RT_OP_FENCE)
		return fence(a, e, now);
	if (rt_op_reads(site->op))
		for (uint32_t i = 0; i < site->cells; i++) {
			struct atomic_cell *c = sequence(a, first + i, e);
			if (c)
				now = read_from(a, c, thread, site->order, now);
		}
	if (!rt_op_writes(site->op))
		return now;
	uint32_t full = releases(site->order) ? clock_raise(a->clocks, now, thread, a->m->events[e].pos + 1) : 0;
	for (uint32_t i = 0; i < site->cells; i++) {
		struct atomic_cell *c = sequence(a, first + i, e);
		if (c)
			write_to(a, c, thread, site->order, full, rt_op_reads(site->op));
	}
	return now;
}
