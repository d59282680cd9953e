/*
 * Schedules that begin as the trace does. Most do, with nearly all of their events. The judge therefore saves its state
 * at intervals of the trace's first events, and does not replay those again. A saved state comes from a replay of these
 * very events in this very order. That a schedule begins with them is checked step by step. The cells are no part of
 * it: in these events each read sees what it saw, and a cell holds the last write to it among them.
 */
#include "lib/base/free.h"
#include "lib/base/lower_bound.h"
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
	size_t words = threads + 3 * objects + j->round_count;
	j->state_size = objects * sizeof *j->value + words * sizeof *j->next + 3 * threads * sizeof *j->frozen;
	j->state = malloc(j->state_size + 1);
	j->last = malloc((cells + 1) * sizeof *j->last);
	j->met = calloc(cells + 1, sizeof *j->met);
	j->cut = malloc((threads + 1) * sizeof *j->cut);
	j->changed = malloc((cells + 1) * sizeof *j->changed);
	if (!j->state || !j->last || !j->met || !j->changed || !j->cut)
		return false;
	j->value = j->state;
	j->next = (uint32_t *)(j->value + objects);
	j->owner = j->next + threads;
	j->readers = j->owner + objects;
	j->annotated = j->readers + objects;
	j->arrived = j->annotated + objects;
	j->frozen = (bool *)(j->arrived + j->round_count);
	j->lost_signal = j->frozen + threads;
	j->updating = j->lost_signal + threads;
	size_t interval = j->state_size / BYTES_AN_EVENT;
	interval = interval < INTERVAL_MIN ? INTERVAL_MIN : interval;
	return judge_checkpoints(j, interval < m->event_count ? (uint32_t)interval : 0);
}

void judge_state_release(struct judge *j)
{
	forget_checkpoints(j);
	free_all(j->state, j->last, j->met, j->changed, j->cut, j->misled);
}

/* The state in which no event has occurred. */
static void reset(struct judge *j)
{
	const struct model *m = j->m;
	memset(j->state, 0, j->state_size);
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

void judge_forget_cells(struct judge *j, uint32_t events, bool leaves_out)
{
	if (!++j->replay) {
		memset(j->met, 0, j->m->cell_count * sizeof *j->met);
		j->replay = 1;
	}
	j->restored = events;
	j->leaves_out = leaves_out;
}

uint32_t judge_restore(struct judge *j, uint32_t most)
{
	uint32_t count = most ? most / j->interval : 0;
	count = count < j->checkpoint_count ? count : j->checkpoint_count;
	if (count)
		memcpy(j->state, j->checkpoints[count - 1], j->state_size);
	else
		reset(j);
	judge_forget_cells(j, count * j->interval, false);
	return count * j->interval;
}

/* The last write to the cell among the trace's first events. */
static uint32_t last_recorded(const struct judge *j, uint32_t cell, uint32_t events)
{
	const struct model *m = j->m;
	uint32_t first = m->cells[cell].first, end = first + m->cells[cell].count;
	uint32_t behind = events ? lower_bound(i, first, end, m->cell_events[i] < events) : first;
	if (behind == first)
		return MODEL_NONE;
	uint32_t e = m->cell_events[behind - 1];
	return rt_op_writes(model_op(m, e)) ? e : judge_saw(j, e, behind - 1);
}

void judge_meet(struct judge *j, uint32_t cell)
{
	uint32_t write = last_recorded(j, cell, j->restored);
	while (j->leaves_out && write != MODEL_NONE && !judge_keeps(j, write))
		write = judge_saw(j, write, model_entry(j->m, cell, write));
	j->last[cell] = write;
	j->changed[cell] = false;
	j->met[cell] = j->replay;
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
