/* Uses of a variable; see uses.h. */
#include "lib/report/uses.h"

enum { THREADS = 64 }; /* counted of one position; there may be more */

struct threads {
	uint32_t items[THREADS], count;
};

static void add_thread(struct threads *t, uint32_t thread)
{
	for (uint32_t i = 0; i < t->count; i++)
		if (t->items[i] == thread)
			return;
	if (t->count < THREADS)
		t->items[t->count++] = thread;
}

struct uses uses_of(const struct model *m, const struct segment_order *por, uint32_t cell, const uint32_t *events,
                    uint32_t n)
{
	struct uses u = {0};
	struct threads all = {.count = 0}, at[2] = {{.count = 0}, {.count = 0}};
	uint32_t site[2] = {m->events[events[0]].site, m->events[events[0]].site};
	const uint32_t *uses = &m->cell_events[m->cells[cell].first];
	struct guard_span span = guard_span_of(m, por, cell);
	for (uint32_t i = 1; i < n && site[1] == site[0]; i++)
		site[1] = m->events[events[i]].site;
	for (uint32_t i = 0; i < m->cells[cell].count; i++) {
		bool shared = i >= span.first && i < span.end && guard_counts_event(m, uses[i]);
		u.accesses += shared;
		u.writes += shared && rt_op_writes(model_op(m, uses[i]));
		add_thread(&all, model_thread_of(m, uses[i]));
		for (int k = 0; k < 2; k++)
			if (m->events[uses[i]].site == site[k])
				add_thread(&at[k], model_thread_of(m, uses[i]));
	}
	u.threads = all.count;
	u.reached[0] = at[0].count;
	u.reached[1] = at[1].count;
	return u;
}
