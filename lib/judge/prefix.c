/*
 * Schedules that begin as the trace does. Most do, with nearly all of their events. The judge therefore saves its state
 * at intervals of the trace's first events, and does not replay those again. A saved state comes from a replay of these
 * very events in this very order. That a schedule begins with them is checked step by step.
 */
#include "lib/judge/judge.h"

#include <stdlib.h>
#include <string.h>

/* Events between two checkpoints: enough that checkpoints take at most this many bytes an event. */
enum { INTERVAL_MIN = 4096, BYTES_AN_EVENT = 1 };

static void forget_checkpoints(struct judge *j)
{
	for (uint32_t i = 0; i < j->checkpoint_count; i++)
		free(j->checkpoints[i]);
	free(j->checkpoints);
	j->checkpoints = NULL;
	j->checkpoint_count = 0;
}

bool judge_checkpoints(struct judge *j, uint32_t interval)
{
	forget_checkpoints(j);
	j->interval = interval;
	j->checkpoint_next = interval ? interval : MODEL_NONE;
	j->checkpoints = malloc((j->m->event_count / j->checkpoint_next + 1) * sizeof *j->checkpoints);
	return j->checkpoints;
}

bool judge_state_init(struct judge *j)
{
	const struct model *m = j->m;
	size_t objects = m->object_count, threads = m->thread_count, cells = m->cell_count;
	size_t words = threads + cells + 3 * objects + j->round_count;
	j->state_size =
	    objects * sizeof *j->value + words * sizeof *j->next + (3 * threads + cells) * sizeof *j->frozen;
	j->state = malloc(j->state_size + 1);
	if (!j->state)
		return false;
	j->value = j->state;
	j->next = (uint32_t *)(j->value + objects);
	j->last = j->next + threads;
	j->owner = j->last + cells;
	j->readers = j->owner + objects;
	j->annotated = j->readers + objects;
	j->arrived = j->annotated + objects;
	j->frozen = (bool *)(j->arrived + j->round_count);
	j->lost_signal = j->frozen + threads;
	j->updating = j->lost_signal + threads;
	j->changed = j->updating + threads;
	size_t interval = j->state_size / BYTES_AN_EVENT;
	interval = interval < INTERVAL_MIN ? INTERVAL_MIN : interval;
	return judge_checkpoints(j, interval < m->event_count ? (uint32_t)interval : 0);
}

void judge_state_release(struct judge *j)
{
	forget_checkpoints(j);
	free(j->state);
}

/* The state in which no event has occurred. */
static void reset(struct judge *j)
{
	const struct model *m = j->m;
	memset(j->state, 0, j->state_size);
	memset(j->last, 0xff, m->cell_count * sizeof *j->last);
	memset(j->owner, 0xff, m->object_count * sizeof *j->owner);
	memcpy(j->value, j->initial, m->object_count * sizeof *j->value);
}

uint32_t judge_prefix(const struct judge *j, const struct schedule *s, uint32_t *events)
{
	const struct model *m = j->m;
	uint32_t steps = 0, at = 0;
	for (; j->interval && steps < s->count; steps++) {
		const struct schedule_step *step = &s->steps[steps];
		if (step->thread >= m->thread_count || step->to >= m->threads[step->thread].count ||
		    step->from > step->to)
			break;
		/* A thread's events rise: if the last is this far behind the first, no other thread's event is
		 * between. */
		const uint32_t *own = m->threads[step->thread].events;
		uint32_t more = step->to - step->from;
		if (own[step->from] != at || own[step->to] != at + more)
			break;
		at += more + 1;
	}
	*events = at;
	return steps;
}

uint32_t judge_restore(struct judge *j, uint32_t most)
{
	uint32_t count = most ? most / j->interval : 0;
	count = count < j->checkpoint_count ? count : j->checkpoint_count;
	if (count)
		memcpy(j->state, j->checkpoints[count - 1], j->state_size);
	else
		reset(j);
	return count * j->interval;
}

void judge_keep(struct judge *j)
{
	void *kept = malloc(j->state_size + 1);
	if (kept) {
		memcpy(kept, j->state, j->state_size);
		j->checkpoints[j->checkpoint_count++] = kept;
	}
	/* Without memory, it works without checkpoints. */
	j->checkpoint_next = kept && j->checkpoint_next <= j->m->event_count - j->interval
	                         ? j->checkpoint_next + j->interval
	                         : MODEL_NONE;
}
