/*
 * Updates: a read of which the machine code shows that its value decides nothing but what the same thread's next event,
 * a write of the same cells, leaves there (struct rt_update). It may see any write: its thread does the same whatever
 * that is. What it writes then has another value than in the trace, and so do updates of that. No other read may see
 * such a value.
 *
 * The recorder leaves out accesses that repeat two earlier ones of their thread. So that none of these is a read that
 * would see such a value, a thread's updates of a cell count only if it reads the cell in no other way. For the same
 * reason none counts of which the model leaves out a part, as memory that one thread alone accesses.
 */
#include "lib/base/free.h"
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

/* Cells that have to be looked at, again. */
struct thinning {
	bool *mark;     /* by thread */
	bool *open;     /* by cell: it is in the list */
	uint32_t *list; /* each cell at most once */
	uint32_t count;
};

static void open_cell(struct thinning *t, uint32_t cell)
{
	if (!t->open[cell])
		t->list[t->count++] = cell;
	t->open[cell] = true;
}

/* Takes out the updates of one cell by threads that read it in another way, too. Each is another read of its other
 * cells then. */
static void thin_cell(struct model *m, uint32_t c, struct thinning *t)
{
	const struct model_cell *cell = &m->cells[c];
	mark_readers(m, cell, t->mark, true);
	for (uint32_t i = cell->first; i < cell->first + cell->count; i++) {
		uint32_t e = m->cell_events[i], first = m->events[e].object;
		if (!model_is_update(m, e) || !t->mark[model_thread_of(m, e)])
			continue;
		m->updates[e / 8] &= (uint8_t) ~(1 << e % 8);
		for (uint32_t other = first; other < first + m->sites[m->events[e].site].cells; other++)
			if (other != c)
				open_cell(t, other);
	}
	mark_readers(m, cell, t->mark, false);
}

static void thin(struct model *m, struct thinning *t)
{
	for (uint32_t c = m->cell_count; c-- > 0;)
		open_cell(t, c);
	while (t->count) {
		uint32_t c = t->list[--t->count];
		t->open[c] = false;
		thin_cell(m, c, t);
	}
}

bool loader_updates(struct loader *l)
{
	struct model *m = l->m;
	size_t n;
	const struct rt_update *updates = rt_trace_updates(m->trace, &n);
	uint64_t *writes = n ? malloc(((size_t)m->site_count + 1) * sizeof *writes) : NULL;
	struct thinning t = {0};
	if (n) {
		t.mark = calloc((size_t)m->thread_count + 1, sizeof *t.mark);
		t.open = calloc((size_t)m->cell_count + 1, sizeof *t.open);
		t.list = malloc(((size_t)m->cell_count + 1) * sizeof *t.list);
	}
	m->updates = n ? calloc((size_t)m->event_count / 8 + 1, 1) : NULL;
	bool ok = !n || (t.mark && t.open && t.list && writes && m->updates);
	for (uint32_t i = 0; ok && n && i < m->site_count; i++)
		writes[i] = m->sites[i].op == RT_OP_READ && !(m->sites[i].flags & MODEL_F_CUT)
		                ? write_of(updates, n, m->sites[i].pc)
		                : 0;
	for (uint32_t e = 0; ok && n && e < m->event_count; e++)
		if (writes[m->events[e].site] && is_written_back(m, e, writes[m->events[e].site]))
			m->updates[e / 8] |= (uint8_t)(1 << e % 8);
	if (ok && n)
		thin(m, &t);
	free_all(writes, t.mark, t.open, t.list);
	return ok;
}
