/* stdio_racy.c without the races. */
#define RACE_FREE 1
#include "stdio_racy.c"
