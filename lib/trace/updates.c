/*
 * Updates: a read of which the machine code shows that its value decides nothing but what the same thread's next event,
 * a write of the same cells, leaves there (struct rt_update). It may see any write: its thread does the same whatever
 * that is. What it writes then has another value than in the trace, and so do updates of that. No other read may see
 * such a value.
 *
 * The recorder leaves out accesses that repeat two earlier ones of their thread. So that none of these is a read that
 * would see such a value, a thread's updates of a cell count only if it reads the cell in no other way.
 */
#include "lib/base/lower_bound.h"
#include "lib/trace/loader.h"

#include <stdlib.h>

/* The pc of the write that belongs to a read at this pc; 0: it is no update's. */
static uint64_t write_of(const struct rt_update *updates, size_t n, uint64_t pc)
{
	size_t at = lower_bound(i, 0, n, updates[i].read < pc);
	return at < n && updates[at].read == pc ? updates[at].write : 0;
}

/* True if the event's thread goes on with the write of the update, of the same cells. */
static bool is_written_back(const struct model *m, uint32_t e, uint64_t pc)
{
	const struct model_thread *t = &m->threads[model_thread_of(m, e)];
	uint32_t pos = m->events[e].pos + 1, next = pos < t->count ? t->events[pos] : MODEL_NONE;
	return pc && next != MODEL_NONE && model_op(m, next) == RT_OP_WRITE &&
	       m->sites[m->events[next].site].pc == pc && m->events[next].object == m->events[e].object &&
	       m->sites[m->events[next].site].cells == m->sites[m->events[e].site].cells;
}

/* Marks (or not) the threads that read the cell in another way. */
static void mark_readers(const struct model *m, const struct model_cell *cell, bool *mark, bool as)
{
	for (uint32_t i = cell->first; i < cell->first + cell->count; i++)
		if (rt_op_reads(model_op(m, m->cell_events[i])) && !model_is_update(m, m->cell_events[i]))
			mark[model_thread_of(m, m->cell_events[i])] = as;
}

/* Takes out the updates of one cell by threads that read it in another way, too. True if there are any. */
static bool thin_cell(struct model *m, const struct model_cell *cell, bool *mark)
{
	bool thinned = false;
	mark_readers(m, cell, mark, true);
	for (uint32_t i = cell->first; i < cell->first + cell->count; i++) {
		uint32_t e = m->cell_events[i];
		if (!model_is_update(m, e) || !mark[model_thread_of(m, e)])
			continue;
		m->updates[e / 8] &= (uint8_t) ~(1 << e % 8);
		thinned = true;
	}
	mark_readers(m, cell, mark, false);
	return thinned;
}

/* An update that is taken out is another read of its other cells. */
static void thin(struct model *m, bool *mark)
{
	for (bool thinned = true; thinned;) {
		thinned = false;
		for (uint32_t c = 0; c < m->cell_count; c++)
			thinned |= thin_cell(m, &m->cells[c], mark);
	}
}

bool loader_updates(struct loader *l)
{
	struct model *m = l->m;
	size_t n;
	const struct rt_update *updates = rt_trace_updates(m->trace, &n);
	uint64_t *writes = n ? malloc(((size_t)m->site_count + 1) * sizeof *writes) : NULL;
	bool *mark = calloc((size_t)m->thread_count + 1, sizeof *mark);
	m->updates = n ? calloc((size_t)m->event_count / 8 + 1, 1) : NULL;
	bool ok = mark && (!n || (writes && m->updates));
	for (uint32_t i = 0; ok && n && i < m->site_count; i++)
		writes[i] = m->sites[i].op == RT_OP_READ ? write_of(updates, n, m->sites[i].pc) : 0;
	for (uint32_t e = 0; ok && n && e < m->event_count; e++)
		if (writes[m->events[e].site] && is_written_back(m, e, writes[m->events[e].site]))
			m->updates[e / 8] |= (uint8_t)(1 << e % 8);
	if (ok && n)
		thin(m, mark);
	free(writes);
	free(mark);
	return ok;
}
