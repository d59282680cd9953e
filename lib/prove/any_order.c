/* Schedules with uncertain reads that are possible in whatever order the run was; see certain_state.h. */
#include "lib/prove/certain_state.h"

#include <stdlib.h>
#include <string.h>

/* Events that a schedule may have, and accesses that are looked at for it. */
enum { EVENTS_MAX = 1 << 20, LOOKS_MAX = 1 << 22 };

struct any_order {
	struct certain *c;
	const struct schedule *s;
	const uint32_t *goal;
	uint32_t goal_count;
	uint32_t *executed; /* by thread: number of its events in the closed part */
	uint32_t *need;     /* by thread: number of its events that a closed part has */
	uint32_t unmet;     /* threads of which it needs more than are executed */
	uint64_t cut;       /* number of the schedule's events in the closed part */
	uint64_t looks;
};

/* Calls f for the schedule's events, from the first one on, until it returns false. */
static void each(struct any_order *t, bool (*f)(struct any_order *t, uint32_t e, uint64_t k))
{
	uint64_t k = 0;
	for (uint32_t i = 0; i < t->s->count; i++)
		for (uint32_t pos = t->s->steps[i].from; pos <= t->s->steps[i].to; pos++, k++)
			if (!f(t, t->c->m->threads[t->s->steps[i].thread].events[pos], k))
				return;
}

static bool is_goal(const struct any_order *t, uint32_t e)
{
	for (uint32_t i = 0; i < t->goal_count; i++)
		if (t->goal[i] == e)
			return true;
	return false;
}

/* ---- The closed part ---- */

static void require(struct any_order *t, uint32_t thread, uint32_t count)
{
	if (count <= t->need[thread])
		return;
	t->unmet += t->need[thread] <= t->executed[thread] && count > t->executed[thread];
	t->need[thread] = count;
}

static void require_thread(void *t, uint32_t thread, uint32_t count)
{
	require(t, thread, count);
}

/* Requires what comes before the event, as far as it does not come before its thread's event before it as well. */
static void require_before(struct any_order *t, uint32_t e)
{
	const struct model *m = t->c->m;
	const struct segment_order *hb = t->c->hb;
	uint32_t thread = model_thread_of(m, e), pos = m->events[e].pos, known = 0;
	if (pos && t->executed[thread] == pos)
		known = hb->segments[m->events[m->threads[thread].events[pos - 1]].segment];
	clock_each_other(&hb->clocks, hb->segments[m->events[e].segment], known, require_thread, t);
}

static bool require_write(void *arg, uint32_t write)
{
	struct any_order *t = arg;
	const struct model *m = t->c->m;
	require(t, model_thread_of(m, write), m->events[write].pos + 1);
	return true;
}

static bool extend(struct any_order *t, uint32_t e, uint64_t k)
{
	const struct model *m = t->c->m;
	const struct model_event *event = &m->events[e];
	uint32_t thread = model_thread_of(m, e);
	if (is_goal(t, e) || k == EVENTS_MAX)
		return false;
	require_before(t, e);
	t->unmet -= t->need[thread] > t->executed[thread] && t->need[thread] <= event->pos + 1;
	t->executed[thread] = event->pos + 1;
	if (!certain_writers(t->c, e, LOOKS_MAX, require_write, t))
		return false;
	if (!t->unmet)
		t->cut = k + 1;
	return true;
}

static bool execute(struct any_order *t, uint32_t e, uint64_t k)
{
	if (k >= t->cut)
		return false;
	t->executed[model_thread_of(t->c->m, e)] = t->c->m->events[e].pos + 1;
	return true;
}

/* ---- What comes after it ---- */

/* Leaves of the writes by thread those that may be the last: no other one comes after them. */
static void keep_last(const struct certain *c, const uint32_t *writes, uint32_t *last)
{
	for (uint32_t i = 0; i < c->writer_count; i++) {
		uint32_t w = writes[c->writers[i]];
		bool covered = false;
		for (uint32_t k = 0; w != MODEL_NONE && k < c->writer_count && !covered; k++) {
			uint32_t other = writes[c->writers[k]];
			covered = other != MODEL_NONE && other != w && segment_order_before(c->hb, w, other);
		}
		last[i] = covered ? MODEL_NONE : w;
	}
}

/*
 * Lists by thread the last write in the closed part (c->last) and the last one before the read (c->before). False if a
 * write races with the read.
 */
