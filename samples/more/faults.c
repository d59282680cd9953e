/* The race-free twin of faults_racy.c: what is tried again is under a lock. */
#define FIXED
#include "faults_racy.c"
