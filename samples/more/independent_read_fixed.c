/* The data are read only if they are there. */
#define FIXED
#include "independent_read.c"
