/*
 * Orders: which events of a trace are ordered, by which rule. One file an order, one line in orders[] (order.c).
 *
 * Every order answers the same question of a conflicting pair e1 <tr e2 (event indices): unordered? The tables on what
 * each promises are in docs/orders.md. Clock-based orders answer through a horizon: of thread t, the events with pos <
 * horizon(e2, t) are ordered before e2 (for shb: before or at e2's predecessor), so the unordered ones are a window
 * [horizon, ...).
 */
#ifndef LIB_ORDER_ORDER_H
#define LIB_ORDER_ORDER_H

#include "lib/trace/model.h"

#include <stdbool.h>

struct order_result; /* each order's own */

struct order {
	const char *name; /* "hb" */
	const char *summary;
	bool sound; /* every pair it leaves unordered is real (shb, syncp) */
	/* Computes the order over the whole model. On RT_OK *out is owned by the caller; m must outlive it. */
	enum rt_status (*compute)(const struct model *m, struct order_result **out, struct rt_error *err);
	/* Is the conflicting pair e1 <tr e2 unordered? */
	bool (*unordered)(const struct order_result *r, uint32_t e1, uint32_t e2);
	/* See above; NULL: this order has no horizons. Monotone in e2 along its thread. */
	uint32_t (*horizon)(const struct order_result *r, uint32_t e2, uint32_t thread);
	void (*free)(struct order_result *r);
	/* Of an order that warns of cells (Eraser): the access at which it does, MODEL_NONE: at none. NULL: it is of
	 * pairs alone. */
	uint32_t (*warned_at)(const struct order_result *r, uint32_t cell);
	bool promises; /* of the first pair that it leaves unordered: it is real, or there is a deadlock (cp, wcp) */
	bool asked;    /* computed only when it is asked for by name */
	bool all;      /* it warns of cells that one thread alone accesses, too */
};

/* All orders, in the order of the report's evidence; ends with a NULL name. */
extern const struct order orders[];
/* Index into orders[], -1 if there is none of that name. */
int order_find(const char *name);

#endif
