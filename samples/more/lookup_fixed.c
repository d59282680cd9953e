/* Finds and changes in one critical section; see lookup.c. */
#define FIXED
#include "lookup.c"
