/* The race-free twin of plain_unlock.c: the store that unlocks is a release. */
#define RACE_FREE 1
#include "plain_unlock.c"
