/* The graph of the writes that reads may have seen; see follow_graph.h. */
#include "lib/analysis/follow_graph.h"

#include "lib/base/free.h"
#include "lib/base/hash.h"
#include "lib/base/lower_bound.h"
#include "lib/base/vec.h"
#include "lib/trace/contract.h"

#include <stdlib.h>
#include <string.h>

struct follow_labels {
	struct follow_label key;
	uint32_t number;
	UT_hash_handle hh;
};

bool follow_graph_init(struct follow_graph *g, const struct model *m, const struct segment_order *hb, bool exact,
                       uint64_t bound)
{
	size_t threads = (size_t)m->thread_count + 1;
	*g = (struct follow_graph){.m = m, .order = hb, .exact = exact, .bound = bound};
	g->of_thread = calloc(threads + 1, sizeof *g->of_thread);
	g->arrived = malloc(threads * sizeof *g->arrived);
	g->known = malloc(threads * sizeof *g->known);
	g->begins = malloc(((size_t)m->segment_count + 1) * sizeof *g->begins);
	g->ends = malloc(((size_t)m->segment_count + 1) * sizeof *g->ends);
	g->next_turn = malloc(((size_t)m->turn_count + 1) * sizeof *g->next_turn);
	g->failed = !g->of_thread || !g->arrived || !g->known || !g->begins || !g->ends || !g->next_turn;
	return !g->failed;
}

void follow_graph_release(struct follow_graph *g)
{
	HASH_FREE(g->labels);
	free_all(g->off, g->edges, g->lists, g->of_thread, g->begins, g->ends, g->next_turn, g->nodes, g->arrived,
	         g->known);
	*g = (struct follow_graph){0};
}

uint32_t follow_label(struct follow_graph *g, uint64_t p1, uint64_t p2, bool relaxed, bool make)
{
	struct follow_label key = {p1 < p2 ? p1 : p2, p1 < p2 ? p2 : p1, relaxed};
	struct follow_labels *label;
	g->work++;
	HASH_FIND(hh, g->labels, &key, sizeof key, label);
	if (label)
		return label->number;
	if (!make)
		return MODEL_NONE;
	HASH_MAKE(g->labels, key, key, label);
	if (!label) {
		g->failed = true;
		return MODEL_NONE;
	}
	label->number = g->label_count++;
	return label->number;
}

/* Events of the thread that are ordered before e. */
static uint32_t horizon(struct follow_graph *g, uint32_t e, uint32_t thread)
{
	g->work++;
	return segment_order_horizon(g->order, e, thread);
}

static bool happens_before(struct follow_graph *g, uint32_t e1, uint32_t e2)
{
	return g->m->events[e1].pos < horizon(g, e2, model_thread_of(g->m, e1));
}

static uint32_t event_at(const struct follow_graph *g, uint32_t thread, uint32_t pos)
{
	return g->m->threads[thread].events[pos];
}

/* ---- Edges ---- */

/* True for a write whose value a read may see, which excludes those that stand for free() or for a call on a lock. */
static bool hands_on(const struct model *m, uint32_t e)
{
	return rt_op_writes(model_op(m, e)) && !(m->sites[m->events[e].site].flags & (RT_F_FREE | RT_F_OBJECT));
}

static bool takes(const struct model *m, uint32_t e)
{
	return rt_op_reads(model_op(m, e)) && !(m->sites[m->events[e].site].flags & RT_F_OBJECT);
}

static bool both_atomic(const struct model *m, uint32_t e1, uint32_t e2)
{
	return rt_op_is_atomic(model_op(m, e1)) && rt_op_is_atomic(model_op(m, e2));
}

static void add_edge(struct follow_graph *g, uint32_t label, uint32_t write, uint32_t read, bool doubtful)
{
	const struct model *m = g->m;
	if (!vec_reserve(&g->edges, &g->edge_capacity, (uint64_t)g->edge_count + 1, sizeof *g->edges)) {
		g->failed = true;
		return;
	}
	g->edges[g->edge_count++] = (struct follow_edge){label,    model_thread_of(m, write), model_thread_of(m, read),
	                                                 doubtful, m->events[write].pos,      m->events[read].pos};
}

