/*
 * The causes of observed races; see follow.h.
 *
 * Races are grouped by their two source positions. A group that the edges of the others do not order is a root; only
 * roots and relaxed atomics are causes. In a trace of exact order, the edges that order a follower's edges order the
 * follower as well, so nothing is lost by that, and no race follows itself. In a stamped trace groups may order one
 * another; SHB, by the order of the trace, then decides which are roots. What SHB leaves unordered, no doubtful edge
 * orders.
 */
#include "lib/analysis/follow.h"

#include "lib/analysis/follow_graph.h"
#include "lib/base/vec.h"

#include <stdlib.h>
#include <string.h>

enum { INSTANCES = 32, NAMED_MAX = 16 };

enum standing { UNDECIDED, ROOT, FOLLOWER };

/* The observed races at two source positions; by label. */
struct follow_group {
	uint32_t first;  /* anomaly, MODEL_NONE: relaxed atomics have no group */
	uint32_t e1, e2; /* the instance whose second event comes first in the trace */
	bool unordered;  /* SHB leaves one of them unordered */
	enum standing standing;
	uint32_t named, named_count; /* its causes, in finder.named */
};

struct follow_finder {
	const struct model *m;
	struct facts *facts;
	struct anomaly_list *list;
	struct causes *causes;
	struct follow_graph graph;
	struct follow_group *groups;
	uint32_t group_count;
	struct follow_group *predicted; /* one for each predicted race that may follow another */
	uint32_t predicted_count;
	uint32_t *next;     /* by anomaly: the next one of its group */
	uint32_t *cause_of; /* by label: index into causes; MODEL_NONE: not used so far */
	uint32_t *named, named_count, named_capacity;
	bool no_memory;
};

void causes_release(struct causes *c)
{
	free(c->items);
	free(c->named);
	*c = (struct causes){0};
}

/* ---- Groups ---- */

static bool is_observed_race(const struct follow_finder *f, const struct anomaly *a)
{
	return a->kind == ANOMALY_RACE && a->verdict == VERDICT_OBSERVED && !anomaly_is_of_blocks(f->m, a);
}

static void join_group(struct follow_finder *f, uint32_t label, uint32_t index)
{
	struct follow_group *g = &f->groups[label];
	const struct anomaly *a = &f->list->items[index];
	if (label >= f->group_count)
		*g = (struct follow_group){.first = MODEL_NONE, .e2 = MODEL_NONE};
	f->group_count = label >= f->group_count ? label + 1 : f->group_count;
	f->next[index] = g->first;
	g->first = index;
	g->unordered |= !a->follows;
	if (a->events[1] < g->e2) {
		g->e1 = a->events[0];
		g->e2 = a->events[1];
	}
}

/* A lock orders its events in this run. */
static bool is_predicted_race(const struct follow_finder *f, const struct anomaly *a)
{
	return a->kind == ANOMALY_RACE && a->verdict == VERDICT_PREDICTED && !a->reasons.capped &&
	       !anomaly_is_of_blocks(f->m, a);
}

static void keep_predicted(struct follow_finder *f, uint32_t index)
{
	const struct anomaly *a = &f->list->items[index];
	f->next[index] = MODEL_NONE;
	f->predicted[f->predicted_count++] =
	    (struct follow_group){.first = index, .e1 = a->events[0], .e2 = a->events[1]};
}

/* True if there is a race that may follow another. */
static bool make_groups(struct follow_finder *f)
{
	size_t count = f->list->count;
	bool some = false;
	f->next = calloc(count + 1, sizeof *f->next);
	f->groups = calloc(count + 1, sizeof *f->groups);
	f->predicted = calloc(count + 1, sizeof *f->predicted);
	f->no_memory = !f->next || !f->groups || !f->predicted;
	/* From the last one on, so that the first of a group is its first. */
	for (size_t i = count; !f->no_memory && i-- > 0;) {
		const struct anomaly *a = &f->list->items[i];
		if (is_predicted_race(f, a))
			keep_predicted(f, (uint32_t)i);
		if (!is_observed_race(f, a))
			continue;
		uint32_t label = follow_label(&f->graph, model_position_of(f->m, a->events[0]),
		                              model_position_of(f->m, a->events[1]), false, true);
		if (label == MODEL_NONE)
			return false;
		join_group(f, label, (uint32_t)i);
		some |= a->follows || !f->graph.exact;
	}
	return some || f->predicted_count;
}

/* ---- Roots ---- */

/* The end of a path from one event to the other; in a stamped trace also in the other direction. */
static uint32_t ordered(struct follow_finder *f, uint32_t e1, uint32_t e2)
{
	uint32_t node = follow_reaches(&f->graph, e1, e2);
	return node == MODEL_NONE && !f->graph.exact ? follow_reaches(&f->graph, e2, e1) : node;
}