static bool gather(struct any_order *t, uint32_t e, uint32_t cell)
{
	struct certain *c = t->c;
	const struct model *m = c->m;
	bool ordered = true;
	for (uint32_t i = m->cells[cell].first; i < m->cells[cell].first + m->cells[cell].count; i++, t->looks++) {
		uint32_t w = m->cell_events[i], thread = model_thread_of(m, w);
		if (!rt_op_writes(model_op(m, w)) || w == e)
			continue;
		bool inside = m->events[w].pos < t->executed[thread], exact = certain_exact_pair(m, w, e);
		bool before = segment_order_before(c->hb, w, e) || (exact && w < e);
		ordered &= before || exact || segment_order_before(c->hb, e, w);
		if (!inside && !before)
			continue;
		if (c->last[thread] == MODEL_NONE && c->before[thread] == MODEL_NONE)
			c->writers[c->writer_count++] = thread;
		c->last[thread] = inside ? w : c->last[thread];
		c->before[thread] = before ? w : c->before[thread];
	}
	return ordered;
}

/* True if the read sees what it saw, whichever write of the closed part was the cell's last. */
static bool sees_the_closed_part(struct any_order *t, uint32_t e, uint32_t cell)
{
	struct certain *c = t->c;
	bool settled = gather(t, e, cell), valued = true, any = false;
	uint32_t *last = malloc(2 * ((size_t)c->writer_count + 1) * sizeof *last);
	uint32_t *seen = last ? last + c->writer_count + 1 : NULL;
	if (last) {
		keep_last(c, c->last, last);
		keep_last(c, c->before, seen);
	}
	for (uint32_t i = 0; last && i < c->writer_count; i++) {
		settled &= last[i] == seen[i];
		if (last[i] == MODEL_NONE)
			continue;
		any = true;
		valued &= certain_sees_the_same(c, e, cell, model_entry(c->m, cell, last[i]));
	}
	valued &= any || certain_sees_the_same(c, e, cell, MODEL_NONE);
	while (c->writer_count) {
		uint32_t thread = c->writers[--c->writer_count];
		c->last[thread] = c->before[thread] = MODEL_NONE;
	}
	bool sees = last && (settled || valued);
	free(last);
	return sees;
}

/* True if the goal's event may see another write: its thread stops there, or goes on to the goal's next event. */
static bool may_see_other(const struct any_order *t, uint32_t e)
{
	const struct model *m = t->c->m;
	for (uint32_t i = 0; i < t->goal_count; i++)
		if (t->goal[i] == e)
			return !certain_runs_on(m, t->s, t->goal, t->goal_count, i);
	return false;
}

static bool check(struct any_order *t, uint32_t e, uint64_t k)
{
	struct certain *c = t->c;
	const struct model *m = c->m;
	const struct model_site *site = &m->sites[m->events[e].site];
	uint32_t cell = m->events[e].object, end = cell + site->cells;
	if (!rt_op_is_access(site->op))
		return true;
	uint32_t thread = model_thread_of(m, e);
	bool free = may_see_other(t, e), same = true, updating = c->updating[thread];
	for (; k >= t->cut && cell < end; cell++) {
		uint32_t latest = c->latest[cell];
		if (rt_op_reads(site->op) && !free)
			same &= latest == MODEL_NONE ? sees_the_closed_part(t, e, cell)
			                             : !c->changed[cell] && certain_sees_the_same(c, e, cell, latest);
		if (rt_op_writes(site->op)) {
			c->latest[cell] = model_entry(m, cell, e);
			c->changed[cell] = updating;
		}
	}
	c->updating[thread] = !same && model_is_update(m, e);
	if (!same && !c->updating[thread])
		t->looks = UINT64_MAX / 2;
	return t->looks < LOOKS_MAX;
}

bool certain_in_any_order(struct certain *c, const struct schedule *s, const uint32_t *goal, uint32_t goal_count)
{
	size_t threads = (size_t)c->m->thread_count + 1;
	struct any_order t = {.c = c, .s = s, .goal = goal, .goal_count = goal_count};
	t.executed = calloc(threads, sizeof *t.executed);
	t.need = calloc(threads, sizeof *t.need);
	bool settled = t.executed && t.need;
	if (settled) {
		each(&t, extend);
		memset(t.executed, 0, threads * sizeof *t.executed);
		each(&t, execute);
		each(&t, check);
		settled = t.looks < LOOKS_MAX;
		certain_forget(c, s);
	}
	free(t.executed);
	free(t.need);
	return settled;
}
