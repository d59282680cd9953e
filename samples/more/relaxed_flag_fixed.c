/* The flag releases the data. */
#define FIXED
#include "relaxed_flag.c"
