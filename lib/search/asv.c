/*
 * Atomic-set serializability violations: a unit (a, b) of one thread's region and one (c, d) of another's, each first
 * on one of two cells. In the patterns' order A is a c d b with c on a's cell, B the same with c on b's cell, and C is
 * a c b d with c on b's cell: in all of them c comes between a and b.
 *
 * Candidates are what the constraint model of PECAN allows: the partial order relation (POR) is kept, c (and d, in A
 * and B) comes in between only where no lock held there excludes it, and b likewise between c and d (in C). Of two
 * classes of units, those that POR lets combine are a window that only moves forward, counted in one sweep.
 */
#include "lib/search/found.h"
#include "lib/search/steps.h"
#include "lib/search/units.h"

#include "lib/base/lower_bound.h"
#include "lib/base/vec.h"

#include <string.h>

enum { ORDER_A, ORDER_B, ORDER_C, ASV_ORDERS };
enum { KIND_WW, KIND_WR, KIND_RW, KIND_COUNT };
/* NESTED_MAX units of a class, if they are nested; COUNTED_MAX pairs of classes of two groups, and FULL_MAX pairs of
 * groups, of an anomaly that has its instances. */
enum { NESTED_MAX = 256, COUNTED_MAX = 512, FULL_MAX = 100 };
/* Pairs that are looked at for each class of two cells in any case; else half of what is left of LIMIT_ACCESS_PAIRS. */
enum { PAIRS_A_CLASS = 16 };

struct asv_finder {
	const struct search_context *context;
	const struct model *m;
	const struct segment_order *por;
	const struct pattern *patterns[ASV_ORDERS][KIND_COUNT][KIND_COUNT];
	bool exact;
	struct units units;
	struct found_list found;
	/* Of the cells at hand: */
	struct group *groups;
	uint32_t group_capacity;
	uint64_t looked; /* number of pairs of groups, and of their classes */
	uint64_t pairs;  /* those left for all cells */
	struct search_steps steps;
};

static void find_patterns(struct asv_finder *s)
{
	static const uint8_t threads[ASV_ORDERS][4] = {{0, 1, 1, 0}, {0, 1, 1, 0}, {0, 1, 0, 1}};
	static const uint8_t cells[ASV_ORDERS][4] = {{0, 0, 1, 1}, {0, 1, 0, 1}, {0, 1, 1, 0}};
	static const uint8_t kinds[KIND_COUNT][2] = {
	    {PATTERN_WRITE, PATTERN_WRITE}, {PATTERN_WRITE, PATTERN_READ}, {PATTERN_READ, PATTERN_WRITE}};
	for (int order = 0; order < ASV_ORDERS; order++)
		for (int i = 0; i < KIND_COUNT * KIND_COUNT; i++) {
			const uint8_t *on[2] = {kinds[i / KIND_COUNT], kinds[i % KIND_COUNT]};
			struct pattern p = {.kind = ANOMALY_ASV, .count = 4};
			for (int k = 0; k < 4; k++) {
				p.threads[k] = p.regions[k] = threads[order][k];
				p.cells[k] = cells[order][k];
				p.accesses[k] = on[p.cells[k]][p.threads[k]];
			}
			s->patterns[order][i / KIND_COUNT][i % KIND_COUNT] = pattern_find(&p);
		}
}

static bool admitted(const struct asv_finder *s, int order, const uint32_t *u, const uint32_t *v)
{
	return u[UNIT_THREAD] != v[UNIT_THREAD] && gaps_admit(&s->units.gaps, u[UNIT_GAP], v[UNIT_LOCKS1]) &&
	       (order == ORDER_C ? gaps_admit(&s->units.gaps, v[UNIT_GAP], u[UNIT_LOCKS2])
	                         : gaps_admit(&s->units.gaps, u[UNIT_GAP], v[UNIT_LOCKS2]));
}

/* True if e is one of the events that POR orders before event f of another thread. */
static bool before(const struct asv_finder *s, uint32_t e, uint32_t f)
{
	return s->m->events[e].pos < segment_order_race_horizon(s->por, f, model_thread_of(s->m, e));
}

/* Conditions that later units (c, d) meet more easily: neither is forced to come before a, or d before b (in C). */
static bool late_enough(const struct asv_finder *s, int order, const uint32_t *u, const uint32_t *v)
{
	return !before(s, v[0], u[0]) && (order != ORDER_C || !before(s, v[1], u[1]));
}

