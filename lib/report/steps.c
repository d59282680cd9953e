/* Schedules by steps; see steps.h. */
#include "lib/report/steps.h"

#include "lib/anomaly/goal.h"

#include <stdlib.h>

uint32_t steps_end(const struct model *m, const struct schedule *s, uint32_t i)
{
	return m->threads[s->steps[i].thread].events[s->steps[i].to];
}

static uint64_t ordinal(const struct model *m, const struct descriptions *d, uint32_t e)
{
	return description_ordinal(d, m->events[e].number);
}

/* Number of the thread's events that come before the schedule, as they were recorded. */
static uint64_t before(const struct model *m, uint32_t thread)
{
	return m->ordinals_before ? m->ordinals_before[thread] : 0;
}

/* Runs a thread up to and with an ordinal: extends its last step if there is one. */
static void run_up_to(struct steps *steps, const struct model *m, uint32_t thread, uint64_t to)
{
	for (size_t i = steps->count; i-- > 0;) {
		if (steps->items[i].thread != thread)
			continue;
		if (steps->items[i].to < to)
			steps->items[i].to = to;
		return;
	}
	if (to > before(m, thread))
		steps->items[steps->count++] = (struct step){.thread = thread, .from = before(m, thread) + 1, .to = to};
}

static bool is_run(const struct model *m, const struct schedule *s, uint32_t e)
{
	uint32_t thread = model_thread_of(m, e), pos = m->events[e].pos;
	for (uint32_t i = s->count; i-- > 0;)
		if (s->steps[i].thread == thread)
			return s->steps[i].to >= pos; /* a thread runs in order, so its last step is enough */
	return false;
}

/* True if e is one of the anomaly's own events. */
static bool is_of(const struct anomaly *a, uint32_t e)
{
	for (uint32_t i = 0; i < a->event_count; i++)
		if (a->events[i] == e)
			return true;
	return false;
}

bool steps_init(struct steps *steps, const struct model *m, const struct descriptions *d, const struct anomaly *anomaly)
{
	const struct schedule *s = anomaly->schedule;
	bool sequence = goal_of(anomaly).kind == GOAL_SEQUENCE;
	size_t count = (size_t)s->count + anomaly->event_count;
	uint64_t *done = calloc((size_t)m->thread_count + 1, sizeof *done);
	*steps = (struct steps){.items = calloc(count + 1, sizeof *steps->items)};
	if (!done || !steps->items) {
		free(done);
		steps_release(steps);
		return false;
	}
	for (uint32_t i = 0; i < m->thread_count; i++)
		done[i] = before(m, i);
	for (uint32_t i = 0; i < s->count; i++) {
		uint32_t thread = s->steps[i].thread;
		uint32_t end = steps_end(m, s, i);
		uint64_t to = ordinal(m, d, end);
		to -= to && !parts_wait_for_nothing(m, end) && !(sequence && is_of(anomaly, end));
		if (to <= done[thread])
			continue;
		steps->items[steps->count++] = (struct step){.thread = thread, .from = done[thread] + 1, .to = to};
		done[thread] = to;
	}
	free(done);
	for (uint32_t i = 0; i < anomaly->event_count; i++) {
		uint32_t e = anomaly->events[i];
		uint64_t to = ordinal(m, d, e);
		if (to && !is_run(m, s, e))
			run_up_to(steps, m, model_thread_of(m, e), to - 1);
	}
	return true;
}

void steps_release(struct steps *steps)
{
	free(steps->items);
	*steps = (struct steps){0};
}
