/* The same, ordered. */
#define FIXED
#include "kernel_racy.c"