/*
 * And those that earlier ones meet more easily: b is not forced to come before d (c, in C). Where d comes right after
 * c, it may follow what c sees.
 */
static bool early_enough(const struct asv_finder *s, int order, const uint32_t *u, const uint32_t *v)
{
	bool next = s->m->events[v[1]].pos == s->m->events[v[0]].pos + 1;
	return !before(s, u[1], v[order == ORDER_C || next ? 0 : 1]);
}

/* True if POR forces u to be first on cell 1 and u' on cell 2: the interleaving is then intended. In A, c and d are on
 * cells 1 and 2. */
static bool forced_after(const struct asv_finder *s, int order, const uint32_t *u, const uint32_t *v)
{
	return before(s, u[0], v[order == ORDER_A ? 0 : 1]);
}
static bool forced_before(const struct asv_finder *s, int order, const uint32_t *u, const uint32_t *v)
{
	return before(s, v[order == ORDER_A ? 1 : 0], u[1]);
}

/* Two classes of units and the order in which they are combined. */
struct match {
	const struct pattern *pattern;
	int order;
	const struct unit *us, *vs;
	uint32_t u_count, v_count;
	struct found *found;
};

/* The events of two units, or their sites, in the pattern's order. */
static void tuple_of(const struct match *x, const uint32_t *u, const uint32_t *v, uint32_t tuple[4])
{
	tuple[0] = u[0];
	tuple[1] = v[0];
	tuple[2] = x->order == ORDER_C ? u[1] : v[1];
	tuple[3] = x->order == ORDER_C ? v[1] : u[1];
}

static void offer(struct asv_finder *s, struct match *x, const uint32_t *u, const uint32_t *v)
{
	uint32_t events[4];
	tuple_of(x, u, v, events);
	bool observed = s->exact && events[0] < events[1] && events[1] < events[2] && events[2] < events[3];
	if (s->context->every)
		found_every(&s->found, x->pattern, events, observed ? FOUND_OBSERVED : FOUND_POSSIBLE);
	else if (steps_take(&s->steps, 1) &&
	         (x->found || (x->found = found_entry(&s->found, x->pattern, events)) != NULL))
		found_offer(&s->found, x->found, events, observed);
}

static bool fits(const struct asv_finder *s, const struct match *x, const uint32_t *u, const uint32_t *v)
{
	return late_enough(s, x->order, u, v) && early_enough(s, x->order, u, v) &&
	       !(forced_after(s, x->order, u, v) && forced_before(s, x->order, u, v));
}

/* Offers the first and last units of both. */
static void offer_units(struct asv_finder *s, struct match *x, const struct unit *u, const struct unit *v)
{
	if (fits(s, x, u->first, v->first))
		offer(s, x, u->first, v->first);
	if (s->context->every)
		return;
	if ((u->count > 1 || v->count > 1) && fits(s, x, u->last, v->last))
		offer(s, x, u->last, v->last);
	if (v->count > 1 && fits(s, x, u->first, v->last))
		offer(s, x, u->first, v->last);
}

/* Position of a sweep in the class of (c, d), and the number of units before it. Each only moves forward. */
struct cursor {
	uint32_t at;
	uint64_t before;
};

static void step(struct cursor *c, const struct match *x)
{
	c->before += x->vs[c->at++].count;
}

