/* Accesses of functions to their own frames: see frame.c. */
#ifndef RECORDER_VALGRIND_FRAME_H
#define RECORDER_VALGRIND_FRAME_H

#include "recorder/valgrind/instruction.h"
#include "recorder/valgrind/platform.h"

#include <stdbool.h>
#include <valgrind/pub_tool_basics.h>

/*
 * True if all that the instruction at `at` accesses is certainly of no other thread's concern: a register's saved
 * value, or what is in the frame of a function that passes the address of its frame to no other.
 */
bool frame_is_accessed(Addr at, const struct instruction *i);
/* What is mapped has changed: an address may be another module's code. */
void frame_forget(void);

#endif
