/*
 * Schedules that begin with the trace's events in their order, but leave some of them out. Each thread's are then a
 * prefix of its events. If the events that are left out are few, it is faster to look at these than at the others: the
 * accesses that occur see what they saw, but for those that have read what a write that is left out has written.
 */
#include "lib/base/lower_bound.h"
#include "lib/base/vec.h"
#include "lib/judge/judge.h"

#include <stdlib.h>
#include <string.h>

/* The steps that run events in the trace's order, all before event `end`; the last of them may go on behind that. */
static void find_part(struct judge *j, const struct schedule *s, uint32_t end, struct judge_part *part)
{
	const struct model *m = j->m;
	*part = (struct judge_part){.resumed = MODEL_NONE};
	memset(j->cut, 0, m->thread_count * sizeof *j->cut);
	for (; part->steps < s->count; part->steps++) {
		const struct schedule_step *step = &s->steps[part->steps];
		if (step->thread >= m->thread_count || step->to >= m->threads[step->thread].count ||
		    step->from != j->cut[step->thread] || step->from > step->to)
			return;
		const uint32_t *own = m->threads[step->thread].events;
		if (own[step->from] < part->behind || own[step->from] >= end)
			return;
		uint32_t behind =
		    own[step->to] < end ? step->to + 1 : lower_bound(i, step->from, step->to, own[i] < end);
		part->events += behind - step->from;
		part->behind = own[behind - 1] + 1;
		j->cut[step->thread] = behind;
		if (behind <= step->to) {
			part->resumed = behind;
			return;
		}
	}
}

/* Adds the accesses of the part that read, in the trace, what a write that is left out has written. False if there are
 * too many. */
static bool add_misled(struct judge *j, uint32_t write, const struct judge_part *part)
{
	const struct model *m = j->m;
	uint32_t first = m->events[write].object, cells = m->sites[m->events[write].site].cells, entry = 0;
	for (uint32_t cell = first; cell < first + cells; cell++) {
		entry = cell > first ? model_entry_behind(m, cell, write, entry)
		        : cells > 1  ? j->partner[write]
		                     : model_entry(m, cell, write);
		uint32_t end = m->cells[cell].first + m->cells[cell].count;
		for (uint32_t i = entry + 1; i < end && m->cell_events[i] < part->behind; i++) {
			uint32_t e = m->cell_events[i];
			if (rt_op_reads(model_op(m, e)) && judge_keeps(j, e)) {
				/* Each is replayed with a look at all threads. */
				if (((uint64_t)j->misled_count + 1) * m->thread_count > part->events / 2 ||
				    !vec_reserve(&j->misled, &j->misled_capacity, (uint64_t)j->misled_count + 1,
				                 sizeof *j->misled))
					return false;
				j->misled[j->misled_count++] = e;
			}
			if (rt_op_writes(model_op(m, e)))
				break;
		}
	}
	return true;
}

static int by_index(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

static bool find_misled(struct judge *j, const struct judge_part *part)
{
	const struct model *m = j->m;
	uint32_t count = 0;
	j->misled_count = 0;
	for (uint32_t t = 0; t < m->thread_count; t++) {
		const struct model_thread *thread = &m->threads[t];
		for (uint32_t pos = j->cut[t]; pos < thread->count && thread->events[pos] < part->behind; pos++) {
			uint32_t e = thread->events[pos];
			if (rt_op_is_access(model_op(m, e)) && rt_op_writes(model_op(m, e)) && !add_misled(j, e, part))
				return false;
		}
	}
	if (j->misled_count)
		qsort(j->misled, j->misled_count, sizeof *j->misled, by_index);
	for (uint32_t i = 0; i < j->misled_count; i++)
		if (!count || j->misled[count - 1] != j->misled[i])
			j->misled[count++] = j->misled[i];
	j->misled_count = count;
	return true;
}

/* True if each thread of the part begins after its creation. */
static bool creates_threads(const struct judge *j)
{
	const struct model *m = j->m;
	for (uint32_t t = 0; t < m->thread_count; t++) {
		uint32_t fork = m->threads[t].fork;
		if (j->cut[t] && fork != MODEL_NONE && (fork > m->threads[t].events[0] || !judge_keeps(j, fork)))
			return false;
	}
	return true;
}

bool judge_find_part(struct judge *j, const struct schedule *s, uint32_t end, uint32_t known, struct judge_part *part)
{
	if (!j->interval)
		return false;
	find_part(j, s, end, part);
	return part->events > known && part->events - known >= j->interval &&
	       part->behind - part->events <= part->events / 2 && creates_threads(j) && find_misled(j, part);
}