/* A read saw this write, by the order of the trace. plain: by trace order also for plain accesses. */
static void saw(struct follow_graph *g, uint32_t write, uint32_t read, bool plain)
{
	const struct model *m = g->m;
	bool relaxed = both_atomic(m, write, read);
	if (model_thread_of(m, write) == model_thread_of(m, read) || (!relaxed && !plain) ||
	    happens_before(g, write, read))
		return;
	uint64_t from = model_position_of(m, write), to = model_position_of(m, read);
	uint32_t label = follow_label(g, from, to, relaxed, false);
	/* Nobody can mend what the C++ library has relaxed. */
	if (label == MODEL_NONE && relaxed && !contract_counts_waiters(m->trace, m->sites[m->events[write].site].pc))
		label = follow_label(g, from, to, relaxed, true);
	if (label != MODEL_NONE)
		add_edge(g, label, write, read, false);
}

/* Adds the edges of a cell from each read's last write. */
static void add_seen(struct follow_graph *g, const struct model_cell *cell, bool plain)
{
	uint32_t write = MODEL_NONE;
	for (uint32_t i = 0; i < cell->count && !follow_spent(g); i++) {
		uint32_t e = g->m->cell_events[cell->first + i];
		if (write != MODEL_NONE && takes(g->m, e))
			saw(g, write, e, plain);
		if (rt_op_writes(model_op(g->m, e)))
			write = hands_on(g->m, e) ? e : MODEL_NONE;
	}
}

/* An access took place after the event `begin` and before the event `end`. */
struct access {
	uint32_t event, begin, end;
};
/* A cell's accesses of one thread at one site. */
struct accesses {
	uint32_t thread, site;
	const struct access *items;
	uint32_t count;
};

static int by_class(const void *x, const void *y, void *model)
{
	const struct model *m = model;
	uint32_t a = ((const struct access *)x)->event, b = ((const struct access *)y)->event;
	uint32_t ta = model_thread_of(m, a), tb = model_thread_of(m, b);
	if (ta != tb)
		return ta < tb ? -1 : 1;
	if (m->events[a].site != m->events[b].site)
		return m->events[a].site < m->events[b].site ? -1 : 1;
	return a < b ? -1 : a > b;
}

/* By synchronisation, whose order is exact, and by turns: a turn's time stamp is not later than its events. */
static struct access access_at(const struct follow_graph *g, uint32_t e)
{
	const struct model *m = g->m;
	uint32_t segment = m->events[e].segment;
	struct access a = {e, g->begins[segment], g->ends[segment]};
	uint32_t turn = lower_bound(i, 1, m->turn_count, m->turns[i].first <= e) - 1;
	if (m->turns[turn].first > a.begin)
		a.begin = m->turns[turn].first;
	if (g->next_turn[turn] < a.end)
		a.end = g->next_turn[turn];
	return a;
}

/* The site of what the thread does next; MODEL_NONE: nothing. */
static uint32_t next_site(const struct model *m, uint32_t e)
{
	const struct model_thread *t = &m->threads[model_thread_of(m, e)];
	uint32_t next = m->events[e].pos + 1;
	return next < t->count ? m->events[t->events[next]].site : MODEL_NONE;
}

/* The first of the reads from `first` on after which their thread went on as after their last one. */
static uint32_t as_after_last(const struct model *m, const struct accesses *r, uint32_t first)
{
	uint32_t way = next_site(m, r->items[r->count - 1].event);
	while (next_site(m, r->items[first].event) != way)
		first++;
	return first;
}

/*
 * Adds edges from each of the writes to the first of the reads that may have seen it: reads that neither happened
 * before nor were over. Thread order leads to the later ones. last: the cell's last write of all. A read that saw it
 * goes on as the thread's last read does, as of a flag that ends a loop; an edge to one that does not is doubtful.
 */