/* The other kept instances that the graph's order leaves unordered. */
static bool others_ordered(struct follow_finder *f, const struct anomaly *a, uint32_t *asked)
{
	for (uint32_t i = 0; i < a->other_count && *asked < INSTANCES; i++) {
		uint32_t e1 = a->others[(size_t)2 * i], e2 = a->others[(size_t)2 * i + 1];
		if (segment_order_before(f->graph.order, e1, e2))
			continue;
		++*asked;
		if (ordered(f, e1, e2) == MODEL_NONE)
			return false;
	}
	return true;
}

/*
 * True if every examined instance of the group is ordered. In an exact trace that is the first one: SHB has examined
 * all.
 */
static bool all_ordered(struct follow_finder *f, const struct follow_group *g)
{
	uint32_t asked = 1;
	f->graph.strict = g->unordered;
	if (f->graph.exact && g->unordered)
		return false;
	if (ordered(f, g->e1, g->e2) == MODEL_NONE)
		return false;
	for (uint32_t i = g->first; !f->graph.exact && i != MODEL_NONE && asked < INSTANCES; i = f->next[i]) {
		const struct anomaly *a = &f->list->items[i];
		asked++;
		if (ordered(f, a->events[0], a->events[1]) == MODEL_NONE || !others_ordered(f, a, &asked))
			return false;
	}
	return true;
}

/* Sets which edges count: those of roots, of relaxed atomics, and of undecided groups. */
static void count_edges_of(struct follow_finder *f, bool undecided)
{
	for (uint32_t i = 0; i < f->group_count; i++)
		f->graph.off[i] = f->groups[i].standing != ROOT && !undecided;
}

static void find_roots(struct follow_finder *f)
{
	count_edges_of(f, true);
	for (uint32_t i = 0; i < f->group_count && !follow_spent(&f->graph); i++) {
		f->graph.off[i] = true;
		f->groups[i].standing = all_ordered(f, &f->groups[i]) ? UNDECIDED : ROOT;
		f->graph.off[i] = false;
	}
}

/* Groups that the roots order follow. unordered: of the rest, those that SHB leaves unordered become roots; otherwise
 * all do. */
static void find_followers(struct follow_finder *f, bool unordered)
{
	count_edges_of(f, false);
	for (uint32_t i = 0; i < f->group_count && !follow_spent(&f->graph); i++)
		if (f->groups[i].standing == UNDECIDED && all_ordered(f, &f->groups[i]))
			f->groups[i].standing = FOLLOWER;
	for (uint32_t i = 0; i < f->group_count; i++)
		if (f->groups[i].standing == UNDECIDED && (f->groups[i].unordered || !unordered))
			f->groups[i].standing = ROOT;
}

/* ---- Causes ---- */

static uint32_t make_cause(struct follow_finder *f, uint32_t label, uint32_t write, uint32_t read)
{
	struct causes *c = f->causes;
	if (f->cause_of[label] != MODEL_NONE)
		return f->cause_of[label];
	if (!vec_reserve(&c->items, &c->capacity, (uint64_t)c->count + 1, sizeof *c->items)) {
		f->no_memory = true;
		return 0;
	}
	c->items[c->count] = (struct cause){label < f->group_count ? f->groups[label].first : MODEL_NONE, write, read};
	return f->cause_of[label] = c->count++;
}

static void name(struct follow_finder *f, struct follow_group *g, const struct follow_node *node)
{
	uint32_t read = f->m->threads[node->thread].events[node->pos];
	uint32_t cause = make_cause(f, node->label, node->write, read);
	if (!vec_reserve(&f->named, &f->named_capacity, (uint64_t)f->named_count + 1, sizeof *f->named)) {
		f->no_memory = true;
		return;
	}
	if (!g->named_count)
		g->named = f->named_count;
	f->named[f->named_count++] = cause;
	g->named_count++;
}

/* The edges of a path, from its end on; returns their number. */
static uint32_t edges_of(const struct follow_finder *f, uint32_t node, struct follow_node *path)
{
	uint32_t count = 0;
	for (; count < NAMED_MAX && f->graph.nodes[node].label != MODEL_NONE; node = f->graph.nodes[node].parent)
		path[count++] = f->graph.nodes[node];
	return count;
}

/* Records each group on the path without whose edges the pair is not ordered. */
static bool name_needed(struct follow_finder *f, struct follow_group *g, const struct follow_node *path, uint32_t count)
{
	bool *off = f->graph.off, any = false;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t label = path[i].label;
		if (off[label])
			continue;
		off[label] = true;
		bool needed = ordered(f, g->e1, g->e2) == MODEL_NONE && !follow_spent(&f->graph);
		off[label] = false;
		bool known = false;
		for (uint32_t k = 0; k < i; k++)
			known |= path[k].label == label;
		if (needed && !known)
			name(f, g, &path[i]);
		any |= needed;
	}
	return any;
}

