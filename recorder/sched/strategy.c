/* The table of strategies: a file and a line each. */
#include "recorder/sched/strategy.h"

const struct rt_strategy *const rt_strategies[] = {&rt_strategy_random, &rt_strategy_follow, NULL};
