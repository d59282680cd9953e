/* See last_writes.h. */
#include "lib/relation/last_writes.h"

#include <stdlib.h>

bool last_writes_init(struct last_writes *w, const struct model *m)
{
	w->before = calloc((size_t)model_entries(m) + 1, sizeof *w->before);
	w->entry = calloc((size_t)m->event_count + 1, sizeof *w->entry);
	if (!w->before || !w->entry) {
		last_writes_release(w);
		return false;
	}
	for (uint32_t c = 0; c < m->cell_count; c++) {
		uint32_t last = MODEL_NONE;
		for (uint32_t i = m->cells[c].first; i < m->cells[c].first + m->cells[c].count; i++) {
			uint32_t e = m->cell_events[i];
			if (m->events[e].object == c)
				w->entry[e] = i;
			w->before[i] = last;
			if (rt_op_writes(model_op(m, e)))
				last = i;
		}
	}
	return true;
}

void last_writes_release(struct last_writes *w)
{
	free(w->before);
	free(w->entry);
	*w = (struct last_writes){0};
}
