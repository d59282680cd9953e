/* The race-free twin of stale_pointer.c: the thread is joined first. */
#define FIXED
#include "stale_pointer.c"
