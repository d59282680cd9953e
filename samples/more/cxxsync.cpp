// cxxsync_racy.cpp without the races.
#define RACE_FREE 1
#include "cxxsync_racy.cpp"