static void sweep(struct asv_finder *s, struct match *x)
{
	struct cursor low = {0, 0}, high = {0, 0}, forced = {0, 0}, after = {0, 0};
	uint32_t next = 0;
	for (uint32_t i = 0; i < x->u_count && s->steps.given && !s->found.failed; i++) {
		const struct unit *u = &x->us[i];
		while (low.at < x->v_count && !late_enough(s, x->order, u->first, x->vs[low.at].first))
			step(&low, x);
		if (low.at == x->v_count)
			return;
		while (high.at < x->v_count && early_enough(s, x->order, u->last, x->vs[high.at].first))
			step(&high, x);
		while (forced.at < x->v_count && !forced_after(s, x->order, u->first, x->vs[forced.at].first))
			step(&forced, x);
		while (after.at < x->v_count && forced_before(s, x->order, u->first, x->vs[after.at].first))
			step(&after, x);
		while (next < x->v_count && x->vs[next].first[0] < u->first[0])
			next++;
		uint64_t from = forced.before > low.before ? forced.before : low.before;
		uint64_t to = after.before < high.before ? after.before : high.before;
		uint64_t size = high.before > low.before ? high.before - low.before - (from < to ? to - from : 0) : 0;
		if (!size)
			continue;
		const uint32_t near[] = {next, next - 1, low.at, high.at - 1, after.at};
		for (size_t k = 0; k < sizeof near / sizeof *near; k++)
			if (near[k] >= low.at && near[k] < high.at &&
			    (!x->found || !found_full(&s->found, x->found) || !(i & (i - 1)) || k < 2))
				offer_units(s, x, u, &x->vs[near[k]]);
		/* Offers all of them, as long as all may be kept. */
		for (uint32_t k = low.at; k < high.at && x->found && s->steps.given && !found_full(&s->found, x->found);
		     k++) {
			offer_units(s, x, u, &x->vs[k]);
			if (u->count > 1 || x->vs[k].count > 1)
				found_partial(x->found);
		}
		if (x->found)
			found_count(x->found, size * u->count);
	}
}

/* Without windows: for every pair of units that is listed, and for units that are nested in one another (recursion). */
static void try_all(struct asv_finder *s, struct match *x)
{
	uint32_t u_count = x->u_count, v_count = x->v_count;
	if (!s->context->every && u_count > NESTED_MAX)
		u_count = NESTED_MAX;
	if (!s->context->every && v_count > NESTED_MAX)
		v_count = NESTED_MAX;
	bool left_out = u_count < x->u_count || v_count < x->v_count;
	for (uint32_t i = 0; i < u_count; i++)
		for (uint32_t j = 0; j < v_count && s->steps.given && !s->found.failed; j++) {
			const struct unit *u = &x->us[i], *v = &x->vs[j];
			offer_units(s, x, u, v);
			if (x->found && fits(s, x, u->first, v->first))
				found_count(x->found, (uint64_t)u->count * v->count);
			left_out |= u->count > 1 || v->count > 1;
		}
	if (x->found && left_out)
		found_partial(x->found);
}

/* Combines two classes at the sites of the match. */
static void search_classes(struct asv_finder *s, struct match *x, const struct class *u, const struct class *v)
{
	if (!admitted(s, x->order, u->key, v->key))
		return;
	x->us = s->units.items + u->first;
	x->vs = s->units.items + v->first;
	x->u_count = u->count;
	x->v_count = v->count;
	if (!s->context->every && !steps_take(&s->steps, (uint64_t)u->count + v->count))
		return;
	if (s->context->every || !u->next || !v->next)
		try_all(s, x);
	else if (early_enough(s, x->order, x->us[u->count - 1].last, x->vs[0].first) &&
	         late_enough(s, x->order, x->us[0].first, x->vs[v->count - 1].last))
		sweep(s, x);
}

static const struct class *class_at(const struct asv_finder *s, uint32_t i)
{
	return &s->units.classes.items[i];
}

/* The first class, in order, whose cells are not before these. */
static uint32_t first_of(const struct asv_finder *s, uint32_t cell1, uint32_t cell2)
{
	const uint32_t key[2] = {cell1, cell2};
	return lower_bound(i, 0, s->units.classes.count, memcmp(class_at(s, i)->key, key, sizeof key) < 0);
}

/* The end of the classes that agree with the one at begin in the first `numbers` numbers. */
static uint32_t end_of(const struct asv_finder *s, uint32_t begin, uint32_t numbers)
{
	uint32_t end = begin + 1;
	while (end < s->units.classes.count &&
	       !memcmp(class_at(s, begin)->key, class_at(s, end)->key, numbers * sizeof(uint32_t)))
		end++;
	return end;
}

/* A group of classes: they agree in their cells and sites. */
struct group {
	uint32_t begin, end; /* classes */
	uint64_t positions[2];
	bool writes[2];
};

/* The kinds of two accesses of a cell; -1: no conflict. */
static int kind_of(bool writes, bool other_writes)
{
	return writes ? (other_writes ? KIND_WW : KIND_WR) : other_writes ? KIND_RW : -1;
}

