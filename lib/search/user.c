/*
 * Users' patterns: PECAN's pattern-directed search (section 5.2) for sequences of any shape. Events are bound one by
 * one. Each is reached from those before by its region or its cell and checked against all of them. Threads, cells,
 * regions and accesses are those of the pattern; program order and the partial order relation (POR) allow it. Between
 * two events of one thread no lock excludes the pattern's events there. Two events are a race: they must be next to one
 * another.
 *
 * Unless every tuple is listed, only the few nearest of the accesses that agree in thread, locks, site and POR clock
 * are tried at each place, and each first event has a budget: counts are lower bounds.
 */
#include "lib/search/classes.h"
#include "lib/search/found.h"
#include "lib/search/gap.h"

#include "lib/base/lower_bound.h"

enum { NEAREST = 3, FIRST_BUDGET = 200000, CELLS_OF_ACCESS = 16 };
static const uint64_t TOTAL_BUDGET = 1000000000;

struct user_finder {
	const struct search_context *context;
	const struct model *m;
	const struct pattern *p;
	bool exact;
	uint8_t order[ANOMALY_EVENTS_MAX]; /* places, in the order in which they are bound */
	uint32_t bound;                    /* number of bound places */
	uint32_t set;                      /* the same as bits, by place */
	uint32_t events[ANOMALY_EVENTS_MAX], cells[ANOMALY_EVENTS_MAX]; /* by place; by number of cell */
	uint32_t named;                                                 /* bits, by number of cell: bound */
	struct classes tried[ANOMALY_EVENTS_MAX];                       /* number of tries, by place in the order */
	uint64_t left, spent;
	struct gaps gaps;
	struct found_list found;
};

/* Plans the order of binding: an event whose region is bound comes first, then one whose cell is. */
static void plan(struct user_finder *s)
{
	const struct pattern *p = s->p;
	uint32_t set = 0;
	for (uint32_t n = 0; n < p->count; n++) {
		uint32_t best = 0, best_ties = 0;
		for (uint32_t i = 0; i < p->count; i++) {
			uint32_t ties = 1;
			for (uint32_t k = 0; k < p->count && !(set >> i & 1); k++)
				if (set >> k & 1)
					ties += (p->regions[k] == p->regions[i] ? 2u : 0) +
					        (p->cells[k] == p->cells[i] ? 1u : 0);
			if (!(set >> i & 1) && ties > best_ties) {
				best = i;
				best_ties = ties;
			}
		}
		s->order[n] = (uint8_t)best;
		set |= 1u << best;
	}
}

static uint32_t region_of(const struct model *m, uint32_t e)
{
	return m->segments[m->events[e].segment].region;
}

/* True if e is ordered before f at this place. An event right after another event of the pattern may follow what that
 * one sees. */
static bool before(const struct user_finder *s, uint32_t e, uint32_t place, uint32_t f)
{
	uint32_t pred = model_pred(s->m, f);
	if (place && s->p->threads[place - 1] == s->p->threads[place] && pred != MODEL_NONE &&
	    rt_op_is_atomic(model_op(s->m, pred)))
		f = pred;
	return s->m->events[e].pos < segment_order_race_horizon(s->context->por, f, model_thread_of(s->m, e));
}

/* True if e at this place and the event bound at place k can be in one tuple. */
static bool agree(const struct user_finder *s, uint32_t place, uint32_t e, uint32_t k)
{
	const struct model *m = s->m;
	uint32_t f = s->events[k], region = region_of(m, e);
	bool thread = model_thread_of(m, e) == model_thread_of(m, f);
	if (e == f || thread != (s->p->threads[place] == s->p->threads[k]))
		return false;
	bool same_region = region != MODEL_NONE && region == region_of(m, f);
	if (same_region != (s->p->regions[place] == s->p->regions[k]) && !(s->p->any >> place & 1) &&
	    !(s->p->any >> k & 1))
		return false;
	if (thread)
		return (place < k) == (e < f);
	return place < k ? !before(s, f, place, e) : !before(s, e, k, f);
}

