// wakeups_racy.cpp without the races.
#define RACE_FREE 1
#include "wakeups_racy.cpp"
