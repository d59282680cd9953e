/* The table of orders; see order.h. */
#include "lib/order/order.h"

#include "lib/order/builtin.h"

#include <string.h>

#define FUNCTIONS(name) .compute = name##_compute, .unordered = name##_unordered, .free = name##_free
#define HORIZON(name) .horizon = name##_horizon

const struct order orders[] = {
    {.name = "hybrid",
     .summary = "no common lock and no path of fork, join, wait, ...: PECAN's model; finds the most",
     FUNCTIONS(hybrid)},
    {.name = "lockset",
     .summary = "Eraser: no lock was held at every access since a second thread came",
     FUNCTIONS(lockset),
     .warned_at = lockset_warned_at},
    {.name = "lockset0",
     .summary = "the lockset refinement without Eraser's states: no lock was held at every access",
     .compute = lockset0_compute,
     .unordered = lockset_unordered,
     .free = lockset_free,
     .warned_at = lockset_warned_at,
     .asked = true,
     .all = true},
    {.name = "hb",
     .summary = "happens-before: what is not ordered by program, fork, join, waits, atomics and locks",
     FUNCTIONS(hb),
     HORIZON(hb)},
    {.name = "shb",
     .summary = "schedulable happens-before: hb with an edge from each write to its reads",
     FUNCTIONS(shb),
     HORIZON(shb)},
    {.name = "cp", .summary = "causally-precedes", .promises = true, FUNCTIONS(cp), HORIZON(cp)},
    {.name = "wcp", .summary = "weak-causally-precedes", .promises = true, FUNCTIONS(wcp), HORIZON(wcp)},
    {.name = "syncp", .summary = "sync-preserving reordering", FUNCTIONS(syncp)},
    {.name = NULL},
};

int order_find(const char *name)
{
	for (int i = 0; orders[i].name; i++)
		if (!strcmp(orders[i].name, name))
			return i;
	return -1;
}
