/* The same, ordered. */
#define FIXED
#include "channels_racy.c"
