/* static_results_racy.c without the races. */
#define RACE_FREE 1
#include "static_results_racy.c"
