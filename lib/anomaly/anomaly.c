/* The list of anomalies and the names of their parts; see anomaly.h. */
#include "lib/anomaly/anomaly.h"

#include "lib/base/vec.h"

#include <stdlib.h>
#include <string.h>

struct anomaly *anomaly_add(struct anomaly_list *list, const struct anomaly *a)
{
	if (!vec_reserve(&list->items, &list->capacity, (uint64_t)list->count + 1, sizeof *list->items))
		return NULL;
	list->items[list->count] = *a;
	return &list->items[list->count++];
}

void anomaly_cap(struct anomaly *a, enum reason reason, const char *detail)
{
	reasons_add(&a->reasons, reason);
	a->reasons.capped = true;
	if (detail)
		a->reasons.details[reason] = detail;
	if (a->verdict > VERDICT_PREDICTED)
		a->verdict = VERDICT_PREDICTED;
}

static void release(struct anomaly *a)
{
	if (a->schedule)
		free(a->schedule->steps);
	free(a->schedule);
	free(a->others);
	free(a->waits);
	free(a->needs);
	replay_free(a->replay);
}

void anomaly_list_release(struct anomaly_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		release(&list->items[i]);
	free(list->items);
	*list = (struct anomaly_list){0};
}

/* The lower (0) or the higher (1) source position of a race. */
static uint64_t position(const struct model *m, const struct anomaly *race, int which)
{
	uint64_t p1 = model_position_of(m, race->events[0]), p2 = model_position_of(m, race->events[1]);
	return (p1 < p2) == !which ? p1 : p2;
}

static int compare_places(const struct model *m, const struct anomaly *a, const struct anomaly *b)
{
	for (int i = 0; i < 2; i++) {
		uint64_t x = position(m, a, i), y = position(m, b, i);
		if (x != y)
			return x < y ? -1 : 1;
	}
	return strcmp(a->pattern, b->pattern);
}

/* By source positions; at the same ones, the strongest verdict first, then in the order of the trace. */
static int compare_races(const void *x, const void *y, void *model)
{
	const struct anomaly *a = x, *b = y;
	int places = compare_places(model, a, b);
	if (places)
		return places;
	if (a->verdict != b->verdict)
		return a->verdict > b->verdict ? -1 : 1;
	for (uint32_t i = a->event_count; i-- > 0;)
		if (a->events[i] != b->events[i])
			return a->events[i] < b->events[i] ? -1 : 1;
	return 0;
}

void anomaly_list_fold_races(struct anomaly_list *list, const struct model *m)
{
	size_t races = 0, kept = 0;
	while (races < list->count && list->items[races].kind == ANOMALY_RACE)
		races++;
	if (!races)
		return;
	qsort_r(list->items, races, sizeof *list->items, compare_races, (void *)(uintptr_t)m);
	for (size_t i = 1; i < races; i++) {
		struct anomaly *strongest = &list->items[kept], *a = &list->items[i];
		if (compare_places(m, strongest, a)) {
			list->items[++kept] = *a;
			continue;
		}
		strongest->count += a->count;
		strongest->ruled_out += a->ruled_out;
		release(a);
	}
	memmove(&list->items[kept + 1], &list->items[races], (list->count - races) * sizeof *list->items);
	list->count -= races - kept - 1;
}

static const struct {
	const char *name, *title;
	char letter;
} kinds[ANOMALY_KINDS] = {
    [ANOMALY_RACE] = {"race", "data race", 'R'},
    [ANOMALY_ATOMICITY] = {"atomicity", "atomicity violation", 'A'},
    [ANOMALY_ASV] = {"asv", "atomic-set serializability violation", 'S'},
    [ANOMALY_DEADLOCK] = {"deadlock", "deadlock", 'D'},
    [ANOMALY_HANG] = {"hang", "hang", 'H'},
    [ANOMALY_PATTERN] = {"pattern", "pattern", 'P'},
};

const char *anomaly_kind_name(enum anomaly_kind kind)
{
	return kinds[kind].name;
}

const char *anomaly_kind_title(enum anomaly_kind kind)
{
	return kinds[kind].title;
}

char anomaly_kind_letter(enum anomaly_kind kind)
{
	return kinds[kind].letter;
}

const char *verdict_name(enum verdict verdict)
{
	static const char *const names[VERDICTS] = {"refuted", "conditional", "predicted",
	                                            "proved",  "observed",    "confirmed"};
	return names[verdict];
}

const char *witness_name(enum witness_kind witness)
{
	static const char *const names[WITNESS_KINDS] = {NULL, "recorded", "pecan", "syncp", "closure", "exhaustive"};
	return names[witness];
}
