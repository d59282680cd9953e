/* The running thread's calls, as the tool appends them to its ring: see calls.c. */
#ifndef RECORDER_VALGRIND_CALLS_H
#define RECORDER_VALGRIND_CALLS_H

#include "recorder/valgrind/platform.h"

#include <stdbool.h>
#include <valgrind/pub_tool_basics.h>

/*
 * True if the accesses of the code there are told by the recorder: that of the program's instrumented modules, and of
 * all foreign ones.
 */
bool is_told(Addr at);
/* True if the code there is of the procedure linkage table. */
bool is_linkage(Addr at);
/* True if an update in one instruction there is no atomic load and store: module_updates_plainly. */
bool updates_plainly(Addr at);
/* What is mapped has changed: an address may be another module's code. */
void forget_targets(void);

/* A call: sp is where its return address is. */
void enter(UWord sp, UWord pc, UWord target);
/* Calls whose frames are below sp, or at it, are over: they have returned, or were jumped out of. */
void leave(UWord sp);
/* The first instruction of a function: its call is not seen if the caller is not watched, as that of main is not. */
void begin_function(UWord sp);

#endif
