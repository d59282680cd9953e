/* The base of a search; see base.h. */
#include "lib/prove/state/base.h"

#include "lib/base/lower_bound.h"

#include <string.h>

/* Rounds after which it gives up: the threads hardly communicate. */
enum { ROUNDS_MAX = 256 };

uint32_t base_count(const struct base *b, const struct section_group *g, uint32_t pos)
{
	const struct sections *s = b->sections;
	uint32_t next = model_next(b->m, g->thread, pos);
	return lower_bound(i, g->first, g->first + g->count, s->items[s->sorted[i]].acquire < next) - g->first;
}

const struct section *base_section(const struct base *b, uint32_t thread, uint32_t lock, uint32_t pos)
{
	const struct sections *s = b->sections;
	uint32_t end = s->lock_first[lock + 1];
	uint32_t i = lower_bound(g, s->lock_first[lock], end, s->groups[g].thread < thread);
	const struct section_group *g = &s->groups[i];
	uint32_t n = i < end && g->thread == thread ? base_count(b, g, pos) : 0;
	return n ? &s->items[s->sorted[g->first + n - 1]] : NULL;
}

const struct section *base_next(const struct base *b, const struct section *open, const uint32_t *at, uint32_t *place)
{
	enum { NEAR = 16 };
	const struct sections *s = b->sections;
	const uint32_t *history = s->by_place + s->place_first[open->lock];
	uint32_t count = s->place_first[open->lock + 1] - s->place_first[open->lock];
	while (++*place < count && *place - open->place <= NEAR) {
		const struct section *other = &s->items[history[*place]];
		if (other->thread != open->thread && b->m->events[other->acquire].pos < at[other->thread])
			return other;
	}
	return NULL;
}

/* The clock of what e, the first event after the base, comes after. A goal's event may read anything. */
static uint32_t clock_after(const struct base *b, const struct goal *goal, uint32_t e)
{
	for (uint32_t i = 0; i < goal->count; i++)
		if (goal->events[i] == e)
			return goal_awaits_signal(b->m, goal->events, goal->count, i) ? trf_clock_unsignalled(b->trf, e)
			                                                              : trf_clock_before(b->trf, e);
	return trf_clock(b->trf, e);
}

/* Lowers the base to the events that the first event after it in every thread comes after. */
static bool lower_to_common(const struct base *b, const struct goal *goal, const uint32_t *bound, uint32_t *at)
{
	const struct model *m = b->m;
	uint32_t *left = b->work->threads,
	         count = 0; /* threads with events of the base; soon few, or none is lowered */
	bool changed = false;
	for (uint32_t t = 0; t < m->thread_count; t++)
		if (at[t])
			left[count++] = t;
	b->work->looked_at += m->thread_count;
	for (uint32_t t = 0; t < m->thread_count && count; t++) {
		if (at[t] >= bound[t])
			continue;
		uint32_t clock = clock_after(b, goal, m->threads[t].events[at[t]]), kept = 0;
		b->work->looked_at += count;
		for (uint32_t i = 0; i < count; i++) {
			uint32_t u = left[i], n = u != t ? clock_get(&b->trf->clocks, clock, u) : at[u];
			if (n < at[u]) {
				at[u] = n;
				changed = true;
			}
			left[kept] = u;
			kept += at[u] > 0;
		}
		count = kept;
	}
	return changed;
}

/* True if another thread has a section of the base, on the lock of an open one, after it. */
static bool taken_later(const struct base *b, const struct section *open, const uint32_t *at)
{
	const struct sections *s = b->sections;
	uint32_t next = open->place;
	for (const struct section *other; (other = base_next(b, open, at, &next));)
		if (sections_exclude(other, open))
			return true;
	for (uint32_t i = s->lock_first[open->lock]; i < s->lock_first[open->lock + 1]; i++) {
		const struct section_group *g = &s->groups[i];
		uint32_t n = base_has_later(b, g, open) ? base_count(b, g, at[g->thread]) : 0;
		for (; n; n--) {
			const struct section *other = &s->items[s->sorted[g->first + n - 1]];
			if (other->place < open->place)
				break;
			if (sections_exclude(other, open))
				return true;
		}
	}
	return false;
}

/* Removes from the base what is held at its end and was taken by another thread later. */
static bool lower_to_locks(const struct base *b, uint32_t *at)
{
	const struct model *m = b->m;
	bool changed = false;
	for (uint32_t t = 0; t < m->thread_count; t++) {
		const struct model_lockset *held = base_held(m, t, at[t]);
		for (uint32_t i = 0; i < held->count; i++) {
			const struct section *open = base_section(b, t, held->locks[i].object, at[t]);
			if (open && taken_later(b, open, at)) {
				at[t] = m->events[open->acquire].pos;
				changed = true;
				break;
			}
		}
	}
	return changed;
}

bool base_keeps_locks(const struct base *b, const uint32_t *at)
{
	for (uint32_t t = 0; t < b->m->thread_count; t++) {
		const struct model_lockset *held = base_held(b->m, t, at[t]);
		for (uint32_t i = 0; i < held->count; i++) {
			const struct section *open = base_section(b, t, held->locks[i].object, at[t]);
			if (open && taken_later(b, open, at))
				return false;
		}
	}
	return true;
}

void base_find(const struct base *b, const struct goal *goal, const uint32_t *must, const uint32_t *bound, uint32_t *at)
{
	const struct model *m = b->m;
	memcpy(at, must, m->thread_count * sizeof *at);
	for (uint32_t i = 0; i < goal->count; i++) {
		uint32_t thread = model_thread_of(m, goal->events[i]), pos = m->events[goal->events[i]].pos;
		/* Signals may have to come before such a wait begins. */
		pos -= goal_awaits_signal(m, goal->events, goal->count, i);
		at[thread] = pos < at[thread] ? pos : at[thread];
	}
	for (uint32_t round = 0; round < ROUNDS_MAX; round++)
		if (!lower_to_common(b, goal, bound, at) && !lower_to_locks(b, at))
			return;
	memset(at, 0, m->thread_count * sizeof *at);
}
