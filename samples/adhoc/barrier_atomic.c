/*
 * barrier.c with an atomic round: its store releases what was left in front of the barrier, the load acquires it. No
 * race.
 */
#define SHARED _Atomic
#include "barrier.c"
