/* What the order syncp tells besides unordered: the ideal, which is a witness. */
#ifndef LIB_ORDER_SYNCP_H
#define LIB_ORDER_SYNCP_H

#include "lib/order/order.h"

/*
 * The least sync-preserving ideal that enables the events, of different threads: by thread, how many of its events are
 * in it. NULL if there is none. Acquires may be among them: a sync-preserving deadlock (PLDI 2023). Borrowed; valid
 * until the order is asked anything else.
 */
const uint32_t *syncp_ideal(const struct order_result *result, const uint32_t *events, uint32_t count);

#endif
