/*
 * Orders: which events of a trace are ordered, by which rule. One file for each order, one line in orders[] (order.c).
 *
 * Every order answers the same question about a conflicting pair e1 <tr e2 (event indices): whether it is unordered.
 * docs/orders.md has a table of what each promises. Clock-based orders answer through a horizon: of thread t, the
 * events with pos < horizon(e2, t) are ordered before e2 (for shb: before or at e2's predecessor), so the unordered
 * ones are a window [horizon, ...).
 */
#ifndef LIB_ORDER_ORDER_H
#define LIB_ORDER_ORDER_H

#include "lib/trace/model.h"

#include <stdbool.h>

struct facts;
struct order_result; /* defined by each order */

struct order {
	const char *name; /* "hb" */
	/* Computes the order over the whole model. On RT_OK the caller owns *out; the facts must outlive it. */
	enum rt_status (*compute)(struct facts *f, struct order_result **out, struct rt_error *err);
	/* True if the conflicting pair e1 <tr e2 is unordered. */
	bool (*unordered)(const struct order_result *r, uint32_t e1, uint32_t e2);
	/* See above; NULL if the order has no horizons. Monotone in e2 along its thread. */
	uint32_t (*horizon)(const struct order_result *r, uint32_t e2, uint32_t thread);
	void (*free)(struct order_result *r);
	/* For orders that warn of cells (Eraser): the access at which the cell is warned of; MODEL_NONE: none. NULL:
	 * the order judges pairs only. */
	uint32_t (*warned_at)(const struct order_result *r, uint32_t cell);
	bool promises; /* the first pair that it leaves unordered is a real race, or there is a deadlock (cp, wcp) */
	bool asked;    /* computed only if named by --orders */
	bool all;      /* warns also of cells that only one thread accesses */
};

/* All orders, in the order of the report's evidence; ends with a NULL name. */
extern const struct order orders[];
/* Index into orders[]; -1 if there is no such name. */
int order_find(const char *name);

#endif
