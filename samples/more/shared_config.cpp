// shared_config_racy.cpp without the race.
#define RACE_FREE 1
#include "shared_config_racy.cpp"
