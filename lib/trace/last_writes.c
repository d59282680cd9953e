/* See last_writes.h. */
#include "lib/trace/last_writes.h"

#include "lib/base/free.h"

#include <stdlib.h>

/* Marks this entry, which comes behind `last`, of an event of this cell. */
static void add_entry(struct last_writes *w, uint32_t i, bool first, bool writes, uint32_t last)
{
	uint32_t group = i / LAST_WRITES_GROUP, at = i % LAST_WRITES_GROUP;
	if (!at) {
		w->before[group] = last;
		w->ranks[group] = w->count;
	}
	w->firsts[group] |= (uint64_t)first << at;
	w->writes[group] |= (uint64_t)writes << at;
	w->count += writes;
}

bool last_writes_init(struct last_writes *w, const struct model *m)
{
	size_t groups = (size_t)model_entries(m) / LAST_WRITES_GROUP + 1;
	*w = (struct last_writes){.writes = calloc(groups, sizeof *w->writes),
	                          .firsts = calloc(groups, sizeof *w->firsts),
	                          .before = malloc(groups * sizeof *w->before),
	                          .ranks = malloc(groups * sizeof *w->ranks),
	                          .entry = calloc((size_t)m->event_count + 1, sizeof *w->entry)};
	if (!w->writes || !w->firsts || !w->before || !w->ranks || !w->entry) {
		last_writes_release(w);
		return false;
	}
	for (uint32_t c = 0; c < m->cell_count; c++) {
		uint32_t last = MODEL_NONE, first = m->cells[c].first;
		for (uint32_t i = first; i < first + m->cells[c].count; i++) {
			uint32_t e = m->cell_events[i];
			bool writes = rt_op_writes(model_op(m, e));
			add_entry(w, i, i == first, writes, last);
			if (m->events[e].object == c)
				w->entry[e] = i;
			if (writes)
				last = i;
		}
	}
	return true;
}

void last_writes_release(struct last_writes *w)
{
	free_all(w->writes, w->firsts, w->before, w->ranks, w->entry);
	*w = (struct last_writes){0};
}
