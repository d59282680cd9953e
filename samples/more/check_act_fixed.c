/* Looks and takes in one critical section; see check_act.c. */
#define FIXED
#include "check_act.c"
