/*
 * Loads that wait for what a once-routine does, as at a ONCE_SEEN (model_once_passed): of a static local's guard, and
 * of a future's state. Once the routine is over, callers load a word and go on without a call. Before that they would
 * wait.
 */
#include "lib/base/lower_bound.h"
#include "lib/base/vec.h"
#include "lib/trace/loader.h"

#include <stdlib.h>
#include <string.h>

/* A once flag that a routine has ended of. */
struct guard {
	uint64_t addr;
	uint32_t object, end; /* end: the last of its routine */
};

struct guards {
	struct guard *items; /* by address */
	uint32_t count, capacity;
};

static uint32_t place_of(const struct guards *g, uint64_t addr)
{
	return lower_bound(i, 0, g->count, g->items[i].addr < addr);
}

static bool end(struct guards *g, uint64_t addr, uint32_t object, uint32_t e)
{
	uint32_t at = place_of(g, addr);
	if (at == g->count || g->items[at].addr != addr) {
		if (!vec_reserve(&g->items, &g->capacity, (uint64_t)g->count + 1, sizeof *g->items))
			return false;
		for (uint32_t i = g->count++; i > at; i--)
			g->items[i] = g->items[i - 1];
	}
	g->items[at] = (struct guard){addr, object, e};
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

/* What libstdc++'s future waits for: its state's word is that far before the once flag of the thread that sets it. */
enum { FLAG_BEHIND_STATE = 8, STATE_SIZE = 4 };

/* True if the position is in the function that waits until the state says that the result is there. */
static bool waits_for_result(const struct model *m, struct rt_trace *trace, uint32_t e)
{
	static const char function[] = "std::__future_base::_State_baseV2::wait";
	size_t n = 0;
	const struct rt_frame *frames = rt_trace_frames(trace, m->sites[m->events[e].site].pc, &n);
	for (size_t i = 0; i < n; i++) {
		const char *name = frames[i].function;
		if (name && !strncmp(name, function, strlen(function)) &&
		    (!name[strlen(function)] || name[strlen(function)] == '('))
			return true;
	}
	return false;
}

/* True if the thread may learn by the event what others have done, as that a task is there for it. */
static bool receives(const struct model *m, uint32_t e)
{
	const struct model_site *site = &m->sites[m->events[e].site];
	bool relaxed = site->order == __ATOMIC_RELAXED || site->order == __ATOMIC_RELEASE;
	return rt_op_has(site->op, RT_TAKES | RT_WAITS) || site->op == RT_OP_HB_AFTER ||
	       (rt_op_is_atomic(site->op) && site->op != RT_OP_ATOMIC_STORE && !relaxed);
}

/* Where the thread that ends the routine there certainly was the one to run it: the last event but one before it by
 * which it may have been told to. It waits at the last one itself before that. */
static uint32_t set_from(const struct model *m, uint32_t end)
{
	uint32_t e = model_pred(m, end), received = 0;
	while (e != MODEL_NONE && (m->events[e].object != m->events[end].object || model_op(m, e) != RT_OP_ONCE_BEGIN))
		e = model_pred(m, e);
	for (e = e == MODEL_NONE ? e : model_pred(m, e); e != MODEL_NONE; e = model_pred(m, e))
		if (receives(m, e) && received++)
			return m->events[e].pos + 1;
	return 0;
}

/* What the load passes: once is MODEL_NONE if it is none of these. */
static struct model_pass pass_of(const struct loader *l, const struct guards *g, uint32_t e)
{
	const struct model *m = l->m;
	struct model_pass pass = {e, passed(m, g, e), MODEL_NONE, 0};
	uint64_t addr = m->cells[m->events[e].object].addr + FLAG_BEHIND_STATE;
	uint32_t at = place_of(g, addr);
	if (pass.once != MODEL_NONE || at == g->count || g->items[at].addr != addr ||
	    m->cells[m->events[e].object].size != STATE_SIZE ||
	    model_thread_of(m, e) == model_thread_of(m, g->items[at].end) || !waits_for_result(m, l->trace, e))
		return pass;
	return (struct model_pass){e, g->items[at].object, g->items[at].end, set_from(m, g->items[at].end)};
}

bool loader_guards(struct loader *l)
{
	struct model *m = l->m;
	struct guards g = {0};
	bool ok = true;
	for (uint32_t i = 0; ok && m->ops >> RT_OP_ONCE_END & 1 && i < m->sync_count; i++) {
		uint32_t e = m->sync[i];
		struct model_pass pass = {.once = MODEL_NONE};
		if (model_op(m, e) == RT_OP_ONCE_END)
			ok = end(&g, m->objects[m->events[e].object].addr, m->events[e].object, e);
		else if (model_op(m, e) == RT_OP_ATOMIC_LOAD && g.count)
			pass = pass_of(l, &g, e);
		if (pass.once == MODEL_NONE)
			continue;
		ok = vec_reserve(&m->passes, &m->pass_capacity, (uint64_t)m->pass_count + 1, sizeof *m->passes);
		if (ok)
			m->passes[m->pass_count++] = pass;
	}
	free(g.items);
	return ok;
}
