/*
 * Positions and variables of one build of a program in another build, by traces of both. A position is known by its
 * function, file, line, operation and, where the lines have one in common, column. The other build may have several
 * such positions, for a compiler inlines functions, unrolls loops and merges accesses. Each of them may be it: the
 * object of the event tells the rest. Code that was added above a function moves its lines, so lines are compared by
 * the distance that brings most positions of a function together. A variable is known by its name and file.
 */
#ifndef LIB_SCHEDULE_REBUILT_H
#define LIB_SCHEDULE_REBUILT_H

#include "tracefmt/trace.h"

struct rebuilt;

/* Reads both traces once; they are borrowed until rebuilt_free. On RT_OK *out is owned by the caller. */
enum rt_status rebuilt_create(struct rt_trace *before, struct rt_trace *now, struct rebuilt **out,
                              struct rt_error *err);
/* NULL is allowed. */
void rebuilt_free(struct rebuilt *b);
/* The trace of the other build, borrowed. */
struct rt_trace *rebuilt_trace(const struct rebuilt *b);
/* The i-th position, from 0, in the other build; 0: that trace has no more. op: enum rt_op. */
uint64_t rebuilt_pc(const struct rebuilt *b, uint64_t pc, unsigned op, size_t i);
/* The address of a variable in the other build; 0: it is in none, or that trace does not tell. */
uint64_t rebuilt_address(const struct rebuilt *b, uint64_t address);

#endif
