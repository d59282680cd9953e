/* The race-free twin of realloc_in_use.c: the thread is joined first. */
#define FIXED
#include "realloc_in_use.c"
