/*
 * hb: happens-before (Lamport 1978; for locks as in DJIT+ and FastTrack): the partial order relation and release to
 * later acquire of the same lock, by modes (readers do not order readers).
 */
#include "lib/order/builtin.h"

#include <stdlib.h>

struct order_result {
	const struct segment_order *hb; /* borrowed */
};

enum rt_status hb_compute(struct facts *f, struct order_result **out, struct rt_error *err)
{
	const struct segment_order *hb = facts_hb(f);
	*out = hb ? malloc(sizeof **out) : NULL;
	if (!*out)
		return rt_error_set(err, RT_EMEMORY, "no memory to order the trace's events");
	(*out)->hb = hb;
	return RT_OK;
}

bool hb_unordered(const struct order_result *r, uint32_t e1, uint32_t e2)
{
	return !segment_order_before(r->hb, e1, e2);
}

uint32_t hb_horizon(const struct order_result *r, uint32_t e2, uint32_t thread)
{
	return segment_order_horizon(r->hb, e2, thread);
}

void hb_free(struct order_result *r)
{
	free(r);
}
