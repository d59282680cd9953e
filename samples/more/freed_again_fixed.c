/* The race-free twin of freed_again.c: one thread alone frees the block. */
#define FIXED
#include "freed_again.c"
