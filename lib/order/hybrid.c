/*
 * hybrid: PECAN's constraint model (section 4.2), after O'Callahan and Choi (PPoPP 2003): two accesses are independent
 * when they hold no common lock in excluding modes and no path of the partial order relation joins them.
 */
#include "lib/order/builtin.h"

#include <stdlib.h>

struct order_result {
	const struct segment_order *por; /* borrowed */
};

enum rt_status hybrid_compute(struct facts *f, struct order_result **out, struct rt_error *err)
{
	const struct segment_order *por = facts_por(f);
	*out = por ? malloc(sizeof **out) : NULL;
	if (!*out)
		return rt_error_set(err, RT_EMEMORY, "no memory to order the trace's events");
	(*out)->por = por;
	return RT_OK;
}

bool hybrid_unordered(const struct order_result *r, uint32_t e1, uint32_t e2)
{
	const struct model *m = r->por->m;
	return m->events[e1].pos >= segment_order_race_horizon(r->por, e2, model_thread_of(m, e1)) &&
	       !model_locksets_exclude(m, model_lockset_of(m, e1), model_lockset_of(m, e2));
}

void hybrid_free(struct order_result *r)
{
	free(r);
}
