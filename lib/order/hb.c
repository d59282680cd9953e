/*
 * hb: happens-before (Lamport 1978; for locks as in DJIT+ and FastTrack): the partial order relation and release to
 * later acquire of the same lock, by modes (readers do not order readers).
 */
#include "lib/order/builtin.h"
#include "lib/relation/por.h"

#include <stdlib.h>

struct order_result {
	struct segment_order hb;
};

enum rt_status hb_compute(const struct model *m, struct order_result **out, struct rt_error *err)
{
	*out = malloc(sizeof **out);
	if (!*out)
		return rt_error_set(err, RT_EMEMORY, "no memory to order the trace's events");
	enum rt_status status = segment_order_compute(m, true, &(*out)->hb, err);
	if (status) {
		free(*out);
		*out = NULL;
	}
	return status;
}

bool hb_unordered(const struct order_result *r, uint32_t e1, uint32_t e2)
{
	return !segment_order_before(&r->hb, e1, e2);
}

uint32_t hb_horizon(const struct order_result *r, uint32_t e2, uint32_t thread)
{
	return segment_order_horizon(&r->hb, e2, thread);
}

void hb_free(struct order_result *r)
{
	if (!r)
		return;
	segment_order_release(&r->hb);
	free(r);
}