static const struct pattern *pattern_of(const struct asv_finder *s, int order, const struct group *u,
                                        const struct group *v)
{
	bool turned = order != ORDER_A;
	int kind1 = kind_of(u->writes[0], v->writes[turned]), kind2 = kind_of(u->writes[1], v->writes[!turned]);
	return kind1 < 0 || kind2 < 0 ? NULL : s->patterns[order][kind1][kind2];
}

/*
 * True if the anomaly of two groups' sites can gain nothing: it is not known and there is no room for another one, or
 * it has all the instances that it may have, from many groups. x->found: that anomaly, if it is known.
 */
static bool is_settled(struct asv_finder *s, struct match *x, const struct group *u, const struct group *v)
{
	bool c = x->order == ORDER_C;
	const uint64_t positions[4] = {u->positions[0], v->positions[0], c ? u->positions[1] : v->positions[1],
	                               c ? v->positions[1] : u->positions[1]};
	if (s->context->every)
		return false;
	x->found = found_find(&s->found, x->pattern, positions);
	if (!x->found && found_no_more(&s->found)) {
		limits_reach(s->context->lazy->limits, LIMIT_ANOMALIES, true);
		return true;
	}
	if (!x->found || !found_full(&s->found, x->found) || found_full_again(x->found) <= FULL_MAX)
		return false;
	found_partial(x->found);
	return true;
}

/*
 * Combines two groups of classes in an order in which each class comes early. Once the anomaly has its instances, only
 * this many more pairs are counted.
 */
static void search_groups(struct asv_finder *s, int order, const struct group *u, const struct group *v)
{
	struct match x = {.pattern = pattern_of(s, order, u, v), .order = order};
	uint32_t u_count = u->end - u->begin, v_count = v->end - v->begin;
	uint64_t tried = 0, sides = (uint64_t)u_count + v_count;
	uint64_t counted = COUNTED_MAX + sides, most = s->context->lazy->limits->of[LIMIT_COMBINATIONS] + 16 * sides;
	s->looked++;
	if (!x.pattern || is_settled(s, &x, u, v))
		return;
	for (uint32_t turn = 0; turn < v_count; turn++)
		for (uint32_t i = 0; i < u_count && s->steps.given && !s->found.failed; i++) {
			if (!s->context->every && tried > counted && x.found && found_full(&s->found, x.found)) {
				found_partial(x.found);
				return;
			}
			if (!s->context->every && tried++ > most) {
				limits_reach(s->context->lazy->limits, LIMIT_COMBINATIONS, !x.found);
				found_cut(&s->found, class_at(s, u->begin)->key[UNIT_SITE1]);
				return;
			}
			s->looked++;
			search_classes(s, &x, class_at(s, u->begin + i), class_at(s, v->begin + (i + turn) % v_count));
		}
}

/* Lists the groups of the classes from begin to end, which agree in their cells, behind those that are listed. */
static uint32_t list_groups(struct asv_finder *s, uint32_t begin, uint32_t end, uint32_t listed)
{
	while (begin < end && !s->found.failed) {
		if (!vec_reserve(&s->groups, &s->group_capacity, (uint64_t)listed + 1, sizeof *s->groups)) {
			s->found.failed = true;
			break;
		}
		struct group *g = &s->groups[listed++];
		g->begin = begin;
		g->end = begin = end_of(s, begin, UNIT_GROUP);
		for (int i = 0; i < 2; i++) {
			const struct model_site *site = &s->m->sites[class_at(s, g->begin)->key[UNIT_SITE1 + i]];
			g->positions[i] = model_position(site);
			g->writes[i] = rt_op_writes(site->op) != 0;
		}
	}
	return listed;
}

/* Combines the groups: the first `own` are on the cells in one order, as u; the others in the other order. */
static void search_all(struct asv_finder *s, uint32_t own, uint32_t all)
{
	for (uint32_t u = 0; u < own && s->steps.given && !s->found.failed; u++) {
		for (uint32_t v = 0; v < own; v++)
			search_groups(s, ORDER_A, &s->groups[u], &s->groups[v]);
		for (uint32_t v = own; v < all; v++) {
			search_groups(s, ORDER_B, &s->groups[u], &s->groups[v]);
			search_groups(s, ORDER_C, &s->groups[u], &s->groups[v]);
		}
	}
}

/* The same, as far as at most `most` pairs; each group comes early. Of a source position where pairs are left out, no
 * anomaly has all its instances. */
