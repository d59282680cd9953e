/*
 * A schedule is walked with the number of events that each thread has executed. The memory of an uninstrumented module
 * is unknown, so each of its passages may write all that others read, and read all that others write. So
 *
 *   - a read comes when the other threads are where they were in the trace, as far as their passages tell, and
 *   - so does a passage, as far as their passages and writes tell.
 *
 * A passage that begins or ends between two of its thread's events is the same for all times between these. Atomic
 * operations are no reads: a module that is not instrumented would have to write there without one of its own. Updates
 * may see anything, and so may the reads of the anomaly itself.
 */
#include "lib/search/unseen.h"

#include "lib/anomaly/goal.h"
#include "lib/base/lower_bound.h"

#include <stdlib.h>

struct walk {
	const struct passages *p;
	struct goal goal;
	uint32_t *next;  /* by thread: number of its events that were executed */
	uint32_t atomic; /* of the passage that is not as it was; MODEL_NONE: all are */
};

static uint64_t number_at(const struct model *m, uint32_t thread, uint32_t pos)
{
	return pos < m->threads[thread].count ? m->events[m->threads[thread].events[pos]].number : UINT64_MAX;
}

/* Of the event before this one; 0: it is the first. */
static uint64_t number_before(const struct model *m, uint32_t thread, uint32_t pos)
{
	return pos ? number_at(m, thread, pos - 1) : 0;
}

static bool bit(const uint8_t *bits, uint32_t i)
{
	return bits[i / 8] >> i % 8 & 1;
}

/*
 * The times of the trace, as event numbers, at which the thread's passages are as they are behind its first `pos`
 * events: *low and *high are moved towards each other. The passage that bounds them: *atomic.
 */
static void bound(const struct walk *w, uint32_t thread, uint64_t *low, uint64_t *high, uint32_t *atomic)
{
	const struct model *m = w->p->m;
	const struct passages_thread *t = &w->p->threads[thread];
	uint32_t pos = w->next[thread], i = passages_ended(t, number_before(m, thread, pos));
	uint64_t from = 0, until = UINT64_MAX;
	if (!t->count)
		return;
	if (i < t->count && t->items[i].open < number_at(m, thread, pos)) {
		from = number_before(m, thread, pos);
		until = number_at(m, thread, pos);
	} else {
		if (i)
			from = number_at(m, thread, passages_kept_from(m, thread, t->items[i - 1].close));
		if (i < t->count)
			until = number_before(m, thread, passages_kept_from(m, thread, t->items[i].open + 1));
	}
	if (from > *low || until < *high)
		*atomic = t->items[i < t->count ? i : i - 1].atomic;
	*low = from > *low ? from : *low;
	*high = until < *high ? until : *high;
}

/* True if the thread reads memory, behind its event before this one, or by this one, outside of these times. */
static bool reads_outside(const struct walk *w, uint32_t thread, uint32_t pos, uint64_t low, uint64_t high)
{
	const struct model *m = w->p->m;
	uint32_t e = m->threads[thread].events[pos];
	uint64_t number = m->events[e].number;
	if (bit(w->p->threads[thread].reads, pos) && (number_before(m, thread, pos) < low || number > high))
		return true;
	return model_op(m, e) == RT_OP_READ && (number < low || number > high) && !model_is_update(m, e) &&
	       !goal_has(&w->goal, e);
}

/* True if the thread writes, or is in a passage, in one of its events from one to before another, or between them. */
static bool acts(const struct walk *w, uint32_t thread, uint32_t from, uint32_t to)
{
	const struct model *m = w->p->m;
	const struct passages_thread *t = &w->p->threads[thread];
	uint32_t i = passages_ended(t, number_before(m, thread, from));
	if (i < t->count && t->items[i].open < number_at(m, thread, to))
		return true;
	for (uint32_t pos = from; pos < to; pos++)
		if (bit(t->writes, pos) || rt_op_writes(model_op(m, m->threads[thread].events[pos])))
			return true;
	return false;
}

/* True if the other thread has come to another point than it was at during the passage, and has acted in between. */
static bool is_elsewhere(const struct walk *w, uint32_t other, const struct passage *passage)
{
	const struct model *m = w->p->m;
	uint32_t from = passages_kept_from(m, other, passage->open), to = passages_kept_from(m, other, passage->close);
	uint32_t pos = w->next[other];
	if (pos < from)
		return acts(w, other, pos, from);
	return pos > to && acts(w, other, to, pos);
}

/* The thread's events of these positions are next. False if a passage may be another than in the trace. */
static bool run(struct walk *w, uint32_t thread, uint32_t from, uint32_t to)
{
	const struct model *m = w->p->m;
	const struct passages_thread *t = &w->p->threads[thread];
	uint64_t low = 0, high = UINT64_MAX, end = number_at(m, thread, to);
	uint32_t atomic = MODEL_NONE;
	for (uint32_t u = 0; u < m->thread_count; u++)
		if (u != thread)
			bound(w, u, &low, &high, &atomic);
	for (uint32_t pos = from; pos <= to && atomic != MODEL_NONE; pos++)
		if (reads_outside(w, thread, pos, low, high)) {
			w->atomic = atomic;
			return false;
		}
	for (uint32_t i = passages_ended(t, number_before(m, thread, from)); i < t->count && t->items[i].open < end;
	     i++)
		for (uint32_t u = 0; u < m->thread_count; u++)
			if (u != thread && is_elsewhere(w, u, &t->items[i])) {
				w->atomic = t->items[i].atomic;
				return false;
			}
	w->next[thread] = to + 1;
	return true;
}

/* Events that the schedule leads to, without executing them: all up to them is. */
static bool run_to_goal(struct walk *w)
{
	const struct model *m = w->p->m;
	for (uint32_t i = 0; i < w->goal.count; i++) {
		uint32_t thread = model_thread_of(m, w->goal.events[i]), pos = m->events[w->goal.events[i]].pos;
		if (w->next[thread] > pos)
			continue;
		if (!run(w, thread, w->next[thread], pos))
			return false;
		w->next[thread] = pos;
	}
	return true;
}

const struct rt_hidden_atomic *unseen_in(const struct passages *p, const struct anomaly *a)
{
	if (!p->threads)
		return NULL;
	struct walk w = {.p = p, .goal = goal_of(a), .atomic = 0};
	w.next = a->schedule ? calloc((size_t)p->m->thread_count + 1, sizeof *w.next) : NULL;
	bool ok = w.next;
	for (uint32_t i = 0; ok && i < a->schedule->count; i++) {
		const struct schedule_step *step = &a->schedule->steps[i];
		ok = run(&w, step->thread, step->from, step->to);
	}
	ok = ok && run_to_goal(&w);
	free(w.next);
	return ok ? NULL : &p->atomics[w.atomic];
}
