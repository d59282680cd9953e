/* What the order syncp tells besides unordered: the ideal, which is a witness. */
#ifndef LIB_ORDER_SYNCP_H
#define LIB_ORDER_SYNCP_H

#include "lib/order/order.h"

/*
 * The least sync-preserving ideal that enables both events: by thread, how many of its events are in it. NULL if there
 * is none. Borrowed; valid until the order is asked anything else.
 */
const uint32_t *syncp_ideal(const struct order_result *result, uint32_t e1, uint32_t e2);
/* The same for any number of events of different threads, for acquires too: a sync-preserving deadlock (PLDI 2023). */
const uint32_t *syncp_ideal_of(const struct order_result *result, const uint32_t *events, uint32_t count);

#endif