static void add_possible(struct follow_graph *g, const struct accesses *w, const struct accesses *r, uint32_t label,
                         uint32_t last)
{
	const struct model *m = g->m;
	for (uint32_t i = 0; i < w->count && !follow_spent(g); i++) {
		uint32_t write = w->items[i].event, before = horizon(g, write, r->thread);
		uint32_t read = lower_bound(
		    k, 0, r->count, m->events[r->items[k].event].pos < before || r->items[k].end <= w->items[i].begin);
		if (read == r->count || happens_before(g, write, r->items[read].event))
			continue;
		uint32_t sure = write == last ? as_after_last(m, r, read) : read;
		add_edge(g, label, write, r->items[read].event, sure != read);
		if (sure != read)
			add_edge(g, label, write, r->items[sure].event, false);
	}
}

static void add_pairs(struct follow_graph *g, const struct accesses *w, const struct accesses *r, uint32_t last)
{
	const struct model *m = g->m;
	uint32_t write = w->items->event, read = r->items->event;
	g->work++;
	if (w->thread == r->thread || !hands_on(m, write) || !takes(m, read) || both_atomic(m, write, read))
		return;
	uint32_t label =
	    follow_label(g, model_position(&m->sites[w->site]), model_position(&m->sites[r->site]), false, false);
	if (label != MODEL_NONE)
		add_possible(g, w, r, label, last);
}

/* Sorts a cell's accesses into classes; returns their number. */
static uint32_t classify(struct follow_graph *g, const struct model_cell *cell, struct access *items,
                         struct accesses *classes)
{
	const struct model *m = g->m;
	uint32_t count = 0;
	for (uint32_t i = 0; i < cell->count; i++)
		items[i] = access_at(g, m->cell_events[cell->first + i]);
	qsort_r(items, cell->count, sizeof *items, by_class, (void *)(uintptr_t)m);
	for (uint32_t i = 0; i < cell->count; i++) {
		uint32_t thread = model_thread_of(m, items[i].event), site = m->events[items[i].event].site;
		if (!count || classes[count - 1].thread != thread || classes[count - 1].site != site)
			classes[count++] = (struct accesses){thread, site, &items[i], 0};
		classes[count - 1].count++;
	}
	return count;
}

static uint32_t last_write(const struct model *m, const struct model_cell *cell)
{
	for (uint32_t i = cell->count; i-- > 0;)
		if (rt_op_writes(model_op(m, m->cell_events[cell->first + i])))
			return m->cell_events[cell->first + i];
	return MODEL_NONE;
}

/*
 * Adds the edges of a cell from each write to the reads that may have seen it. For a cell with very many classes of
 * accesses only those by the order of the trace.
 */
static void add_racing(struct follow_graph *g, const struct model_cell *cell)
{
	enum { PAIRS_EACH = 64, PAIRS = 4096 }; /* pairs of classes: an access, and beside that */
	struct access *items = malloc(((size_t)cell->count + 1) * sizeof *items);
	struct accesses *classes = malloc(((size_t)cell->count + 1) * sizeof *classes);
	g->failed |= !items || !classes;
	uint32_t count = g->failed ? 0 : classify(g, cell, items, classes), last = last_write(g->m, cell);
	g->work += cell->count;
	if ((uint64_t)count * count > (uint64_t)PAIRS_EACH * cell->count + PAIRS) {
		add_seen(g, cell, true);
		count = 0;
	}
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t k = 0; k < count && !follow_spent(g); k++)
			add_pairs(g, &classes[i], &classes[k], last);
	free(items);
	free(classes);
}

static bool is_sync(const struct model *m, uint32_t e)
{
	return !rt_op_is_access(model_op(m, e)) || rt_op_is_atomic(model_op(m, e));
}

