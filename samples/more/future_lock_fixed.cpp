/* The twin of future_lock.cpp: nothing that a thread waits for needs what it holds. */
#define FIXED
#include "future_lock.cpp"
