/*
 * A schedule is walked with the number of events that each thread has executed. Which memory code that leaves no events
 * accesses is unknown, so each passage that writes may write all that others read, and each that reads may read all
 * that others write. So
 *
 *   - a read comes when the other threads are where they were in the trace, as far as their passages that write tell.
 *     Or it saw a write that is an event, and none of these passages is between the two, neither in the trace nor in
 *     the schedule;
 *   - a passage that reads comes when they are where they were, as far as such passages and writes tell.
 *
 * A passage that begins or ends between two of its thread's events is the same for all times between these. Atomic
 * operations are no reads: such code would have to write there without one of its own. Updates may see anything, and so
 * may the reads of the anomaly itself.
 */
#include "lib/search/unseen.h"

#include "lib/anomaly/goal.h"
#include "lib/base/free.h"
#include "lib/base/lower_bound.h"

#include <stdlib.h>

struct walk {
	const struct model *m;
	const struct passages *writers, *readers;
	const struct schedule *schedule;
	struct goal goal;
	uint32_t *next;                       /* by thread: number of its events that were executed */
	uint32_t *steps, *first_step;         /* of the schedule, thread by thread; by thread: where its own begin */
	const struct rt_hidden_atomic *found; /* of the passage that is not as it was; NULL: all are */
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

/* True if the thread may be in a passage at some time between the two event numbers. */
static bool passes_between(const struct passages *p, uint32_t thread, uint64_t from, uint64_t until)
{
	const struct passages_thread *t = &p->threads[thread];
	uint32_t i = passages_ended(t, from);
	return i < t->count && t->items[i].open < until;
}

/*
 * The times of the trace, as event numbers, at which the thread's passages are as they are behind its first `pos`
 * events: *low and *high are moved towards each other. The code of the passage that bounds them: *code.
 */
static void bound(const struct walk *w, uint32_t thread, uint64_t *low, uint64_t *high,
                  const struct rt_hidden_atomic **code)
{
	const struct model *m = w->m;
	const struct passages_thread *t = &w->writers->threads[thread];
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
		*code = &w->writers->atomics[t->items[i < t->count ? i : i - 1].atomic];
	*low = from > *low ? from : *low;
	*high = until < *high ? until : *high;
}

/* The last event before this one that writes the cell; MODEL_NONE: none does, or it is far. */
static uint32_t last_write(const struct model *m, uint32_t cell, uint32_t e)
{
	enum { MOST = 64 }; /* looked at */
	uint32_t entry = model_entry(m, cell, e), first = m->cells[cell].first;
	for (unsigned looked = 0; entry > first && looked < MOST; looked++)
		if (rt_op_writes(model_op(m, m->cell_events[--entry])))
			return m->cell_events[entry];
	return MODEL_NONE;
}

/* The thread's last step of the schedule that is not behind this one, as an index into w->steps; MODEL_NONE: none. */
static uint32_t last_step(const struct walk *w, uint32_t thread, uint32_t step)
{
	uint32_t first = w->first_step[thread], end = w->first_step[thread + 1];
	uint32_t at = lower_bound(i, first, end, w->steps[i] <= step);
	return at > first ? at - 1 : MODEL_NONE;
}

/* The step of the schedule that executes the event; MODEL_NONE: none does. */
static uint32_t step_of(const struct walk *w, uint32_t e)
{
	uint32_t thread = model_thread_of(w->m, e), pos = w->m->events[e].pos, end = w->first_step[thread + 1];
	const struct schedule_step *all = w->schedule->steps;
	uint32_t at = lower_bound(i, w->first_step[thread], end, all[w->steps[i]].to < pos);
	return at < end && all[w->steps[at]].from <= pos ? w->steps[at] : MODEL_NONE;
}

/* True if the read saw this write, and no passage of another thread may have written in between. */
static bool surely_saw(const struct walk *w, uint32_t write, uint32_t e)
{
	const struct model *m = w->m;
	uint32_t thread = model_thread_of(m, e), by = model_thread_of(m, write), step = step_of(w, write);
	if (step == MODEL_NONE)
		return false;
	for (uint32_t u = 0; u < m->thread_count; u++) {
		if (u == thread)
			continue;
		if (passes_between(w->writers, u, m->events[write].number, m->events[e].number))
			return false;
		/* Where the thread is in the schedule when the write is made, and when the read is. */
		uint32_t last = u == by ? MODEL_NONE : last_step(w, u, step), pos = 0;
		if (u == by)
			pos = m->events[write].pos + 1;
		else if (last != MODEL_NONE)
			pos = w->schedule->steps[w->steps[last]].to + 1;
		if (passes_between(w->writers, u, number_before(m, u, pos), number_at(m, u, w->next[u])))
			return false;
	}
	return true;
}

/* True if all that the read saw is of events, with nothing unseen in between. */
static bool saw_events(const struct walk *w, uint32_t e)
{
	const struct model *m = w->m;
	uint32_t first = m->events[e].object, end = first + m->sites[m->events[e].site].cells;
	for (uint32_t cell = first; cell < end; cell++) {
		uint32_t write = last_write(m, cell, e);
		if (write == MODEL_NONE || !surely_saw(w, write, e))
			return false;
	}
	return true;
}

/* True if the thread reads memory, behind its event before this one, or by this one, that may have another value. */
static bool reads_another(const struct walk *w, uint32_t thread, uint32_t pos, uint64_t low, uint64_t high)
{
	const struct model *m = w->m;
	uint32_t e = m->threads[thread].events[pos];
	uint64_t number = m->events[e].number;
	if (bit(w->writers->threads[thread].reads, pos) && (number_before(m, thread, pos) < low || number > high))
		return true;
	return model_op(m, e) == RT_OP_READ && (number < low || number > high) && !model_is_update(m, e) &&
	       !goal_has(&w->goal, e) && !saw_events(w, e);
}

/* True if the thread writes, or is in a passage, in one of its events from one to before another, or between them. */
static bool acts(const struct walk *w, uint32_t thread, uint32_t from, uint32_t to)
{
	const struct model *m = w->m;
	if (passes_between(w->writers, thread, number_before(m, thread, from), number_at(m, thread, to)))
		return true;
	for (uint32_t pos = from; pos < to; pos++)
		if (bit(w->writers->threads[thread].writes, pos) ||
		    rt_op_writes(model_op(m, m->threads[thread].events[pos])))
			return true;
	return false;
}

/* True if the other thread has come to another point than it was at during the passage, and has acted in between. */
static bool is_elsewhere(const struct walk *w, uint32_t other, const struct passage *passage)
{
	const struct model *m = w->m;
	uint32_t from = passages_kept_from(m, other, passage->open), to = passages_kept_from(m, other, passage->close);
	uint32_t pos = w->next[other];
	if (pos < from)
		return acts(w, other, pos, from);
	return pos > to && acts(w, other, to, pos);
}

/* The thread's events of these positions are next. False if a passage may be another than in the trace. */
static bool run(struct walk *w, uint32_t thread, uint32_t from, uint32_t to)
{
	const struct model *m = w->m;
	const struct passages_thread *t = &w->readers->threads[thread];
	uint64_t low = 0, high = UINT64_MAX, end = number_at(m, thread, to);
	const struct rt_hidden_atomic *code = NULL;
	for (uint32_t u = 0; u < m->thread_count; u++)
		if (u != thread)
			bound(w, u, &low, &high, &code);
	for (uint32_t pos = from; pos <= to && code && !w->found; pos++)
		if (reads_another(w, thread, pos, low, high))
			w->found = code;
	uint32_t i = passages_ended(t, number_before(m, thread, from));
	for (; i < t->count && t->items[i].open < end && !w->found; i++)
		for (uint32_t u = 0; u < m->thread_count; u++)
			if (u != thread && is_elsewhere(w, u, &t->items[i]))
				w->found = &w->readers->atomics[t->items[i].atomic];
	w->next[thread] = to + 1;
	return !w->found;
}

/* Events that the schedule leads to, without executing them: all up to them is. */
static void run_to_goal(struct walk *w)
{
	for (uint32_t i = 0; i < w->goal.count && !w->found; i++) {
		uint32_t thread = model_thread_of(w->m, w->goal.events[i]), pos = w->m->events[w->goal.events[i]].pos;
		if (w->next[thread] > pos)
			continue;
		run(w, thread, w->next[thread], pos);
		w->next[thread] = pos;
	}
}

/* False without memory. */
static bool sort_steps(struct walk *w)
{
	uint32_t threads = w->m->thread_count, count = w->schedule->count;
	w->next = calloc((size_t)threads + 1, sizeof *w->next);
	w->first_step = calloc((size_t)threads + 2, sizeof *w->first_step);
	w->steps = malloc(((size_t)count + 1) * sizeof *w->steps);
	if (!w->next || !w->first_step || !w->steps)
		return false;
	for (uint32_t i = 0; i < count; i++)
		w->first_step[w->schedule->steps[i].thread + 2]++;
	for (uint32_t t = 0; t < threads; t++)
		w->first_step[t + 2] += w->first_step[t + 1];
	for (uint32_t i = 0; i < count; i++)
		w->steps[w->first_step[w->schedule->steps[i].thread + 1]++] = i;
	return true;
}

const struct rt_hidden_atomic *unseen_in(const struct passages *writers, const struct passages *readers,
                                         const struct anomaly *a)
{
	if (!writers->threads || !readers->threads)
		return NULL;
	struct walk w = {
	    .m = writers->m, .writers = writers, .readers = readers, .schedule = a->schedule, .goal = goal_of(a)};
	if (!a->schedule || !sort_steps(&w)) {
		w.found = writers->atomic_count ? writers->atomics : readers->atomics;
	} else {
		for (uint32_t i = 0; i < a->schedule->count && !w.found; i++) {
			const struct schedule_step *step = &a->schedule->steps[i];
			run(&w, step->thread, step->from, step->to);
		}
		run_to_goal(&w);
	}
	free_all(w.next, w.first_step, w.steps);
	return w.found;
}
