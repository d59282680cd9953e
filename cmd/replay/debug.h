/* The program of a replay that is held, and a debugger at it. */
#ifndef CMD_REPLAY_DEBUG_H
#define CMD_REPLAY_DEBUG_H

#include "cmd/try/try.h"

/*
 * If the run's program is held: says where its threads are. With a debugger it lets that look at them until it ends,
 * and ends the program. command: as the shell takes it; gdb's options follow it; NULL: no debugger. folder: scratch.
 * False: it is not held yet.
 */
bool debug_held(struct try *t, const char *command, const char *folder);

#endif
