/* Schedules of whole events; see whole.h. */
#include "lib/prove/whole.h"

#include <stdlib.h>

/* True if the event of the trace that the thread is in after its first `end` kept events goes on. */
static bool is_inside(const struct model *m, uint32_t thread, uint32_t end)
{
	const struct model_thread *t = &m->threads[thread];
	return end && end < t->count && m->events[t->events[end - 1]].number == m->events[t->events[end]].number;
}

/* Pos of the first part of the event that the kept event at pos belongs to. */
static uint32_t first_part(const struct model *m, uint32_t thread, uint32_t pos)
{
	while (is_inside(m, thread, pos))
		pos--;
	return pos;
}

/* The place behind the event's parts from `end` on, or before the first of them that is the goal's. */
static uint32_t behind_parts(const struct model *m, const struct goal *goal, uint32_t thread, uint32_t end)
{
	while (is_inside(m, thread, end) && !goal_has(goal, m->threads[thread].events[end]))
		end++;
	return end;
}

/* Where a listed schedule has the thread stop that this one stops after its first `end` kept events. */
static uint32_t stop(const struct model *m, const struct goal *goal, uint32_t thread, uint32_t end, bool early)
{
	const uint32_t *events = m->threads[thread].events;
	if (!is_inside(m, thread, end))
		return end;
	uint32_t first = first_part(m, thread, end - 1);
	for (uint32_t pos = first; goal->kind == GOAL_SEQUENCE && pos < end; pos++)
		if (goal_has(goal, events[pos]))
			return goal_stop(m, goal, events[pos]);
	uint32_t all = behind_parts(m, goal, thread, end);
	if (is_inside(m, thread, all))
		return first; /* the goal is among the parts */
	return early || parts_wait_for_nothing(m, events[end - 1]) ? all : first;
}

bool whole_always(const struct model *m)
{
	for (uint32_t t = 0; t < m->thread_count; t++)
		for (uint32_t end = 1; end < m->threads[t].count; end++)
			if (is_inside(m, t, end))
				return false;
	return true;
}

bool whole_is(const struct model *m, const struct schedule *s, const struct goal *goal)
{
	for (uint32_t i = 0; i < s->count; i++) {
		const struct schedule_step *step = &s->steps[i];
		if (is_inside(m, step->thread, step->to + 1) &&
		    stop(m, goal, step->thread, step->to + 1, false) != step->to + 1)
			return false;
	}
	return true;
}

static bool run_to(const struct model *m, uint32_t thread, uint32_t *done, uint32_t end, struct schedule *out)
{
	for (; *done < end; ++*done)
		if (!schedule_push(out, m, m->threads[thread].events[*done]))
			return false;
	return true;
}

bool whole_make(const struct model *m, const struct schedule *s, const struct goal *goal, bool early,
                struct schedule *out)
{
	uint32_t *done = calloc((size_t)m->thread_count + 1, sizeof *done);
	bool ok = done;
	for (uint32_t i = 0; ok && i < s->count; i++) {
		uint32_t thread = s->steps[i].thread;
		ok = run_to(m, thread, &done[thread], stop(m, goal, thread, s->steps[i].to + 1, early), out);
	}
	/* A thread that stands before the goal has run the parts before it. */
	for (uint32_t i = 0; ok && goal->kind != GOAL_SEQUENCE && i < goal->count; i++) {
		uint32_t thread = model_thread_of(m, goal->events[i]);
		ok = run_to(m, thread, &done[thread], m->events[goal->events[i]].pos, out);
	}
	free(done);
	return ok;
}
