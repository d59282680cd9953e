/* The twin of static_lock.cpp: the initialisation takes no lock. */
#define FIXED
#include "static_lock.cpp"
