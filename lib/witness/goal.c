/* Goals and schedules; see goal.h. */
#include "lib/witness/goal.h"

#include <stdlib.h>
#include <string.h>

struct goal goal_of(const struct anomaly *a)
{
	/* A user's pattern of two events is a race as well. */
	bool race = a->kind == ANOMALY_RACE || (a->kind == ANOMALY_PATTERN && a->event_count == 2);
	struct goal g = {.kind = race                          ? GOAL_RACE
	                         : a->kind == ANOMALY_DEADLOCK ? GOAL_DEADLOCK
	                                                       : GOAL_SEQUENCE,
	                 .count = a->event_count};
	memcpy(g.events, a->events, sizeof g.events);
	return g;
}

bool schedule_push(struct schedule *s, const struct model *m, uint32_t event)
{
	uint32_t thread = model_thread_of(m, event), pos = m->events[event].pos;
	struct schedule_step *last = s->count ? &s->steps[s->count - 1] : NULL;
	s->events++;
	if (last && last->thread == thread && last->to + 1 == pos) {
		last->to = pos;
		return true;
	}
	/* Capacity is a power of two that the count tells. */
	if (!(s->count & (s->count - 1))) {
		size_t capacity = s->count ? (size_t)s->count * 2 : 1;
		struct schedule_step *steps = realloc(s->steps, capacity * sizeof *steps);
		if (!steps)
			return false;
		s->steps = steps;
	}
	s->steps[s->count++] = (struct schedule_step){thread, pos, pos};
	return true;
}

void schedule_release(struct schedule *s)
{
	free(s->steps);
	*s = (struct schedule){0};
}
