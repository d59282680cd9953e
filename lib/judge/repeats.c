/*
 * Repeats that the recorder left out: a thread's third and later access of one kind, place and address since it last
 * synchronised. Without values each may write another value than its recorded twins, or would see another one in the
 * schedule. Where among its thread's events it came is known only by the gaps between them; it can come
 * right behind the event before the gap. So
 *
 *   - a read that saw such a write of another thread comes behind all gaps of the writer's epoch, and
 *   - a thread does not go on behind a gap once another one has written what the repeats may access.
 *
 * A schedule's first events in the trace's order are as they were: what races there is uncertain as it is. Of the
 * events that these leave out, gaps behind the end of what their threads do matter alone.
 */
#include "lib/base/free.h"
#include "lib/base/lower_bound.h"
#include "lib/judge/judge.h"

#include <stdlib.h>
#include <string.h>

/* Events of a thread, by pos: the epoch begins at or behind `begin`; repeats come before `first`, and last before
 * `last`, which may be the number of its events. */
struct judge_epoch {
	uint32_t begin, first, last;
};

struct walk {
	const struct judge *j;
	const struct goal *goal;
	uint32_t *next, *misled; /* by thread: how many of its events have occurred; from where it cannot be followed */
};

static bool repeated(const struct judge *j, uint32_t cell)
{
	return j->repeats.cells[cell / 8] >> cell % 8 & 1;
}

/* The thread's epoch with the event at `pos`, if a gap comes behind that; NULL: none does. */
static const struct judge_epoch *epoch_at(const struct judge *j, uint32_t thread, uint32_t pos)
{
	const struct judge_repeats *r = &j->repeats;
	uint32_t end = r->first[thread + 1], k = lower_bound(i, r->first[thread], end, r->epochs[i].last <= pos);
	return k < end && r->epochs[k].begin <= pos ? &r->epochs[k] : NULL;
}

/* The epoch that the thread is in, with a gap to come; repeats right behind its last event have occurred with that. */
static const struct judge_epoch *open_epoch(const struct walk *w, uint32_t thread)
{
	uint32_t next = w->next[thread];
	const struct judge_epoch *epoch = next ? epoch_at(w->j, thread, next - 1) : NULL;
	return epoch && next < epoch->last ? epoch : NULL;
}

static bool is_goal(const struct goal *goal, uint32_t e)
{
	for (uint32_t i = 0; i < goal->count; i++)
		if (goal->events[i] == e)
			return true;
	return false;
}

/* True if none of the writes that the read saw may have been repeated before the read in the trace, but not in the
 * schedule. */
static bool sees_last(const struct walk *w, uint32_t e, uint32_t thread)
{
	const struct model *m = w->j->m;
	uint32_t first = m->events[e].object, end = first + m->sites[m->events[e].site].cells, entry = w->j->partner[e];
	for (uint32_t cell = first; cell < end; cell++) {
		entry = cell > first ? model_entry_behind(m, cell, e, entry) : entry;
		uint32_t saw = judge_saw(w->j, e, entry);
		if (saw == MODEL_NONE || !judge_may_be_repeated(w->j, saw) || model_thread_of(m, saw) == thread)
			continue;
		const struct judge_epoch *epoch = epoch_at(w->j, model_thread_of(m, saw), m->events[saw].pos);
		if (epoch && w->next[model_thread_of(m, saw)] < epoch->last)
			return false;
	}
	return true;
}

/* The thread has accessed what another one writes now; what it repeats from here on is not as it was. */
static void mislead(struct walk *w, uint32_t thread, const struct judge_epoch *epoch)
{
	uint32_t from = w->next[thread] < epoch->first ? epoch->first : w->next[thread] + 1;
	w->misled[thread] = from < w->misled[thread] ? from : w->misled[thread];
}

/* True if the thread has accessed the cell in its epoch so far by what it may repeat. */
static bool has_accessed(const struct walk *w, uint32_t thread, uint32_t cell, const struct judge_epoch *epoch)
{
	enum { MOST = 256 }; /* looked at: beyond, it is taken for granted */
	const struct model *m = w->j->m;
	const uint32_t *own = m->threads[thread].events, *entries = m->cell_events;
	uint32_t first = m->cells[cell].first, last = own[w->next[thread] - 1];
	uint32_t i = lower_bound(k, first, first + m->cells[cell].count, entries[k] <= last);
	for (unsigned looked = 0; i-- > first && entries[i] >= own[epoch->begin]; looked++)
		if (looked == MOST ||
		    (judge_may_be_repeated(w->j, entries[i]) && model_thread_of(m, entries[i]) == thread))
			return true;
	return false;
}

