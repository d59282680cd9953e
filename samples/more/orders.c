/* orders_racy.c without the races. */
#define RACE_FREE 1
#include "orders_racy.c"
