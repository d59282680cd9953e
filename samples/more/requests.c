/* The same, ordered. */
#define FIXED
#include "requests_racy.c"