static void write(struct walk *w, uint32_t e, uint32_t by)
{
	const struct model *m = w->j->m;
	uint32_t first = m->events[e].object, end = first + m->sites[m->events[e].site].cells;
	for (uint32_t cell = first; cell < end; cell++)
		for (uint32_t t = 0; repeated(w->j, cell) && t < m->thread_count; t++) {
			const struct judge_epoch *epoch = t != by ? open_epoch(w, t) : NULL;
			if (epoch && has_accessed(w, t, cell, epoch))
				mislead(w, t, epoch);
		}
}

/* Runs the thread's events from its next one to `to`. False if one of them cannot be followed. */
static bool run(struct walk *w, uint32_t thread, uint32_t to)
{
	const struct model *m = w->j->m;
	for (uint32_t pos = w->next[thread]; pos <= to; pos++) {
		uint32_t e = m->threads[thread].events[pos];
		enum rt_op op = model_op(m, e);
		if (pos >= w->misled[thread])
			return false;
		if (rt_op_is_access(op) && rt_op_reads(op) && !is_goal(w->goal, e) && !sees_last(w, e, thread))
			return false;
		if (rt_op_is_access(op) && rt_op_writes(op))
			write(w, e, thread);
		w->next[thread] = pos + 1;
	}
	return true;
}

/* The schedule's first steps that run events in the trace's order: their number. */
static uint32_t take_part(struct walk *w, const struct schedule *s)
{
	const struct model *m = w->j->m;
	uint32_t steps = 0, behind = 0;
	for (; steps < s->count; steps++) {
		const struct schedule_step *step = &s->steps[steps];
		const uint32_t *own = m->threads[step->thread].events;
		if (own[step->from] < behind)
			break;
		behind = own[step->to] + 1;
		w->next[step->thread] = step->to + 1;
	}
	return steps;
}

/* An access that its thread may repeat behind the end of the part, and what others of the part do in the cell after it.
 * False if one of them read what it wrote. */
static bool look_behind(struct walk *w, uint32_t cell, uint32_t e, uint32_t thread, const struct judge_epoch *epoch)
{
	const struct model *m = w->j->m;
	uint32_t end = m->cells[cell].first + m->cells[cell].count;
	for (uint32_t i = model_entry(m, cell, e) + 1; i < end; i++) {
		uint32_t other = m->cell_events[i], by = model_thread_of(m, other);
		if (by == thread && rt_op_writes(model_op(m, other)))
			return true;
		if (by == thread || m->events[other].pos >= w->next[by])
			continue;
		if (rt_op_reads(model_op(m, other)) && rt_op_writes(model_op(m, e)) && !is_goal(w->goal, other))
			return false;
		if (rt_op_writes(model_op(m, other))) {
			mislead(w, thread, epoch);
			return true;
		}
	}
	return true;
}

static bool look_at_part(struct walk *w)
{
	const struct model *m = w->j->m;
	for (uint32_t t = 0; t < m->thread_count; t++) {
		const struct judge_epoch *epoch = open_epoch(w, t);
		for (uint32_t pos = epoch ? epoch->begin : w->next[t]; pos < w->next[t]; pos++) {
			uint32_t e = m->threads[t].events[pos], cells = m->sites[m->events[e].site].cells;
			for (uint32_t c = 0; judge_may_be_repeated(w->j, e) && c < cells; c++)
				if (!look_behind(w, m->events[e].object + c, e, t, epoch))
					return false;
		}
	}
	return true;
}

bool judge_repeats_hold(const struct judge *j, const struct schedule *s, const struct goal *goal)
{
	const struct model *m = j->m;
	if (!j->repeats.twins)
		return true;
	struct walk w = {.j = j,
	                 .goal = goal,
	                 .next = calloc((size_t)m->thread_count + 1, sizeof *w.next),
	                 .misled = malloc(((size_t)m->thread_count + 1) * sizeof *w.misled)};
	bool ok = w.next && w.misled;
	if (ok) {
		memset(w.misled, 0xff, m->thread_count * sizeof *w.misled);
		uint32_t i = take_part(&w, s);
		for (ok = look_at_part(&w); ok && i < s->count; i++)
			ok = run(&w, s->steps[i].thread, s->steps[i].to);
		for (i = 0; ok && i < goal->count; i++)
			ok = m->events[goal->events[i]].pos < w.misled[model_thread_of(m, goal->events[i])];
	}
	free_all(w.next, w.misled);
	return ok;
}

/* ---- Epochs with gaps, and what may be repeated in them ---- */

