/* The look under the lock; see there. */
#define FIXED
#include "string_flag.cpp"
