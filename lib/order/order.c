/* The table of orders; see order.h. */
#include "lib/order/order.h"

#include "lib/order/builtin.h"

#include <string.h>

#define FUNCTIONS(name) .compute = name##_compute, .unordered = name##_unordered, .free = name##_free
#define HORIZON(name) .horizon = name##_horizon

const struct order orders[] = {
    {.name = "hybrid", FUNCTIONS(hybrid)},
    /* Eraser: no lock was held at every access since a second thread came. */
    {.name = "lockset", FUNCTIONS(lockset), .warned_at = lockset_warned_at},
    /* The same without Eraser's states: at every access. */
    {.name = "lockset0",
     .compute = lockset0_compute,
     .unordered = lockset_unordered,
     .free = lockset_free,
     .warned_at = lockset_warned_at,
     .asked = true,
     .all = true},
    {.name = "hb", FUNCTIONS(hb), HORIZON(hb)},
    {.name = "shb", FUNCTIONS(shb), HORIZON(shb)},
    {.name = "cp", .promises = true, FUNCTIONS(cp), HORIZON(cp)},
    {.name = "wcp", .promises = true, FUNCTIONS(wcp), HORIZON(wcp)},
    {.name = "syncp", FUNCTIONS(syncp)},
    {.name = NULL},
};

int order_find(const char *name)
{
	for (int i = 0; orders[i].name; i++)
		if (!strcmp(orders[i].name, name))
			return i;
	return -1;
}
