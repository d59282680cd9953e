/* The race-free twin of left_running.c: a thread that looks at the jobs takes the lock. */
#define FIXED
#include "left_running.c"
