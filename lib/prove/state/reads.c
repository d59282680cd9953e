/* Constraints on reads; see reads.h. */
#include "lib/prove/state/reads.h"

#include <stdlib.h>

static void scan_cells(struct reads *r)
{
	const struct model *m = r->m;
	for (uint32_t c = 0; c < m->cell_count; c++) {
		uint32_t last = MODEL_NONE;
		for (uint32_t i = m->cells[c].first; i < m->cells[c].first + m->cells[c].count; i++) {
			uint32_t e = m->cell_events[i];
			if (m->events[e].object == c)
				r->entry[e] = i;
			r->before[i] = last;
			if (rt_op_writes(model_op(m, e)))
				last = i;
		}
	}
}

bool reads_init(struct reads *r, const struct model *m, bool free, const struct values *values)
{
	size_t entries = model_entries(m);
	*r = (struct reads){.m = m, .free = free, .values = values};
	r->before = calloc(entries + 1, sizeof *r->before);
	r->entry = calloc((size_t)m->event_count + 1, sizeof *r->entry);
	if (!r->before || !r->entry)
		return false;
	scan_cells(r);
	return true;
}

void reads_release(struct reads *r)
{
	free(r->before);
	free(r->entry);
}

uint32_t reads_entry(const struct reads *r, uint32_t e, uint32_t cell)
{
	const struct model *m = r->m;
	return cell == m->events[e].object ? r->entry[e] : model_entry(m, cell, e);
}
