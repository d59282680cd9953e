/*
 * sequence_lock_racy.c as C wants it: the numbers are atomic and so is the data, whose reads may meet a write and are
 * done again then. No race.
 */
#define SHARED _Atomic
#define DATA _Atomic
#include "sequence_lock_racy.c"
