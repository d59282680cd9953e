/* c11_racy.c without the races. */
#define RACE_FREE 1
#include "c11_racy.c"
