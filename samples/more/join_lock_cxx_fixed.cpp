/* The twin of join_lock_cxx.cpp: the lock is released before the threads are joined. */
#define FIXED
#include "join_lock_cxx.cpp"
