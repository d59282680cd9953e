/*
 * Races with the allocation of a block: a thread uses what another allocated, and nothing makes the one happen before
 * the other (struct model_alloc_use). As a race it is a write of the block by its allocation (ThreadSanitizer counts it
 * as one, too); but the use comes after it in every run, whatever else is reordered. So the question is
 * happens-before's alone, no order that predicts may be asked, and there is no witness to be had: at most `predicted`.
 *
 * Not said where it only follows from what is said anyway: from a plain race on the pointer (the use needs the
 * allocation by what its thread read), or where the two threads race in the block itself.
 *
 * If nothing that the user's thread has read depends on the allocation either, its pointer is not the new block's.
 * Where it may know the block that had the memory before, it uses that one, after the free: what races is the free and
 * the use. By C and C++ that is in the run if happens-before leaves the two unordered. A free that happens before the
 * use makes the use wrong as well, but that is no race of the two: then the race with the allocation remains.
 *
 * A free is such a use of the block that was there before: the block is freed twice. It is no use of the new one. The
 * C library frees its own blocks under locks that no trace has: of its frees nothing is said.
 */
#include "lib/base/lower_bound.h"
#include "lib/relation/por.h"
#include "lib/search/found.h"
#include "lib/search/hidden.h"
#include "lib/trace/modules.h"

#define ALLOC_RACE(n, second)                                                                                          \
	{                                                                                                              \
		.name = n, .kind = ANOMALY_RACE, .count = 2, .threads = {0, 1}, .regions = {0, 1}, .accesses = {       \
			PATTERN_WRITE,                                                                                 \
			second                                                                                         \
		}                                                                                                      \
	}
static const struct pattern alloc_read = ALLOC_RACE("w-r", PATTERN_READ);
static const struct pattern alloc_write = ALLOC_RACE("w-w", PATTERN_WRITE);

/* Index of the event with this number, MODEL_NONE: it was not kept. */
static uint32_t event_of(const struct model *m, uint32_t number)
{
	uint32_t low = lower_bound(middle, 0, m->event_count, m->events[middle].number < number);
	return low < m->event_count && m->events[low].number == number ? low : MODEL_NONE;
}

/* True if the use is impossible without the allocation even if what synchronises with nothing is reordered. */
static bool is_needed(const struct search_context *c, uint32_t alloc, uint32_t use)
{
	const struct trf *needs = search_unforced(c);
	return needs && c->m->events[alloc].pos <
	                    clock_get(&needs->clocks, trf_clock_before(needs, use), model_thread_of(c->m, alloc));
}

/* True if the access races with one of the thread in this cell. */
static bool races_in(const struct search_context *c, uint32_t e, uint32_t thread, uint32_t cell)
{
	const struct model *m = c->m;
	for (uint32_t i = m->cells[cell].first; i < m->cells[cell].first + m->cells[cell].count; i++) {
		uint32_t other = m->cell_events[i];
		if (model_thread_of(m, other) == thread && model_conflict(m, e, other) &&
		    search_unordered(c, c->hb, e < other ? e : other, e < other ? other : e))
			return true;
	}
	return false;
}

/* The same in any of its cells. */
static bool races_with(const struct search_context *c, uint32_t e, uint32_t thread)
{
	const struct model *m = c->m;
	if (!rt_op_is_access(model_op(m, e)))
		return true; /* a call on an object */
	for (uint32_t cell = m->events[e].object; cell < m->events[e].object + m->sites[m->events[e].site].cells;
	     cell++)
		if (races_in(c, e, thread, cell))
			return true;
	return false;
}

/*
 * True if the two race in what surrounds the use, up to the next multiples of 8. The loader does not distinguish
 * threads there. Cells that are together in memory for the same time are neighbours.
 */
static bool races_around(const struct search_context *c, const struct model_alloc_use *b)
{
	enum { GRANULE = 8 };
	const struct model *m = c->m;
	uint32_t owner = model_thread_of(m, b->alloc), user = model_thread_of(m, b->use);
	uint32_t first = m->events[b->use].object, last = first + m->sites[m->events[b->use].site].cells - 1;
	while (first > 0 && m->cells[first - 1].addr / GRANULE == m->cells[first].addr / GRANULE &&
	       m->cells[first - 1].addr < m->cells[first].addr)
		first--;
	while (last + 1 < m->cell_count && m->cells[last + 1].addr / GRANULE == m->cells[last].addr / GRANULE &&
	       m->cells[last + 1].addr > m->cells[last].addr)
		last++;
	for (uint32_t cell = first; cell <= last; cell++)
		for (uint32_t i = m->cells[cell].first; i < m->cells[cell].first + m->cells[cell].count; i++) {
			uint32_t e = m->cell_events[i];
			if (model_thread_of(m, e) == user && races_in(c, e, owner, cell))
				return true;
		}
	return false;
}

