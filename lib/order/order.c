/* The table of orders; see order.h. */
#include "lib/order/order.h"

#include <string.h>

const struct order orders[] = {
    {0},
};

int order_find(const char *name)
{
	for (int i = 0; orders[i].name; i++)
		if (!strcmp(orders[i].name, name))
			return i;
	return -1;
}
