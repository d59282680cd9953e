/* The race-free twin of left_running.c: whoever looks at the jobs takes the lock. */
#define FIXED
#include "left_running.c"
