/*
 * The graph; see ptg.h. Its solid edges are derived from the clocks of the partial order relation: where an event's
 * clock has more of another thread than its predecessor's, an edge from the last of these events ends. So it is the
 * graph of the relation that the searches use.
 */
#include "lib/search/ptg.h"

#include "lib/base/free.h"
#include "lib/base/sort.h"
#include "lib/base/vec.h"

#include <stdlib.h>
#include <string.h>

enum { REDUCE_MAX = 64 }; /* more sources than this are kept unreduced: reduction takes quadratic time */

struct ptg {
	const struct model *m;
	const struct segment_order *por;
	/* By segment: sources of the edges that end at its first event. */
	uint32_t *first; /* segment_count + 1 */
	uint32_t *sources;
	uint32_t capacity;
};

static uint32_t event_of_segment(const struct model *m, uint32_t segment)
{
	return m->threads[m->segments[segment].thread].events[m->segments[segment].first];
}

/* True if an edge from the source follows from the others'. */
static bool follows(const struct ptg *g, const uint32_t *sources, uint32_t count, uint32_t i)
{
	for (uint32_t k = 0; k < count; k++)
		if (k != i && segment_order_before(g->por, sources[i], sources[k]))
			return true;
	return false;
}

/* Appends the sources of the edges into a segment's first event. */
static bool add_sources(struct ptg *g, uint32_t segment, uint32_t *count)
{
	const struct model *m = g->m;
	uint32_t e = event_of_segment(m, segment), own = m->segments[segment].thread, pred = model_pred(m, e);
	uint32_t begin = *count, kept = begin;
	for (uint32_t t = 0; t < m->thread_count; t++) {
		if (t == own)
			continue;
		uint32_t known = segment_order_horizon(g->por, e, t);
		if (known > m->threads[t].count)
			known = m->threads[t].count;
		if (!known || (pred != MODEL_NONE && known <= segment_order_horizon(g->por, pred, t)))
			continue;
		if (!vec_reserve(&g->sources, &g->capacity, (uint64_t)*count + 1, sizeof *g->sources))
			return false;
		g->sources[(*count)++] = m->threads[t].events[known - 1];
	}
	uint32_t n = *count - begin;
	uint32_t all[REDUCE_MAX];
	if (n > 1 && n <= REDUCE_MAX) {
		memcpy(all, g->sources + begin, n * sizeof *all);
		for (uint32_t i = 0; i < n; i++)
			if (!follows(g, all, n, i))
				g->sources[kept++] = all[i];
		*count = kept;
	}
	if (*count > begin)
		qsort(g->sources + begin, *count - begin, sizeof *g->sources, compare_u32);
	return true;
}

static bool make_edges(struct ptg *g)
{
	uint32_t count = 0;
	g->first = calloc((size_t)g->m->segment_count + 1, sizeof *g->first);
	if (!g->first)
		return false;
	for (uint32_t s = 0; s < g->m->segment_count; s++) {
		g->first[s] = count;
		if (g->m->segments[s].first < g->m->threads[g->m->segments[s].thread].count &&
		    !add_sources(g, s, &count))
			return false;
	}
	g->first[g->m->segment_count] = count;
	return true;
}

struct ptg *ptg_create(const struct model *m, const struct segment_order *por)
{
	struct ptg *g = calloc(1, sizeof *g);
	if (!g)
		return NULL;
	g->m = m;
	g->por = por;
	if (make_edges(g))
		return g;
	ptg_free(g);
	return NULL;
}

void ptg_free(struct ptg *g)
{
	if (!g)
		return;
	free_all(g->first, g->sources, g);
}

struct ptg_list ptg_of_thread(const struct ptg *g, uint32_t thread)
{
	return (struct ptg_list){g->m->threads[thread].events, g->m->threads[thread].count};
}

struct ptg_list ptg_por_into(const struct ptg *g, uint32_t e)
{
	uint32_t segment = g->m->events[e].segment;
	if (g->m->segments[segment].first != g->m->events[e].pos)
		return (struct ptg_list){NULL, 0};
	return (struct ptg_list){g->sources + g->first[segment], g->first[segment + 1] - g->first[segment]};
}

uint32_t ptg_tor_after(const struct ptg *g, uint32_t e, uint32_t cell)
{
	const struct model *m = g->m;
	uint32_t entry = model_entry(m, cell, e), end = m->cells[cell].first + m->cells[cell].count;
	return m->cell_events[entry] == e && entry + 1 < end ? m->cell_events[entry + 1] : MODEL_NONE;
}

uint32_t ptg_tor_before(const struct ptg *g, uint32_t e, uint32_t cell)
{
	const struct model *m = g->m;
	uint32_t entry = model_entry(m, cell, e);
	return m->cell_events[entry] == e && entry > m->cells[cell].first ? m->cell_events[entry - 1] : MODEL_NONE;
}
