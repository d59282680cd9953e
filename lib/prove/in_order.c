/* Reaching a goal in the order of the trace; see in_order.h. */
#include "lib/prove/in_order.h"

#include <string.h>

struct in_order {
	const struct needs *needs;
	const struct model *m;
	const struct goal *goal;
	const struct trf *sees;
	uint32_t *at; /* by thread: number of events executed */
	uint64_t budget, spent;
};

/* True if the sequence's events occur in its order in the trace. Its last one then comes last. */
static bool is_ascending(const struct goal *g)
{
	for (uint32_t i = 1; i < g->count; i++)
		if (g->events[i] <= g->events[i - 1])
			return false;
	return true;
}

/* True if e, or an event that it needs if reads see what they saw, comes after a goal event that is not executed or is
 * the last. e is then left out. */
static bool needs_goal(const struct in_order *o, uint32_t e)
{
	const struct model *m = o->m;
	uint32_t clock = trf_clock(o->sees, e), own = model_thread_of(m, e);
	uint32_t first = o->goal->kind == GOAL_SEQUENCE ? o->goal->count - 1 : 0;
	for (uint32_t i = first; i < o->goal->count; i++) {
		uint32_t x = o->goal->events[i], thread = model_thread_of(m, x);
		uint32_t known = thread == own ? m->events[e].pos + 1 : clock_get(&o->sees->clocks, clock, thread);
		if (known > m->events[x].pos)
			return true;
	}
	return false;
}

/* Adds e and the events that it needs if reads see what they saw. */
static void include(struct in_order *o, uint32_t e)
{
	uint32_t clock = trf_clock(o->sees, e), own = model_thread_of(o->m, e);
	for (uint32_t t = 0; t < o->m->thread_count; t++) {
		uint32_t known = t == own ? o->m->events[e].pos + 1 : clock_get(&o->sees->clocks, clock, t);
		o->at[t] = known > o->at[t] ? known : o->at[t];
	}
}

/* Adds the writes that a read of the executed part saw, if they are missing and allowed. */
static void include_seen(struct in_order *o, uint32_t e)
{
	const struct model *m = o->m;
	uint32_t first = m->events[e].object, end = first + m->sites[m->events[e].site].cells, entry = MODEL_NONE;
	for (uint32_t cell = first; cell < end; cell++) {
		entry = reads_entry(o->needs->reads, e, cell, entry);
		uint32_t before = last_writes_before(o->needs->reads->last_writes, entry);
		uint32_t w = before == MODEL_NONE ? MODEL_NONE : m->cell_events[before];
		if (w != MODEL_NONE && m->events[w].pos >= o->at[model_thread_of(m, w)] && !needs_goal(o, w))
			include(o, w);
	}
}

/* The first event that is left out: reads before it see what they saw. */
static uint32_t first_left_out(const struct in_order *o)
{
	uint32_t first = o->m->event_count;
	for (uint32_t t = 0; t < o->m->thread_count; t++)
		if (o->at[t] < o->m->threads[t].count && o->m->threads[t].events[o->at[t]] < first)
			first = o->m->threads[t].events[o->at[t]];
	return first;
}

/* False if the budget ran out. Added events need no check: their reads see what they saw. */
static bool include_all_seen(struct in_order *o)
{
	const struct model *m = o->m;
	uint32_t first = first_left_out(o);
	for (uint32_t t = 0; t < m->thread_count; t++) {
		uint32_t from = model_executed(m, t, first), end = o->needs->must[t];
		o->spent += end > from ? end - from : 0;
		if (o->spent > o->budget)
			return false;
		for (uint32_t pos = from; pos < end; pos++) {
			uint32_t e = m->threads[t].events[pos];
			if (rt_op_is_access(model_op(m, e)) && rt_op_reads(model_op(m, e)))
				include_seen(o, e);
		}
	}
	return true;
}

enum search_answer in_order_goal(struct needs *needs, uint32_t *at, const struct goal *goal, const struct trf *sees,
                                 uint64_t budget, struct schedule *out, uint64_t *spent)
{
	const struct model *m = needs->m;
	struct in_order o = {.needs = needs, .m = m, .goal = goal, .sees = sees, .at = at, .budget = budget};
	size_t size = m->thread_count * sizeof *at;
	if (!needs_find(needs, goal))
		return SEARCH_NONE;
	if (goal->kind == GOAL_SEQUENCE && !is_ascending(goal))
		return SEARCH_GAVE_UP;
	memcpy(at, needs->must, size);
	bool ok = include_all_seen(&o);
	*spent = o.spent;
	if (!ok || !base_keeps_locks(needs->base, at))
		memcpy(at, needs->must, size);
	if (!base_keeps_locks(needs->base, at))
		return SEARCH_GAVE_UP;
	return schedule_push_recorded(out, m, at, m->event_count) ? SEARCH_FOUND : SEARCH_NO_MEMORY;
}