/* The synchronisation that a segment begins with; otherwise, or if all of its events were dropped, none. */
static uint32_t sync_first(const struct follow_graph *g, uint32_t segment, uint32_t otherwise)
{
	const struct model *m = g->m;
	uint32_t t = m->segments[segment].thread, pos = m->segments[segment].first;
	uint32_t first = pos < m->threads[t].count ? event_at(g, t, pos) : MODEL_NONE;
	return first != MODEL_NONE && is_sync(m, first) ? first : otherwise;
}

/* A thread's synchronisation around each of its segments, which bounds the time of the segment's events. */
static void find_bounds(struct follow_graph *g)
{
	const struct model *m = g->m;
	uint32_t *last = g->known; /* by thread */
	for (uint32_t t = 0; t < m->thread_count; t++)
		last[t] = m->threads[t].fork == MODEL_NONE ? 0 : m->threads[t].fork;
	for (uint32_t i = 0; i < m->segment_count; i++) {
		uint32_t t = m->segments[i].thread;
		g->begins[i] = last[t] = sync_first(g, i, last[t]);
	}
	for (uint32_t t = 0; t < m->thread_count; t++)
		last[t] = m->threads[t].join;
	for (uint32_t i = m->segment_count; i-- > 0;) {
		uint32_t t = m->segments[i].thread;
		g->ends[i] = last[t];
		last[t] = sync_first(g, i, last[t]);
	}
	for (uint32_t t = 0; t < m->thread_count; t++)
		last[t] = MODEL_NONE;
	for (uint32_t i = m->turn_count; i-- > 0;) {
		g->next_turn[i] = last[m->turns[i].thread];
		last[m->turns[i].thread] = m->turns[i].first;
	}
}

static int compare_edges(const void *x, const void *y)
{
	const struct follow_edge *a = x, *b = y;
	const uint32_t p[] = {a->u, a->v, a->label, a->doubtful, a->w, a->r},
	               q[] = {b->u, b->v, b->label, b->doubtful, b->w, b->r};
	for (size_t i = 0; i < sizeof p / sizeof *p; i++)
		if (p[i] != q[i])
			return p[i] < q[i] ? -1 : 1;
	return 0;
}

static bool same_list(const struct follow_edge *a, const struct follow_edge *b)
{
	return a->u == b->u && a->v == b->v && a->label == b->label && a->doubtful == b->doubtful;
}

/* Leaves out an edge if a later write of its list leads to a read as early. */
static void thin_edges(struct follow_graph *g)
{
	uint32_t kept = g->edge_count;
	for (uint32_t i = g->edge_count; i-- > 0;) {
		const struct follow_edge *e = &g->edges[i];
		if (kept < g->edge_count && same_list(e, &g->edges[kept]) && e->r >= g->edges[kept].r)
			continue;
		g->edges[--kept] = *e;
	}
	g->edge_count -= kept;
	if (g->edge_count)
		memmove(g->edges, g->edges + kept, g->edge_count * sizeof *g->edges);
}

static bool make_lists(struct follow_graph *g)
{
	uint32_t t = 0;
	if (g->edge_count)
		qsort(g->edges, g->edge_count, sizeof *g->edges, compare_edges);
	thin_edges(g);
	g->off = calloc((size_t)g->label_count + 1, sizeof *g->off);
	g->lists = malloc(((size_t)g->edge_count + 1) * sizeof *g->lists);
	if (!g->off || !g->lists)
		return false;
	for (uint32_t i = 0; i < g->edge_count; i++) {
		const struct follow_edge *e = &g->edges[i];
		if (!i || !same_list(e, e - 1))
			g->lists[g->list_count++] = (struct follow_edges){e->label, e->u, e->v, e->doubtful, e, 0};
		g->lists[g->list_count - 1].count++;
	}
	for (uint32_t i = 0; t <= g->m->thread_count; t++) {
		while (i < g->list_count && g->lists[i].u < t)
			i++;
		g->of_thread[t] = i;
	}
	return true;
}

