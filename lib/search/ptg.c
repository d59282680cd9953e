/*
 * The graph; see ptg.h. Its solid edges are derived from the clocks of the partial order relation: where an event's
 * clock has more of another thread than its predecessor's, an edge from the last of these events ends. So it is the
 * graph of the relation that the searches use.
 */
#include "lib/search/ptg.h"

#include "lib/base/free.h"
#include "lib/base/lower_bound.h"
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
	/* By cell: first the accesses that only read, then those that write; model.cell_events mixes them. */
	uint32_t *kinds;
	uint32_t *reads; /* number of the cell's accesses that only read */
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

static bool make_kinds(struct ptg *g)
{
	const struct model *m = g->m;
	uint32_t entries = model_entries(m);
	g->kinds = malloc(((size_t)entries + 1) * sizeof *g->kinds);
	g->reads = calloc((size_t)m->cell_count + 1, sizeof *g->reads);
	if (!g->kinds || !g->reads)
		return false;
	for (uint32_t c = 0; c < m->cell_count; c++) {
		uint32_t first = m->cells[c].first, end = first + m->cells[c].count, at = first;
		for (int writes = 0; writes < 2; writes++) {
			for (uint32_t i = first; i < end; i++)
				if (rt_op_writes(model_op(m, m->cell_events[i])) == writes)
					g->kinds[at++] = m->cell_events[i];
			if (!writes)
				g->reads[c] = at - first;
		}
	}
	return true;
}

struct ptg *ptg_create(const struct model *m, const struct segment_order *por)
{
	struct ptg *g = calloc(1, sizeof *g);
	if (!g)
		return NULL;
	g->m = m;
	g->por = por;
	if (make_edges(g) && make_kinds(g))
		return g;
	ptg_free(g);
	return NULL;
}

void ptg_free(struct ptg *g)
{
	if (!g)
		return;
	free_all(g->first, g->sources, g->kinds, g->reads, g);
}

struct ptg_list ptg_of_thread(const struct ptg *g, uint32_t thread)
{
	return (struct ptg_list){g->m->threads[thread].events, g->m->threads[thread].count};
}

struct ptg_list ptg_of_cell(const struct ptg *g, uint32_t cell)
{
	return (struct ptg_list){g->m->cell_events + g->m->cells[cell].first, g->m->cells[cell].count};
}

struct ptg_list ptg_of_kind(const struct ptg *g, uint32_t cell, bool writes)
{
	const uint32_t *all = g->kinds + g->m->cells[cell].first;
	uint32_t reads = g->reads[cell];
	return writes ? (struct ptg_list){all + reads, g->m->cells[cell].count - reads} : (struct ptg_list){all, reads};
}

struct ptg_list ptg_of_region(const struct ptg *g, uint32_t region)
{
	const struct model_region *r = &g->m->regions[region];
	const struct model_thread *t = &g->m->threads[r->thread];
	uint32_t end = r->last == MODEL_NONE || r->last >= t->count ? t->count : r->last + 1;
	return (struct ptg_list){t->events + r->first, r->first < end ? end - r->first : 0};
}

struct ptg_list ptg_por_into(const struct ptg *g, uint32_t e)
{
	uint32_t segment = g->m->events[e].segment;
	if (g->m->segments[segment].first != g->m->events[e].pos)
		return (struct ptg_list){NULL, 0};
	return (struct ptg_list){g->sources + g->first[segment], g->first[segment + 1] - g->first[segment]};
}

bool ptg_por(const struct ptg *g, uint32_t e1, uint32_t e2)
{
	return e1 != e2 && segment_order_before(g->por, e1, e2);
}

/* Place of e among the cell's accesses, or where it would be inserted. */
static uint32_t place_in_cell(const struct ptg_list *accesses, uint32_t e)
{
	return lower_bound(middle, 0, accesses->count, accesses->events[middle] < e);
}

uint32_t ptg_tor_after(const struct ptg *g, uint32_t e, uint32_t cell)
{
	struct ptg_list accesses = ptg_of_cell(g, cell);
	uint32_t i = place_in_cell(&accesses, e);
	return i + 1 < accesses.count && accesses.events[i] == e ? accesses.events[i + 1] : MODEL_NONE;
}

uint32_t ptg_tor_before(const struct ptg *g, uint32_t e, uint32_t cell)
{
	struct ptg_list accesses = ptg_of_cell(g, cell);
	uint32_t i = place_in_cell(&accesses, e);
	return i && i < accesses.count && accesses.events[i] == e ? accesses.events[i - 1] : MODEL_NONE;
}
