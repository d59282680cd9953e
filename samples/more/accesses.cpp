// accesses_racy.cpp without the races.
#define RACE_FREE 1
#include "accesses_racy.cpp"