static bool is_plain(const struct model *m, uint32_t e)
{
	return model_op(m, e) == RT_OP_READ || model_op(m, e) == RT_OP_WRITE;
}

/* Position of the thread's first event from that number on. */
static uint32_t pos_of(const struct model *m, uint32_t thread, uint32_t number)
{
	const uint32_t *own = m->threads[thread].events;
	return lower_bound(i, 0, m->threads[thread].count, m->events[own[i]].number < number);
}

static void add_epochs(struct judge_repeats *r, const struct model *m, uint32_t *fill)
{
	for (uint32_t i = 0; i < m->gap_count; i++)
		r->first[m->gaps[i].thread + 1]++;
	for (uint32_t t = 0; t < m->thread_count; t++)
		r->first[t + 1] += r->first[t];
	memcpy(fill, r->first, m->thread_count * sizeof *fill);
	for (uint32_t i = 0; i < m->gap_count; i++) {
		const struct model_gap *g = &m->gaps[i];
		const uint32_t *own = m->threads[g->thread].events;
		uint32_t k = fill[g->thread]++, last = pos_of(m, g->thread, g->last);
		uint32_t least = k > r->first[g->thread] ? r->epochs[k - 1].last : 0, begin = last;
		while (begin > least && is_plain(m, own[begin - 1]))
			begin--;
		r->epochs[k] = (struct judge_epoch){begin, pos_of(m, g->thread, g->first), last};
	}
}

/*
 * True if the access at this entry of the cell may be repeated in its epoch: it is like an earlier one of that. So may
 * what is written before it be, and then others may not have seen this one's value, but that.
 */
static bool is_twin(const struct judge *j, uint32_t cell, uint32_t entry, const struct judge_epoch *epoch)
{
	enum { MOST = 64 }; /* looked at: beyond, it is taken for one */
	const struct model *m = j->m;
	uint32_t e = m->cell_events[entry], thread = model_thread_of(m, e);
	const struct model_site *site = &m->sites[m->events[e].site];
	uint32_t begin = m->threads[thread].events[epoch->begin];
	for (unsigned looked = 0; entry-- > m->cells[cell].first && m->cell_events[entry] >= begin; looked++) {
		uint32_t other = m->cell_events[entry];
		const struct model_site *of = &m->sites[m->events[other].site];
		bool like = m->events[other].object == m->events[e].object && of->pc == site->pc && of->op == site->op;
		bool over = rt_op_writes(site->op) && rt_op_writes(of->op) && judge_may_be_repeated(j, other);
		if (looked == MOST || (model_thread_of(m, other) == thread && (like || over)))
			return true;
	}
	return false;
}

/* True if the access may have repeats that read or leave something else. */
static bool is_vague(const struct model *m, uint32_t e)
{
	return is_plain(m, e) && !(m->value_count && model_has_value(m, e));
}

static bool mark_twins(struct judge_repeats *r, const struct judge *j)
{
	const struct model *m = j->m;
	bool any = false;
	for (uint32_t cell = 0; cell < m->cell_count; cell++)
		for (uint32_t i = m->cells[cell].first; i < m->cells[cell].first + m->cells[cell].count; i++) {
			uint32_t e = m->cell_events[i];
			const struct judge_epoch *epoch =
			    is_vague(m, e) ? epoch_at(j, model_thread_of(m, e), m->events[e].pos) : NULL;
			if (!epoch || !is_twin(j, cell, i, epoch))
				continue;
			r->twins[e / 8] |= (uint8_t)(1 << e % 8);
			r->cells[cell / 8] |= (uint8_t)(1 << cell % 8);
			any = true;
		}
	return any;
}

bool judge_scan_repeats(struct judge *j)
{
	const struct model *m = j->m;
	struct judge_repeats *r = &j->repeats;
	if (!m->gap_count)
		return true;
	uint32_t *fill = malloc(((size_t)m->thread_count + 1) * sizeof *fill);
	r->epochs = calloc(m->gap_count, sizeof *r->epochs);
	r->first = calloc((size_t)m->thread_count + 2, sizeof *r->first);
	r->twins = calloc((size_t)m->event_count / 8 + 1, 1);
	r->cells = calloc((size_t)m->cell_count / 8 + 1, 1);
	bool ok = fill && r->epochs && r->first && r->twins && r->cells;
	if (ok) {
		add_epochs(r, m, fill);
		if (!mark_twins(r, j))
			judge_repeats_release(r);
	}
	free(fill);
	return ok;
}

void judge_repeats_release(struct judge_repeats *r)
{
	free_all(r->epochs, r->first, r->twins, r->cells);
	memset(r, 0, sizeof *r);
}
