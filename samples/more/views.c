/* The race-free twin of views_racy.c: what is used by one view comes after what was done by another. */
#define FIXED
#include "views_racy.c"
