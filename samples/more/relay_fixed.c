/* The race-free twin of relay.c: each hands on by release and acquire. */
#define RACE_FREE 1
#include "relay.c"
