/*
 * spin_flag.c as C wants it: the flag is atomic, its store releases what was put, its load acquires it. No race.
 */
#define SHARED _Atomic
#include "spin_flag.c"
