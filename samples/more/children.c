/* What a child passes on to another thread, written before the child is told. No race. */
#define RACE_FREE 1
#include "children_racy.c"
