/* The functions that orders[] lists: each order defines NAME_compute and so on in its own file; see order.h. */
#ifndef LIB_ORDER_BUILTIN_H
#define LIB_ORDER_BUILTIN_H

#include "lib/order/order.h"
#include "lib/relation/facts.h"

#define ORDER_FUNCTIONS(name)                                                                                          \
	enum rt_status name##_compute(struct facts *f, struct order_result **out, struct rt_error *err);               \
	bool name##_unordered(const struct order_result *r, uint32_t e1, uint32_t e2);                                 \
	uint32_t name##_horizon(const struct order_result *r, uint32_t e2, uint32_t thread);                           \
	void name##_free(struct order_result *r);

/* Not every order has horizons; orders[] must not name a function that is not defined. */
ORDER_FUNCTIONS(hybrid)
ORDER_FUNCTIONS(lockset)
enum rt_status lockset0_compute(struct facts *f, struct order_result **out, struct rt_error *err);
uint32_t lockset_warned_at(const struct order_result *r, uint32_t cell);
ORDER_FUNCTIONS(hb)
ORDER_FUNCTIONS(shb)
ORDER_FUNCTIONS(cp)
ORDER_FUNCTIONS(wcp)
ORDER_FUNCTIONS(syncp)

#endif
