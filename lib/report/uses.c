/* Uses of a variable; see uses.h. */
#include "lib/report/uses.h"

#include <stdlib.h>

/* Counts a thread, unless it is counted: seen has a bit for each of the counts. */
static void count_thread(unsigned char *seen, unsigned bit, uint32_t *count)
{
	*count += !(*seen & bit);
	*seen = (unsigned char)(*seen | bit);
}

bool uses_of(const struct model *m, const struct segment_order *por, uint32_t cell, const uint32_t *events, uint32_t n,
             struct uses *out)
{
	struct uses u = {0};
	unsigned char *seen = calloc((size_t)m->thread_count + 1, 1);
	if (!seen)
		return false;
	uint32_t site[2] = {m->events[events[0]].site, m->events[events[0]].site};
	const uint32_t *uses = &m->cell_events[m->cells[cell].first];
	struct guard_span span = guard_span_of(m, por, cell);
	for (uint32_t i = 1; i < n && site[1] == site[0]; i++)
		site[1] = m->events[events[i]].site;
	for (uint32_t i = 0; i < m->cells[cell].count; i++) {
		bool shared = i >= span.first && i < span.end && guard_counts_event(m, uses[i]);
		u.accesses += shared;
		u.writes += shared && rt_op_writes(model_op(m, uses[i]));
		unsigned char *of_thread = &seen[model_thread_of(m, uses[i])];
		count_thread(of_thread, 1, &u.threads);
		for (unsigned k = 0; k < 2; k++)
			if (m->events[uses[i]].site == site[k])
				count_thread(of_thread, 2U << k, &u.reached[k]);
	}
	free(seen);
	*out = u;
	return true;
}
