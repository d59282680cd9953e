/* The zeros are ordered before the look. */
#define FIXED
#include "zeroed.c"
