/* The race-free twin of two_addresses_racy.c: each thread takes the lock. */
#define FIXED
#include "two_addresses_racy.c"
