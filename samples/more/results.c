/* results_racy.c without the races. */
#define RACE_FREE 1
#include "results_racy.c"