static bool is_race(const struct search_context *c, const struct model_alloc_use *b)
{
	const struct model *m = c->m;
	if (m->events[b->alloc].pos < segment_order_race_horizon(c->por, b->use, model_thread_of(m, b->alloc)) ||
	    !search_unordered(c, c->hb, b->alloc, b->use) || is_needed(c, b->alloc, b->use))
		return false;
	/* What the owner did there comes after the allocation: if this is unordered with the meeting, so is that. */
	uint32_t meets = b->meets ? event_of(m, b->meets) : MODEL_NONE;
	if (races_around(c, b))
		return false;
	return meets == MODEL_NONE || !races_with(c, meets, model_thread_of(m, b->alloc)) ||
	       !search_unordered(c, c->hb, b->alloc, meets);
}

/* True if what the thread has seen before the event includes an event of another thread that has this number, and
 * that was perhaps not kept. */
static bool knows(const struct search_context *c, const struct trf *needs, uint32_t e, uint32_t thread, uint32_t number)
{
	const struct model *m = c->m;
	const struct model_thread *t = &m->threads[thread];
	if (thread == model_thread_of(m, e))
		return true;
	/* What comes next in its thread: no order begins at an event that was not kept. */
	uint32_t next = lower_bound(i, 0, t->count, m->events[t->events[i]].number <= number);
	return next < t->count && t->events[next] < e &&
	       (next < clock_get(&needs->clocks, trf_clock_before(needs, e), thread) ||
	        !search_unordered(c, c->hb, t->events[next], e));
}

/* True if the use, which races with the allocation, is one of the block that had the memory before. */
static bool is_stale(const struct search_context *c, const struct model_alloc_use *b)
{
	const struct model *m = c->m;
	const struct trf *needs = search_needs(c);
	return needs && c->c11 && b->freed != MODEL_NONE && b->former &&
	       model_thread_of(m, b->freed) != model_thread_of(m, b->use) &&
	       !hidden_between(c->hidden, c, b->freed, b->use) && search_unordered(c, c->hb, b->freed, b->use) &&
	       m->events[b->alloc].pos >=
	           clock_get(&needs->clocks, trf_clock_before(needs, b->use), model_thread_of(m, b->alloc)) &&
	       knows(c, needs, b->use, b->former_owner, b->former);
}

static bool is_by_system(const struct model *m, uint32_t e)
{
	const struct rt_module *module = module_at(m->trace, m->sites[m->events[e].site].pc);
	return module && module_is_system(module->path);
}

/* True if the use is a free that is not known to be a second one of the program's own. */
static bool is_only_free(const struct model *m, const struct model_alloc_use *b, bool stale)
{
	return m->sites[m->events[b->use].site].flags & RT_F_FREE &&
	       (!stale || is_by_system(m, b->use) || is_by_system(m, b->freed));
}

void alloc_race_search(struct found_list *l)
{
	const struct search_context *c = l->context;
	for (uint32_t i = 0; i < c->m->alloc_use_count && !l->failed; i++) {
		const struct model_alloc_use *b = &c->m->alloc_uses[i];
		if (!is_race(c, b))
			continue;
		const struct pattern *p = rt_op_writes(model_op(c->m, b->use)) ? &alloc_write : &alloc_read;
		bool stale = is_stale(c, b);
		if (is_only_free(c->m, b, stale))
			continue;
		uint32_t events[] = {stale ? b->freed : b->alloc, b->use};
		if (c->every) {
			found_every(l, p, events, stale ? FOUND_OBSERVED : FOUND_POSSIBLE);
			continue;
		}
		struct found *f = found_entry(l, p, events);
		if (!f)
			continue;
		found_count(f, 1);
		if (stale)
			found_represent(f, events, FOUND_OBSERVED);
		else
			found_keep(l, f, events, 1);
	}
}
