/* calls_racy.c without the races. */
#define RACE_FREE 1
#include "calls_racy.c"
