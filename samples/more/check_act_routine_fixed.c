/* Looks again where it takes; see check_act_routine.c. */
#define FIXED
#include "check_act_routine.c"
