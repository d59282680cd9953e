/*
 * Synchronises-with edges of atomics by C11 (5.1.2.4, 7.17.4). A release store heads a release sequence, which the
 * thread's later stores and read-modify-writes of any thread continue. An acquire load that reads from the sequence
 * comes after its head; fences take the place of either side. Reads-from is by trace order, which is exact for atomics.
 * A relaxed atomic orders nothing. A plain write to the cell ends the sequence.
 */
#include "lib/base/vec.h"
#include "lib/relation/sync.h"

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
	for (uint32_t i = 0; i < a->cell_count; i++)
		free(a->cells[i].heads);
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
		a->cells[a->cell_count] = (struct atomic_cell){0};
		a->index[cell] = ++a->cell_count;
	}
	struct atomic_cell *c = &a->cells[a->index[cell] - 1];
	const uint32_t *accesses = &m->cell_events[m->cells[cell].first];
	for (; c->cursor < m->cells[cell].count && accesses[c->cursor] < e; c->cursor++)
		if (model_op(m, accesses[c->cursor]) == RT_OP_WRITE) {
			c->clock = 0;
			c->head_count = 0;
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

/* A store ends the sequences that other threads head. */
static void end_others(struct atomic_cell *c, uint32_t thread)
{
	struct atomic_head own = {0, 0};
	uint32_t kept = 0;
	for (uint32_t i = 0; i < c->head_count; i++)
		if (c->heads[i].thread == thread) {
			own = c->heads[i];
			kept = 1;
		}
	if (kept)
		c->heads[0] = own;
	c->head_count = kept;
	c->clock = own.clock;
}

static void add_head(struct atomics *a, struct atomic_cell *c, uint32_t thread, uint32_t clock)
{
	uint32_t i = 0;
	while (i < c->head_count && c->heads[i].thread != thread)
		i++;
	if (i == c->head_count) {
		if (!vec_reserve(&c->heads, &c->head_capacity, (uint64_t)i + 1, sizeof *c->heads)) {
			a->failed = true;
			return;
		}
		c->heads[c->head_count++] = (struct atomic_head){thread, 0};
	}
	c->heads[i].clock = clock_join(a->clocks, c->heads[i].clock, clock);
	c->clock = clock_join(a->clocks, c->clock, clock);
}

/* full: the thread's clock including the event itself. rmw: continues an existing sequence. */
static void write_to(struct atomics *a, struct atomic_cell *c, uint32_t thread, unsigned order, uint32_t full, bool rmw)
{
	if (!rmw)
		end_others(c, thread);
	if (releases(order))
		add_head(a, c, thread, full);
	else if (a->fence[thread])
		add_head(a, c, thread, a->fence[thread]);
}

uint32_t atomics_receive(struct atomics *a, uint32_t e, uint32_t now)
{
	const struct model_site *site = &a->m->sites[a->m->events[e].site];
	uint32_t first = a->m->events[e].object, thread = model_thread_of(a->m, e);
	if (site->op == RT_OP_FENCE)
		return acquires(site->order) ? clock_join(a->clocks, now, a->pending[thread]) : now;
	for (uint32_t i = 0; i < site->cells && rt_op_reads(site->op); i++) {
		struct atomic_cell *c = sequence(a, first + i, e);
		if (c)
			now = read_from(a, c, thread, site->order, now);
	}
	return now;
}

void atomics_send(struct atomics *a, uint32_t e, uint32_t now)
{
	const struct model_site *site = &a->m->sites[a->m->events[e].site];
	uint32_t first = a->m->events[e].object, thread = model_thread_of(a->m, e);
	uint32_t full = releases(site->order) ? clock_raise(a->clocks, now, thread, a->m->events[e].pos + 1) : 0;
	if (site->op == RT_OP_FENCE && full)
		a->fence[thread] = full;
	for (uint32_t i = 0; i < site->cells && rt_op_writes(site->op); i++) {
		struct atomic_cell *c = sequence(a, first + i, e);
		if (c)
			write_to(a, c, thread, site->order, full, rt_op_reads(site->op));
	}
}