void follow_graph_build(struct follow_graph *g)
{
	const struct model *m = g->m;
	if (!g->exact)
		find_bounds(g);
	for (uint32_t i = 0; i < m->cell_count && !follow_spent(g); i++) {
		add_seen(g, &m->cells[i], g->exact);
		if (!g->exact && g->label_count)
			add_racing(g, &m->cells[i]);
	}
	if (!g->failed)
		g->failed = !make_lists(g);
}

/* ---- Queries ---- */

/* The first event of thread u that comes after the one at pos of thread v; MODEL_NONE if there is none. */
static uint32_t first_after(struct follow_graph *g, uint32_t u, uint32_t v, uint32_t pos)
{
	uint32_t count = g->m->threads[u].count;
	if (u == v)
		return pos;
	if (!count || horizon(g, event_at(g, u, count - 1), v) <= pos)
		return MODEL_NONE;
	return lower_bound(i, 0, count, horizon(g, event_at(g, u, i), v) <= pos);
}

static void arrive(struct follow_graph *g, struct follow_node node)
{
	if (node.pos >= g->arrived[node.thread])
		return;
	if (!vec_reserve(&g->nodes, &g->node_capacity, (uint64_t)g->node_count + 1, sizeof *g->nodes)) {
		g->failed = true;
		return;
	}
	g->arrived[node.thread] = node.pos;
	g->nodes[g->node_count++] = node;
}

/* True if the read is of an update such as x++ of another variable than the pair's: it decides nothing, and what comes
 * after it does not wait for what it saw. */
static bool decides_nothing(const struct follow_graph *g, uint32_t read)
{
	return model_is_update(g->m, read) && g->m->events[read].object != g->cell;
}

/* Follows the edges of thread u from its write at pos on. */
static void follow_edges(struct follow_graph *g, uint32_t u, uint32_t pos, uint32_t parent)
{
	for (uint32_t i = g->of_thread[u]; i < g->of_thread[u + 1]; i++) {
		const struct follow_edges *l = &g->lists[i];
		g->work++;
		if (g->off[l->label] || (l->doubtful && g->strict))
			continue;
		uint32_t at = lower_bound(k, 0, l->count, l->edges[k].w < pos);
		if (at < l->count && !decides_nothing(g, event_at(g, l->v, l->edges[at].r)))
			arrive(g, (struct follow_node){l->v, l->edges[at].r, l->label, event_at(g, u, l->edges[at].w),
			                               parent});
	}
}

/* The event that e comes right after in its thread, or the fork of that; MODEL_NONE if there is none. Reads by e itself
 * do not order it. */
static uint32_t pred_of(const struct follow_graph *g, uint32_t e)
{
	uint32_t before = model_pred(g->m, e);
	return before == MODEL_NONE ? g->m->threads[model_thread_of(g->m, e)].fork : before;
}

uint32_t follow_reaches(struct follow_graph *g, uint32_t e1, uint32_t e2)
{
	size_t threads = g->m->thread_count;
	uint32_t goal = pred_of(g, e2);
	if (goal == MODEL_NONE)
		return MODEL_NONE;
	memset(g->arrived, 0xff, threads * sizeof *g->arrived);
	memset(g->known, 0xff, threads * sizeof *g->known);
	g->node_count = 0;
	g->cell = g->m->events[e1].object;
	arrive(g, (struct follow_node){model_thread_of(g->m, e1), g->m->events[e1].pos, MODEL_NONE, MODEL_NONE, 0});
	for (uint32_t i = 0; i < g->node_count && !follow_spent(g); i++) {
		struct follow_node node = g->nodes[i];
		if (i && node.pos < horizon(g, goal, node.thread))
			return i;
		if (node.pos > g->arrived[node.thread])
			continue; /* an earlier one of its thread was reached since */
		for (uint32_t u = 0; u < threads; u++) {
			if (g->of_thread[u] == g->of_thread[u + 1])
				continue;
			uint32_t pos = first_after(g, u, node.thread, node.pos);
			if (pos >= g->known[u])
				continue;
			g->known[u] = pos;
			follow_edges(g, u, pos, i);
		}
	}
	return MODEL_NONE;
}
