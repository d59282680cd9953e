/* The list of anomalies and the names of their parts; see anomaly.h. */
#include "lib/search/anomaly.h"

#include <stdlib.h>

struct anomaly *anomaly_add(struct anomaly_list *list, const struct anomaly *a)
{
	if (list->count == list->capacity) {
		size_t more = list->capacity + list->capacity / 2 + 16;
		struct anomaly *items = realloc(list->items, more * sizeof *items);
		if (!items)
			return NULL;
		list->items = items;
		list->capacity = more;
	}
	list->items[list->count] = *a;
	return &list->items[list->count++];
}

void anomaly_list_release(struct anomaly_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		if (list->items[i].schedule)
			free(list->items[i].schedule->steps);
		free(list->items[i].schedule);
		free(list->items[i].others);
	}
	free(list->items);
	*list = (struct anomaly_list){0};
}

static const struct {
	const char *name;
	char letter;
} kinds[ANOMALY_KINDS] = {
    [ANOMALY_RACE] = {"race", 'R'},         [ANOMALY_ATOMICITY] = {"atomicity", 'A'}, [ANOMALY_ASV] = {"asv", 'S'},
    [ANOMALY_DEADLOCK] = {"deadlock", 'D'}, [ANOMALY_PATTERN] = {"pattern", 'P'},
};

const char *anomaly_kind_name(enum anomaly_kind kind)
{
	return kinds[kind].name;
}

char anomaly_kind_letter(enum anomaly_kind kind)
{
	return kinds[kind].letter;
}

const char *verdict_name(enum verdict verdict)
{
	static const char *const names[VERDICTS] = {"refuted", "predicted", "proved", "observed"};
	return names[verdict];
}

const char *witness_name(enum witness_kind witness)
{
	static const char *const names[WITNESS_KINDS] = {NULL, "recorded", "pecan", "syncp", "closure", "exhaustive"};
	return names[witness];
}
