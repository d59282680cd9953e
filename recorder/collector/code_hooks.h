/* Calls of the hooks that the compiler puts before accesses. */
#ifndef RECORDER_COLLECTOR_CODE_HOOKS_H
#define RECORDER_COLLECTOR_CODE_HOOKS_H

#include "recorder/collector/code.h"

/* The number at the end of a hook's name that begins with one of two prefixes; 0: another name. */
unsigned code_hook_size(const char *name, const char *aligned, const char *unaligned);
/* The call instruction that ends at pc: the function that it calls, borrowed; NULL: it calls none by name. */
const char *code_hook_before(const struct code *code, uint64_t pc);

/*
 * What a hook was told, by the instructions right before its call: a fixed address, or a register that calls keep.
 * Neither: it cannot be told.
 */
struct code_told {
	uint64_t address;
	int reg; /* -1: none */
};
/* Of the hook whose call ends at pc. */
struct code_told code_hook_told(const struct code *code, uint64_t pc);

#endif
