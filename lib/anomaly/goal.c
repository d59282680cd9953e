/* Goals and schedules; see goal.h. */
#include "lib/anomaly/goal.h"

#include "lib/base/vec.h"

#include <stdlib.h>
#include <string.h>

struct goal goal_of(const struct anomaly *a)
{
	/* A user's pattern of two events is a race, too. */
	bool race = a->kind == ANOMALY_RACE || (a->kind == ANOMALY_PATTERN && a->event_count == 2);
	struct goal g = {.kind = race                          ? GOAL_RACE
	                         : a->kind == ANOMALY_DEADLOCK ? GOAL_DEADLOCK
	                                                       : GOAL_SEQUENCE,
	                 .count = a->event_count};
	memcpy(g.events, a->events, sizeof g.events);
	return g;
}

struct goal goal_of_instance(const struct anomaly *a, uint32_t i)
{
	struct goal g = goal_of(a);
	if (i)
		memcpy(g.events, a->others + (size_t)(i - 1) * a->event_count, a->event_count * sizeof *g.events);
	return g;
}

uint32_t goal_wait_begin(const struct model *m, uint32_t e)
{
	uint32_t pred = model_pred(m, e);
	bool ends = model_op(m, e) == RT_OP_WAIT_END && model_arg(m, e) != MODEL_NONE && pred != MODEL_NONE &&
	            !(m->sites[m->events[e].site].flags & (RT_F_TIMED | RT_F_TIMEOUT));
	return ends && model_op(m, pred) == RT_OP_WAIT_BEGIN && m->events[pred].object == m->events[e].object
	           ? pred
	           : MODEL_NONE;
}

bool goal_awaits_signal(const struct model *m, const uint32_t *events, uint32_t count, uint32_t i)
{
	if (goal_wait_begin(m, events[i]) == MODEL_NONE)
		return false;
	uint32_t mutex = model_arg(m, events[i]);
	for (uint32_t k = 0; k < count; k++) {
		uint32_t pred = model_pred(m, events[k]);
		if (k != i && pred != MODEL_NONE && model_lockset_lock(m, model_lockset_of(m, pred), mutex))
			return false;
	}
	return true;
}

bool goal_awaits_any(const struct model *m, const struct goal *g)
{
	for (uint32_t i = 0; g->kind == GOAL_DEADLOCK && i < g->count; i++)
		if (goal_awaits_signal(m, g->events, g->count, i))
			return true;
	return false;
}

/* The part behind e of the same event, MODEL_NONE: there is none. */
static uint32_t next_part(const struct model *m, uint32_t e)
{
	uint32_t next = model_next(m, model_thread_of(m, e), m->events[e].pos + 1);
	return next != MODEL_NONE && m->events[next].number == m->events[e].number ? next : MODEL_NONE;
}

static bool waits_for_nothing(const struct model *m, uint32_t e)
{
	return model_op(m, e) == RT_OP_RELEASE || model_op(m, e) == RT_OP_HB_BEFORE;
}

bool parts_wait_for_nothing(const struct model *m, uint32_t e)
{
	while ((e = next_part(m, e)) != MODEL_NONE)
		if (!waits_for_nothing(m, e))
			return false;
	return true;
}

uint32_t goal_stop(const struct model *m, const struct goal *g, uint32_t e)
{
	uint32_t next = next_part(m, e);
	for (bool last = e == g->events[g->count - 1]; !last && next != MODEL_NONE; next = next_part(m, next)) {
		if (!waits_for_nothing(m, next))
			break;
		e = next;
	}
	return m->events[e].pos + 1;
}

/* Appends a thread's events from one pos up to another. */
static inline bool push_step(struct schedule *s, uint32_t thread, uint32_t from, uint32_t to)
{
	struct schedule_step *last = s->count ? &s->steps[s->count - 1] : NULL;
	s->events += (uint64_t)to - from + 1;
	if (last && last->thread == thread && last->to + 1 == from) {
		last->to = to;
		return true;
	}
	if (!vec_reserve(&s->steps, &s->capacity, (uint64_t)s->count + 1, sizeof *s->steps))
		return false;
	s->steps[s->count++] = (struct schedule_step){thread, from, to};
	return true;
}

bool schedule_push(struct schedule *s, const struct model *m, uint32_t event)
{
	uint32_t pos = m->events[event].pos;
	return push_step(s, model_thread_of(m, event), pos, pos);
}

bool schedule_push_recorded(struct schedule *s, const struct model *m, const uint32_t *count, uint32_t end)
{
	uint32_t last = 0, *next = calloc((size_t)m->thread_count + 1, sizeof *next);
	bool ok = next;
	for (uint32_t t = 0; t < m->thread_count; t++)
		if (count[t] && m->threads[t].events[count[t] - 1] >= last)
			last = m->threads[t].events[count[t] - 1] + 1;
	end = end < last ? end : last;
	for (uint32_t i = 0; ok && i < m->turn_count && m->turns[i].first < end; i++) {
		uint32_t after = i + 1 < m->turn_count ? m->turns[i + 1].first : end, thread = m->turns[i].thread;
		uint32_t from = next[thread], to = from + ((after < end ? after : end) - m->turns[i].first);
		next[thread] = to;
		to = to < count[thread] ? to : count[thread];
		ok = to <= from || push_step(s, thread, from, to - 1);
	}
	free(next);
	return ok;
}

void schedule_release(struct schedule *s)
{
	free(s->steps);
	*s = (struct schedule){0};
}