static void search_some(struct asv_finder *s, uint32_t own, uint32_t all, uint64_t most)
{
	for (uint32_t apart = 0; apart < all && s->looked < most && s->steps.given && !s->found.failed; apart++)
		for (uint32_t u = 0; u < own && s->looked < most && s->steps.given; u++) {
			uint32_t v = (u + apart) % all;
			search_groups(s, v < own ? ORDER_A : ORDER_B, &s->groups[u], &s->groups[v]);
			if (v >= own)
				search_groups(s, ORDER_C, &s->groups[u], &s->groups[v]);
		}
	if (s->looked < most)
		return;
	limits_reach(s->context->lazy->limits, LIMIT_ACCESS_PAIRS, true);
	for (uint32_t u = 0; u < own; u++)
		found_cut(&s->found, class_at(s, s->groups[u].begin)->key[UNIT_SITE1]);
}

/* Combines each group of the classes on one pair of cells, as u, with each on the same cells in this or the reverse
 * order, as u'. */
static uint32_t search_cells(struct asv_finder *s, uint32_t begin)
{
	uint32_t end = end_of(s, begin, 2), count = s->units.classes.count;
	uint32_t cell1 = class_at(s, begin)->key[UNIT_CELL1], cell2 = class_at(s, begin)->key[UNIT_CELL2];
	uint32_t turned = first_of(s, cell2, cell1), turned_end = turned;
	if (turned < count && class_at(s, turned)->key[UNIT_CELL1] == cell2 &&
	    class_at(s, turned)->key[UNIT_CELL2] == cell1)
		turned_end = end_of(s, turned, 2);
	uint64_t least = PAIRS_A_CLASS * ((uint64_t)end - begin + turned_end - turned);
	uint64_t most = s->pairs / 2 > least ? s->pairs / 2 : least;
	uint64_t classes = end - begin, pairs = classes * (classes + 2 * (uint64_t)(turned_end - turned));
	uint32_t own = list_groups(s, begin, end, 0), all = list_groups(s, turned, turned_end, own);
	s->looked = 0;
	steps_begin(&s->steps, classes + turned_end - turned, 2 * (uint64_t)count);
	/* Each pair of groups, and each pair of their classes. */
	if (s->context->every || 2 * pairs <= most)
		search_all(s, own, all);
	else
		search_some(s, own, all, most);
	for (uint32_t u = 0; !s->steps.given && u < own; u++)
		found_cut(&s->found, class_at(s, s->groups[u].begin)->key[UNIT_SITE1]);
	s->pairs -= s->looked < s->pairs ? s->looked : s->pairs;
	return end;
}

enum rt_status asv_search(const struct search_context *c, struct anomaly_list *list, struct rt_error *err)
{
	struct asv_finder s = {.context = c,
	                       .m = c->m,
	                       .por = c->por,
	                       .exact = rt_trace_info(c->m->trace)->exact,
	                       .found = {.context = c, .list = list},
	                       .pairs = c->lazy->limits->of[LIMIT_ACCESS_PAIRS],
	                       .steps = steps_of(c->lazy->limits)};
	if (!c->m->region_count)
		return RT_OK;
	find_patterns(&s);
	/* Units take half of the steps; in bytes, too. Beside instances there is twice as much, which reports take
	 * later. */
	uint64_t half = s.steps.all / 2, room = 2 * c->lazy->memory;
	struct units_bounds bounds = {.memory = c->every || (room && room < half) ? room : half, .steps = half};
	s.steps.left = half;
	s.found.failed = !units_find(&s.units, c->m, c->every, bounds);
	if (bounds.memory == half) {
		s.units.some |= s.units.full;
		s.units.full = false;
	}
	limits_reach(c->lazy->limits, LIMIT_SEARCH_STEPS, s.units.some);
	s.found.cut = s.units.some;
	c->lazy->memory_reached |= s.units.full;
	limits_reach(c->lazy->limits, c->every ? LIMIT_EVERY : LIMIT_ANOMALIES, s.units.full);
	limits_reach(c->lazy->limits, LIMIT_REGION_ACCESSES, s.units.cut);
	for (uint32_t i = 0; !s.found.failed && i < s.units.classes.count;)
		i = search_cells(&s, i);
	units_release(&s.units);
	free(s.groups);
	return found_finish(&s.found, err);
}
