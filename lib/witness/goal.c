/* Goals and schedules; see goal.h. */
#include "lib/witness/goal.h"

#include <stdlib.h>
#include <string.h>

struct goal goal_of(const struct anomaly *a)
{
	struct goal g = {.kind = a->kind == ANOMALY_RACE       ? GOAL_RACE
	                         : a->kind == ANOMALY_DEADLOCK ? GOAL_DEADLOCK
	                                                       : GOAL_SEQUENCE,
	                 .count = a->event_count};
	memcpy(g.events, a->events, sizeof g.events);
	return g;
}

bool schedule_push(struct schedule *s, uint32_t event)
{
	/* Capacity is a power of two that the count tells. */
	if (!(s->count & (s->count - 1))) {
		size_t capacity = s->count ? (size_t)s->count * 2 : 1;
		uint32_t *events = realloc(s->events, capacity * sizeof *events);
		if (!events)
			return false;
		s->events = events;
	}
	s->events[s->count++] = event;
	return true;
}

void schedule_free(struct schedule *s)
{
	if (!s)
		return;
	free(s->events);
	free(s);
}
