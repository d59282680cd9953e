/* What the order syncp provides besides unordered: the ideal, which is a witness. */
#ifndef LIB_ORDER_SYNCP_H
#define LIB_ORDER_SYNCP_H

#include "lib/order/order.h"

/*
 * The least sync-preserving ideal that enables the events, which are of different threads: by thread, the number of its
 * events in the ideal. NULL if there is none. The events may be acquires: a sync-preserving deadlock (PLDI 2023).
 * Borrowed; valid until the next query of the order.
 */
const uint32_t *syncp_ideal(const struct order_result *result, const uint32_t *events, uint32_t count);

#endif
