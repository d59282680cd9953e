/*
 * Tries of locks that failed. A schedule may have one only where a thread holds the lock, as in the trace: behind that
 * holder's acquire and before its release. What the thread does next may depend on it.
 */
#include "lib/base/lower_bound.h"
#include "lib/judge/judge.h"

#include <stdlib.h>
#include <string.h>

/* The thread's events before the event with this number. */
static uint32_t events_before(const struct model *m, uint32_t thread, uint32_t number)
{
	const struct model_thread *t = &m->threads[thread];
	return lower_bound(i, 0, t->count, m->events[t->events[i]].number < number);
}

/* What an event of synchronisation changes: since when its lock is held, and until when it was at the tries before. */
static void follow_lock(struct judge *j, uint32_t e, uint32_t *held, uint32_t *last)
{
	uint32_t taken = model_lock_taken(j->m, e), released = model_lock_released(j->m, e);
	if (released != MODEL_NONE && held[released] == j->partner[e]) {
		for (uint32_t i = last[released]; i != MODEL_NONE; i = j->tries[i].same)
			j->tries[i].release = e;
		held[released] = last[released] = MODEL_NONE;
	}
	if (taken != MODEL_NONE) {
		held[taken] = e;
		last[taken] = MODEL_NONE;
	}
}

bool judge_scan_tries(struct judge *j)
{
	const struct model *m = j->m;
	if (!m->try_count)
		return true;
	size_t bytes = ((size_t)m->object_count + 1) * sizeof(uint32_t);
	uint32_t *held = malloc(bytes), *last = malloc(bytes);
	j->tries = malloc(m->try_count * sizeof *j->tries);
	bool ok = held && last && j->tries;
	if (ok) {
		memset(held, 0xff, bytes);
		memset(last, 0xff, bytes);
	}
	for (uint32_t i = 0; ok && i <= m->sync_count; i++) {
		uint32_t end = i < m->sync_count ? m->events[m->sync[i]].number : UINT32_MAX;
		for (; j->try_count < m->try_count && m->tries[j->try_count].number < end; j->try_count++) {
			const struct model_try *t = &m->tries[j->try_count];
			uint32_t holder = held[t->lock];
			bool own = holder != MODEL_NONE && model_thread_of(m, holder) == t->thread;
			j->tries[j->try_count] =
			    (struct judge_try){t->thread, events_before(m, t->thread, t->number),
			                       own ? MODEL_NONE : holder, MODEL_NONE, last[t->lock]};
			if (holder != MODEL_NONE)
				last[t->lock] = j->try_count;
		}
		if (i < m->sync_count)
			follow_lock(j, m->sync[i], held, last);
	}
	free(held);
	free(last);
	return ok;
}

/* The steps of a schedule, thread by thread. */
struct steps {
	const struct schedule *s;
	uint32_t *order; /* numbers of steps */
	uint32_t *first; /* by thread: where its own begin */
};

static bool steps_init(struct steps *x, const struct model *m, const struct schedule *s)
{
	x->s = s;
	x->order = malloc(((size_t)s->count + 1) * sizeof *x->order);
	x->first = calloc((size_t)m->thread_count + 2, sizeof *x->first);
	if (!x->order || !x->first)
		return false;
	for (uint32_t i = 0; i < s->count; i++)
		x->first[s->steps[i].thread + 2]++;
	for (uint32_t t = 2; t <= m->thread_count; t++)
		x->first[t] += x->first[t - 1];
	for (uint32_t i = 0; i < s->count; i++)
		x->order[x->first[s->steps[i].thread + 1]++] = i;
	return true;
}

static void steps_release(struct steps *x)
{
	free(x->order);
	free(x->first);
}

/* The step that has the thread's event; MODEL_NONE: none. */
static uint32_t step_of(const struct steps *x, uint32_t thread, uint32_t pos)
{
	uint32_t end = x->first[thread + 1];
	uint32_t at = lower_bound(i, x->first[thread], end, x->s->steps[x->order[i]].to < pos);
	return at < end ? x->order[at] : MODEL_NONE;
}

static uint32_t step_of_event(const struct steps *x, const struct model *m, uint32_t e)
{
	return e == MODEL_NONE ? MODEL_NONE : step_of(x, model_thread_of(m, e), m->events[e].pos);
}

static bool is_goal_of(const struct model *m, const struct goal *goal, uint32_t thread, uint32_t pos)
{
	for (uint32_t i = 0; i < goal->count; i++)
		if (model_thread_of(m, goal->events[i]) == thread && m->events[goal->events[i]].pos == pos)
			return true;
	return false;
}

static bool can_fail(const struct steps *x, const struct model *m, const struct judge_try *t, const struct goal *goal)
{
	uint32_t next = step_of(x, t->thread, t->pos), taken = step_of_event(x, m, t->acquire);
	uint32_t before = t->pos ? step_of(x, t->thread, t->pos - 1) : MODEL_NONE;
	uint32_t given = step_of_event(x, m, t->release);
	if (t->acquire == MODEL_NONE || (next == MODEL_NONE && !is_goal_of(m, goal, t->thread, t->pos)))
		return true;
	return taken != MODEL_NONE && (next == MODEL_NONE || taken < next) &&
	       (given == MODEL_NONE || before == MODEL_NONE || given > before);
}

bool judge_tries_fail(const struct judge *j, const struct schedule *s, const struct goal *goal)
{
	struct steps x;
	bool ok = !j->try_count || steps_init(&x, j->m, s);
	for (uint32_t i = 0; ok && i < j->try_count; i++)
		ok = can_fail(&x, j->m, &j->tries[i], goal);
	if (j->try_count)
		steps_release(&x);
	return ok;
}
