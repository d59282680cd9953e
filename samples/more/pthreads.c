/* pthreads_racy.c without the races. */
#define RACE_FREE 1
#include "pthreads_racy.c"
