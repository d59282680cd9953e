/* The twin of wait_lock.c: the routine needs no lock, the post and the others are waited for without one. */
#define FIXED
#include "wait_lock.c"
