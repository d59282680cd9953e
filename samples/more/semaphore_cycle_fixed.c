/* No thread takes a second semaphore in another order than the others, or it only tries to. */
#define FIXED
#include "semaphore_cycle.c"
