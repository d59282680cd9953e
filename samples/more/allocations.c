/* allocations_racy.c without the races. */
#define RACE_FREE 1
#include "allocations_racy.c"