/* The bound event next to this place, in direction `step`, of the thread of place `of`; MODEL_NONE: none. */
static uint32_t neighbour(const struct user_finder *s, uint32_t place, uint32_t of, int step)
{
	for (int i = (int)place + step; i >= 0 && i < s->p->count; i += step)
		if (s->set >> i & 1 && s->p->threads[i] == s->p->threads[of])
			return s->events[i];
	return MODEL_NONE;
}

/* True if the locks let every event in at its place, between those of other threads. All events are bound. */
static bool admitted(struct user_finder *s)
{
	for (uint32_t i = 0; i < s->p->count; i++)
		for (uint32_t k = 0; k < s->p->count; k++) {
			uint32_t from, to;
			if (s->p->threads[i] == s->p->threads[k])
				continue;
			from = neighbour(s, i, k, -1);
			to = neighbour(s, i, k, 1);
			if (from != MODEL_NONE && to != MODEL_NONE &&
			    !gaps_admit(&s->gaps, gaps_between(&s->gaps, from, to),
			                model_lockset_of(s->m, s->events[i])))
				return false;
		}
	return true;
}

static void match_race(struct user_finder *s)
{
	uint32_t e1 = s->events[0], e2 = s->events[1];
	uint32_t low = e1 < e2 ? e1 : e2, high = e1 < e2 ? e2 : e1;
	/* agree() checked the partial order only in the pattern's order. */
	if (!model_conflict(s->m, e1, e2) || before(s, low, 0, high) ||
	    model_locksets_exclude(s->m, model_lockset_of(s->m, e1), model_lockset_of(s->m, e2)))
		return;
	int order = s->context->c11 ? s->context->hb : s->context->shb;
	bool observed = search_unordered(s->context, order, low, high);
	found_tuple(&s->found, s->p, s->events, observed);
}

static void match(struct user_finder *s)
{
	if (s->p->count == 2) {
		match_race(s);
		return;
	}
	if (!admitted(s))
		return;
	bool observed = s->exact;
	for (uint32_t i = 1; i < s->p->count; i++)
		observed = observed && s->events[i - 1] < s->events[i];
	found_tuple(&s->found, s->p, s->events, observed);
}

/* True if enough accesses like this event were tried at this place. */
static bool tried_enough(struct user_finder *s, uint32_t level, uint32_t e)
{
	const struct model *m = s->m;
	if (s->context->every)
		return false;
	uint32_t segment = m->events[e].segment;
	uint32_t key[CLASS_KEY] = {m->segments[segment].thread,
	                           m->segments[segment].lockset,
	                           m->events[e].site,
	                           s->context->por->segments[segment],
	                           m->events[e].object,
	                           level ? m->segments[segment].region : m->segments[segment].region != MODEL_NONE};
	uint32_t class = classes_index(&s->tried[level], key);
	s->found.failed |= s->tried[level].failed;
	if (s->found.failed)
		return true;
	bool enough = s->tried[level].items[class].count++ >= NEAREST;
	if (enough)
		found_cut(&s->found, m->events[e].site);
	return enough;
}

static void bind(struct user_finder *s);

/* Binds the event with this cell, and continues. */
static void bind_cell(struct user_finder *s, uint32_t place, uint32_t e, uint32_t cell)
{
	uint32_t number = s->p->cells[place], named = s->named;
	for (uint32_t i = 0; i < ANOMALY_EVENTS_MAX; i++)
		if (i != number && named >> i & 1 && s->cells[i] == cell)
			return;
	s->events[place] = e;
	s->cells[number] = cell;
	s->named |= 1u << number;
	s->set |= 1u << place;
	s->bound++;
	bind(s);
	s->bound--;
	s->set &= ~(1u << place);
	s->named = named;
}

