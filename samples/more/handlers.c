/* handlers_racy.c without the races. */
#define RACE_FREE 1
#include "handlers_racy.c"
