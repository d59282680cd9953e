/*
 * hazard_pointer.c with atomic pointers, sequentially consistent as the protocol needs it. No race.
 */
#define SHARED _Atomic
#include "hazard_pointer.c"
