/* The table of orders; see order.h. */
#include "lib/order/order.h"

#include "lib/order/builtin.h"

#include <string.h>

const struct order orders[] = {
    {"hybrid", "no common lock and no path of fork, join, wait, ...: PECAN's model; finds the most", false,
     hybrid_compute, hybrid_unordered, NULL, hybrid_free},
    {"lockset", "Eraser: no lock was held at every access since a second thread came", false, lockset_compute,
     lockset_unordered, NULL, lockset_free},
    {"hb", "happens-before: what is not ordered by program, fork, join, waits, atomics and locks", false, hb_compute,
     hb_unordered, hb_horizon, hb_free},
    {"shb", "schedulable happens-before: hb with an edge from each write to its reads", true, shb_compute,
     shb_unordered, shb_horizon, shb_free},
    {"cp", "causally-precedes", false, cp_compute, cp_unordered, cp_horizon, cp_free},
    {"wcp", "weak-causally-precedes", false, wcp_compute, wcp_unordered, wcp_horizon, wcp_free},
    {"syncp", "sync-preserving reordering", true, syncp_compute, syncp_unordered, NULL, syncp_free},
    {0},
};

int order_find(const char *name)
{
	for (int i = 0; orders[i].name; i++)
		if (!strcmp(orders[i].name, name))
			return i;
	return -1;
}