/* Tries an event at a place. */
static void try_event(struct user_finder *s, uint32_t place, uint32_t e)
{
	const struct model *m = s->m;
	const struct model_event *event = &m->events[e];
	const struct model_site *site = &m->sites[event->site];
	s->spent++;
	s->left -= s->left > 0;
	if (!rt_op_is_access(site->op) || !pattern_fits(s->p, place, site->op))
		return;
	for (uint32_t k = 0; k < s->p->count; k++)
		if (s->set >> k & 1 && !agree(s, place, e, k))
			return;
	if (tried_enough(s, s->bound, e))
		return;
	uint32_t number = s->p->cells[place];
	if (s->named >> number & 1) {
		uint32_t cell = s->cells[number];
		if (cell >= event->object && cell - event->object < site->cells)
			bind_cell(s, place, e, cell);
		return;
	}
	for (uint32_t i = 0; i < site->cells && i < CELLS_OF_ACCESS; i++)
		if (m->cells[event->object + i].count)
			bind_cell(s, place, e, event->object + i);
}

static bool out_of_budget(const struct user_finder *s)
{
	return s->found.failed || (!s->context->every && !s->left);
}

/* Tries the events of a sorted list from the place of `near` outwards. */
static void try_list(struct user_finder *s, uint32_t place, const uint32_t *list, uint32_t count, uint32_t near)
{
	uint32_t low = lower_bound(middle, 0, count, list[middle] < near);
	for (uint32_t down = low, up = low; (down || up < count) && !out_of_budget(s);) {
		if (up < count)
			try_event(s, place, list[up++]);
		if (down && !out_of_budget(s))
			try_event(s, place, list[--down]);
	}
	if (out_of_budget(s))
		found_cut(&s->found, s->m->events[s->events[s->order[0]]].site);
}

/* Tries the events of the region that contains f. */
static void try_region(struct user_finder *s, uint32_t place, uint32_t f)
{
	const struct model *m = s->m;
	const struct model_region *r = &m->regions[region_of(m, f)];
	const struct model_thread *t = &m->threads[r->thread];
	uint32_t last = r->last == MODEL_NONE || r->last >= t->count ? t->count - 1 : r->last;
	if (r->first <= last)
		try_list(s, place, t->events + r->first, last - r->first + 1, f);
}

/* Binds the next event of the plan. */
static void bind(struct user_finder *s)
{
	const struct model *m = s->m;
	if (s->bound == s->p->count) {
		match(s);
		return;
	}
	uint32_t place = s->order[s->bound], in_region = MODEL_NONE, last = s->events[s->order[s->bound - 1]];
	for (uint32_t k = 0; k < s->p->count; k++)
		if (s->set >> k & 1 && s->p->regions[k] == s->p->regions[place])
			in_region = s->events[k];
	classes_clear(&s->tried[s->bound]);
	if (in_region != MODEL_NONE) {
		if (region_of(m, in_region) != MODEL_NONE)
			try_region(s, place, in_region);
		return;
	}
	const struct model_cell *cell = &m->cells[s->cells[s->p->cells[place]]];
	try_list(s, place, m->cell_events + cell->first, cell->count, last);
}

static enum rt_status search_pattern(struct user_finder *s, struct rt_error *err)
{
	plan(s);
	s->spent = 0;
	classes_clear(&s->tried[0]);
	for (uint32_t e = 0; e < s->m->event_count && !s->found.failed; e++) {
		s->left = FIRST_BUDGET;
		if (rt_op_is_access(model_op(s->m, e)))
			try_event(s, s->order[0], e);
		if (s->spent > TOTAL_BUDGET)
			return rt_error_set(
			    err, RT_EMEMORY,
			    "the search for pattern '%s' takes too long: name more regions, or fewer events",
			    s->p->name);
	}
	return RT_OK;
}

enum rt_status user_search(const struct search_context *c, struct anomaly_list *list, struct rt_error *err)
{
	struct user_finder s = {
	    .context = c, .m = c->m, .exact = rt_trace_info(c->m->trace)->exact, .found = {.context = c, .list = list}};
	enum rt_status status = RT_OK;
	s.found.failed = !gaps_init(&s.gaps, c->m);
	for (s.p = c->user; s.p->name && !status && !s.found.failed; s.p++)
		status = search_pattern(&s, err);
	s.found.failed |= s.gaps.failed;
	gaps_release(&s.gaps);
	for (int i = 0; i < ANOMALY_EVENTS_MAX; i++)
		classes_release(&s.tried[i]);
	struct rt_error ignored;
	enum rt_status finished = found_finish(&s.found, status ? &ignored : err);
	return status ? status : finished;
}
