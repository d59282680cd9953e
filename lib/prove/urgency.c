/* The order in which anomalies are decided; see urgency.h. */
#include "lib/prove/urgency.h"

#include "lib/base/sort.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

struct urgent {
	uint64_t finding; /* a hash: two findings that share it share a budget, too */
	uint32_t index, turn;
	uint32_t last; /* of its events */
	uint8_t place; /* of its kind */
};

static uint8_t place_of(enum anomaly_kind kind)
{
	static const uint8_t places[ANOMALY_KINDS] = {
	    [ANOMALY_RACE] = 0,    [ANOMALY_DEADLOCK] = 1,  [ANOMALY_HANG] = 2,
	    [ANOMALY_PATTERN] = 3, [ANOMALY_ATOMICITY] = 4, [ANOMALY_ASV] = 5};
	return places[kind];
}

static uint64_t finding_of(const struct model *m, const struct anomaly *a)
{
	uint64_t positions[ANOMALY_EVENTS_MAX];
	for (uint32_t i = 0; i < a->event_count; i++)
		positions[i] = model_position_of(m, a->events[i]);
	qsort(positions, a->event_count, sizeof *positions, compare_u64);
	return XXH3_64bits_withSeed(positions, a->event_count * sizeof *positions, a->kind);
}

static int by_finding(const void *a, const void *b)
{
	const struct urgent *x = a, *y = b;
	if (x->finding != y->finding)
		return x->finding < y->finding ? -1 : 1;
	return x->index != y->index ? (x->index < y->index ? -1 : 1) : 0;
}

static int by_urgency(const void *a, const void *b)
{
	const struct urgent *x = a, *y = b;
	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	if (x->turn != y->turn)
		return x->turn < y->turn ? -1 : 1;
	if (x->last != y->last)
		return x->last < y->last ? -1 : 1;
	return x->index != y->index ? (x->index < y->index ? -1 : 1) : 0;
}

uint32_t *urgency_order(const struct model *m, struct anomaly_list *list)
{
	size_t n = list->count;
	struct urgent *candidates = malloc((n + 1) * sizeof *candidates);
	uint32_t *order = candidates ? malloc((n + 1) * sizeof *order) : NULL;
	if (!order) {
		free(candidates);
		return NULL;
	}
	for (size_t i = 0; i < n; i++) {
		const struct anomaly *a = &list->items[i];
		struct goal goal = goal_of(a);
		candidates[i] = (struct urgent){finding_of(m, a), (uint32_t)i, 0, goal_last(&goal), place_of(a->kind)};
	}
	qsort(candidates, n, sizeof *candidates, by_finding);
	for (size_t i = 1; i < n; i++)
		if (candidates[i].finding == candidates[i - 1].finding)
			candidates[i].turn = candidates[i - 1].turn + 1;
	qsort(candidates, n, sizeof *candidates, by_urgency);
	for (size_t i = 0; i < n; i++) {
		order[i] = candidates[i].index;
		list->items[order[i]].turn = candidates[i].turn;
	}
	free(candidates);
	return order;
}
