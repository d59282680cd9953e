/* The twin of join_lock.c: the lock is released first, both read, the join gives up, or the lock is taken behind it. */
#define FIXED
#include "join_lock.c"
