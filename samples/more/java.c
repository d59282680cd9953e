/* The same with what orders it. */
#define FIXED
#include "java_racy.c"
