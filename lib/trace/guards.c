/*
 * Loads of a static local's guard. Once its initialisation is over, callers load the guard's first byte and go on
 * without a call. Before that they would wait for the initialisation, as at a ONCE_SEEN (model_once_passed).
 */
#include "lib/base/lower_bound.h"
#include "lib/base/vec.h"
#include "lib/trace/loader.h"

#include <stdlib.h>

/* A once flag that a routine has ended of. */
struct guard {
	uint64_t addr;
	uint32_t object;
};

struct guards {
	struct guard *items; /* by address */
	uint32_t count, capacity;
};

static uint32_t place_of(const struct guards *g, uint64_t addr)
{
	return lower_bound(i, 0, g->count, g->items[i].addr < addr);
}

static bool end(struct guards *g, uint64_t addr, uint32_t object)
{
	uint32_t at = place_of(g, addr);
	if (at == g->count || g->items[at].addr != addr) {
		if (!vec_reserve(&g->items, &g->capacity, (uint64_t)g->count + 1, sizeof *g->items))
			return false;
		for (uint32_t i = g->count++; i > at; i--)
			g->items[i] = g->items[i - 1];
	}
	g->items[at] = (struct guard){addr, object};
	return true;
}

/* The once flag whose first byte the load finds set; MODEL_NONE. If it is not set, its thread calls next what waits. */
static uint32_t passed(const struct model *m, const struct guards *g, uint32_t e)
{
	uint64_t addr = m->cells[m->events[e].object].addr;
	uint32_t at = place_of(g, addr), next = model_next(m, model_thread_of(m, e), m->events[e].pos + 1);
	if (at == g->count || g->items[at].addr != addr || m->sites[m->events[e].site].cells != 1)
		return MODEL_NONE;
	bool calls = next != MODEL_NONE && rt_op_group(model_op(m, next)) == RT_GROUP_ONCE &&
	             m->events[next].object == g->items[at].object;
	return calls ? MODEL_NONE : g->items[at].object;
}

bool loader_guards(struct loader *l)
{
	struct model *m = l->m;
	struct guards g = {0};
	bool ok = true;
	for (uint32_t i = 0; ok && m->ops >> RT_OP_ONCE_END & 1 && i < m->sync_count; i++) {
		uint32_t e = m->sync[i], once = MODEL_NONE;
		if (model_op(m, e) == RT_OP_ONCE_END)
			ok = end(&g, m->objects[m->events[e].object].addr, m->events[e].object);
		else if (model_op(m, e) == RT_OP_ATOMIC_LOAD && g.count)
			once = passed(m, &g, e);
		if (once == MODEL_NONE)
			continue;
		ok = vec_reserve(&m->passes, &m->pass_capacity, (uint64_t)m->pass_count + 1, sizeof *m->passes);
		if (ok)
			m->passes[m->pass_count++] = (struct model_pass){e, once};
	}
	free(g.items);
	return ok;
}