/*
 * No group is needed alone: removes one after the other until the pair is unordered, and records those that alone still
 * order it.
 */
static void name_cut(struct follow_finder *f, struct follow_group *g)
{
	struct follow_node path[NAMED_MAX], cut[NAMED_MAX];
	bool *off = f->graph.off;
	uint32_t count = 0, node;
	while (count < NAMED_MAX && (node = ordered(f, g->e1, g->e2)) != MODEL_NONE && edges_of(f, node, path)) {
		off[path[0].label] = true;
		cut[count++] = path[0];
	}
	for (uint32_t i = 0; i < count; i++) {
		off[cut[i].label] = false;
		if (ordered(f, g->e1, g->e2) == MODEL_NONE)
			continue;
		off[cut[i].label] = true;
		name(f, g, &cut[i]);
	}
	for (uint32_t i = 0; i < count; i++)
		off[cut[i].label] = false;
}

static void name_causes(struct follow_finder *f, struct follow_group *g)
{
	struct follow_node path[NAMED_MAX];
	f->graph.strict = g->unordered;
	uint32_t node = ordered(f, g->e1, g->e2);
	if (node == MODEL_NONE)
		return;
	uint32_t count = edges_of(f, node, path);
	if (!name_needed(f, g, path, count) && !follow_spent(&f->graph))
		name_cut(f, g);
}

static void find_causes(struct follow_finder *f)
{
	for (uint32_t i = 0; i < f->graph.label_count; i++)
		f->cause_of[i] = MODEL_NONE;
	count_edges_of(f, false);
	for (uint32_t i = 0; i < f->group_count && !follow_spent(&f->graph) && !f->no_memory; i++)
		if (f->groups[i].standing == FOLLOWER)
			name_causes(f, &f->groups[i]);
}

/* Of predicted races: what orders their events in every run, whichever thread gets a lock first. */
static void find_causes_of_predicted(struct follow_finder *f)
{
	f->graph.order = facts_por(f->facts);
	f->no_memory |= !f->graph.order;
	for (uint32_t i = 0; i < f->predicted_count && !follow_spent(&f->graph) && !f->no_memory; i++) {
		struct follow_group *g = &f->predicted[i];
		uint32_t asked = 1;
		/* An atomic that races may itself be what orders the pair. */
		if (!segment_order_before(f->graph.order, g->e1, g->e2) &&
		    others_ordered(f, &f->list->items[g->first], &asked))
			name_causes(f, g);
	}
}

static void decide(struct follow_finder *f)
{
	follow_graph_build(&f->graph);
	f->cause_of = malloc(((size_t)f->graph.label_count + 1) * sizeof *f->cause_of);
	f->no_memory |= !f->cause_of || f->graph.failed;
	if (f->no_memory)
		return;
	find_roots(f);
	find_followers(f, true);
	find_followers(f, false);
	find_causes(f);
	find_causes_of_predicted(f);
	f->no_memory |= f->graph.failed;
	f->causes->cut = follow_spent(&f->graph);
}

static void give_to(struct follow_finder *f, const struct follow_group *g)
{
	for (uint32_t k = g->first; k != MODEL_NONE && g->named_count; k = f->next[k]) {
		struct anomaly *a = &f->list->items[k];
		a->follows = true;
		a->causes = f->named + g->named;
		a->cause_count = g->named_count;
	}
}

/* Stores the causes in the anomalies. */
static void give(struct follow_finder *f)
{
	f->causes->named = f->named;
	for (size_t i = 0; i < f->list->count; i++)
		f->list->items[i].follows = false;
	for (uint32_t i = 0; f->named && i < f->group_count; i++)
		give_to(f, &f->groups[i]);
	for (uint32_t i = 0; f->named && i < f->predicted_count; i++)
		give_to(f, &f->predicted[i]);
	f->named = NULL;
}

enum rt_status follow_find(struct facts *facts, bool exact, uint64_t work, struct anomaly_list *list,
                           struct causes *causes, struct rt_error *err)
{
	struct follow_finder f = {.m = facts->m, .facts = facts, .list = list, .causes = causes};
	const struct segment_order *hb = facts_hb(facts);
	f.no_memory = !hb || !follow_graph_init(&f.graph, f.m, hb, exact, work);
	if (!f.no_memory && list->count < MODEL_NONE && make_groups(&f))
		decide(&f);
	f.no_memory |= f.graph.failed;
	if (!f.no_memory)
		give(&f);
	free(f.named);
	free(f.groups);
	free(f.predicted);
	free(f.next);
	free(f.cause_of);
	follow_graph_release(&f.graph);
	return f.no_memory ? rt_error_set(err, RT_EMEMORY, "no memory for what races follow from") : RT_OK;
}
