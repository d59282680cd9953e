/*
 * hybrid: PECAN's constraint model (section 4.2), after O'Callahan and Choi (PPoPP 2003): two accesses are independent
 * when they hold no common lock in excluding modes and no path of the partial order relation joins them.
 */
#include "lib/order/builtin.h"
#include "lib/relation/por.h"

#include <stdlib.h>

struct order_result {
	struct segment_order por;
};

enum rt_status hybrid_compute(const struct model *m, struct order_result **out, struct rt_error *err)
{
	*out = malloc(sizeof **out);
	if (!*out)
		return rt_error_set(err, RT_EMEMORY, "no memory to order the trace's events");
	enum rt_status status = segment_order_compute(m, false, &(*out)->por, err);
	if (status) {
		free(*out);
		*out = NULL;
	}
	return status;
}

bool hybrid_unordered(const struct order_result *r, uint32_t e1, uint32_t e2)
{
	const struct model *m = r->por.m;
	return m->events[e1].pos >= segment_order_race_horizon(&r->por, e2, model_thread_of(m, e1)) &&
	       !model_locksets_exclude(m, model_lockset_of(m, e1), model_lockset_of(m, e2));
}

void hybrid_free(struct order_result *r)
{
	if (!r)
		return;
	segment_order_release(&r->por);
	free(r);
}

const struct segment_order *hybrid_por(const struct order_result *hybrid)
{
	return &hybrid->por;
}
