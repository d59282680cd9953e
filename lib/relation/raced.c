/* Accesses that race with a write; see raced.h. Cell by cell, forward and backward. */
#include "lib/relation/raced.h"

#include "lib/relation/por.h"

#include <stdlib.h>
#include <string.h>

/* A thread's nearest writes to the cell on the side that was walked already, event indices; MODEL_NONE: none. */
struct nearest {
	uint32_t any, plain;
};

struct raced_walk {
	const struct model *m;
	const struct segment_order *hb;
	struct nearest *nearest; /* by thread */
	uint32_t *writers;       /* threads that have one */
	uint32_t writer_count;
};

/* True if a write of another thread, on the side that was walked, is unordered with e. A thread's nearest one is, or
 * none. */
static bool races(const struct raced_walk *w, uint32_t e, bool forward)
{
	const struct model *m = w->m;
	bool atomic = rt_op_is_atomic(model_op(m, e));
	for (uint32_t i = 0; i < w->writer_count; i++) {
		const struct nearest *n = &w->nearest[w->writers[i]];
		uint32_t write = atomic ? n->plain : n->any;
		if (w->writers[i] == model_thread_of(m, e) || write == MODEL_NONE)
			continue;
		if (forward ? !segment_order_before(w->hb, write, e) : !segment_order_before(w->hb, e, write))
			return true;
	}
	return false;
}

static void add_write(struct raced_walk *w, uint32_t e)
{
	uint32_t thread = model_thread_of(w->m, e);
	struct nearest *n = &w->nearest[thread];
	if (n->any == MODEL_NONE)
		w->writers[w->writer_count++] = thread;
	n->any = e;
	if (!rt_op_is_atomic(model_op(w->m, e)))
		n->plain = e;
}

static void walk_cell(struct raced_walk *w, uint8_t *raced, uint32_t cell, bool forward)
{
	const struct model *m = w->m;
	uint32_t first = m->cells[cell].first, n = m->cells[cell].count;
	for (uint32_t k = 0; k < n; k++) {
		uint32_t i = forward ? first + k : first + n - 1 - k, e = m->cell_events[i];
		if (races(w, e, forward))
			raced[i / 8] |= (uint8_t)(1 << i % 8);
		if (rt_op_writes(model_op(m, e)))
			add_write(w, e);
	}
	while (w->writer_count)
		w->nearest[w->writers[--w->writer_count]] = (struct nearest){MODEL_NONE, MODEL_NONE};
}

enum rt_status raced_find(struct model *m, struct facts *f, struct rt_error *err)
{
	if (!m->value_count || rt_trace_info(m->trace)->exact)
		return RT_OK;
	size_t threads = (size_t)m->thread_count + 1;
	struct raced_walk w = {.m = m};
	w.nearest = malloc(threads * sizeof *w.nearest);
	w.writers = malloc(threads * sizeof *w.writers);
	uint8_t *raced = calloc((size_t)model_entries(m) / 8 + 1, 1);
	if (w.nearest && w.writers && raced)
		w.hb = facts_hb(f);
	if (w.hb) {
		memset(w.nearest, 0xff, threads * sizeof *w.nearest);
		for (uint32_t cell = 0; cell < m->cell_count; cell++) {
			walk_cell(&w, raced, cell, true);
			walk_cell(&w, raced, cell, false);
		}
		m->raced = raced;
		raced = NULL;
	}
	free(w.nearest);
	free(w.writers);
	free(raced);
	return w.hb ? RT_OK : rt_error_set(err, RT_EMEMORY, "no memory for the values of the trace");
}
