/*
 * Warnings of an order: Eraser's cells, each with the access that left it without locks. A warning is reported as a
 * pair of events, with the access before it, of another thread if there is one. The two need not conflict: both may
 * read, or be of one thread.
 */
#include "lib/search/found.h"
#include "lib/search/search.h"

/* The latest access of the cell before e, of another thread if there is one; else the next one; else e. */
static uint32_t other_access(const struct model *m, uint32_t cell, uint32_t e)
{
	const uint32_t *events = &m->cell_events[m->cells[cell].first];
	uint32_t n = m->cells[cell].count, at = 0, own = MODEL_NONE;
	while (at < n && events[at] < e)
		at++;
	for (uint32_t i = at; i-- > 0;) {
		if (model_thread_of(m, events[i]) != model_thread_of(m, e))
			return events[i];
		own = own == MODEL_NONE ? events[i] : own;
	}
	if (own != MODEL_NONE)
		return own;
	return at + 1 < n ? events[at + 1] : e;
}

enum rt_status warning_search(const struct search_context *c, int order, struct anomaly_list *list,
                              struct rt_error *err)
{
	const struct order_result *r = search_order(c, order);
	const struct pattern pattern = {.name = orders[order].name, .kind = ANOMALY_RACE, .count = 2};
	struct found_list found = {.context = c, .list = list};
	uint32_t last = MODEL_NONE;
	for (uint32_t cell = 0; r && cell < c->m->cell_count && !found.failed; cell++) {
		uint32_t e2 = orders[order].warned_at(r, cell);
		if (e2 == MODEL_NONE || e2 == last) /* the cells of one access are one warning */
			continue;
		last = e2;
		uint32_t events[] = {other_access(c->m, cell, e2), e2};
		found_tuple(&found, &pattern, events, false);
	}
	return found_finish(&found, err);
}
