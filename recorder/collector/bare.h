/*
 * Stores that an instrumented function makes without a hook: GCC leaves out a memset, or a copy, that it writes out
 * instead of calling the C library.
 */
#ifndef RECORDER_COLLECTOR_BARE_H
#define RECORDER_COLLECTOR_BARE_H

#include "recorder/collector/code.h"

#include <capstone/capstone.h>

/* Instructions of a function that has some: *first is the start of the first, *end the end of the last. */
struct bare_stores {
	uint64_t first, end;
};

/* A zeroed struct is empty. */
struct bare_search {
	csh capstone;
	cs_insn *insn;
};

/* False without memory. */
bool bare_open(struct bare_search *s);
void bare_close(struct bare_search *s);
/* True if the function has bytes of the instructions that such code is made of. Quick. */
bool bare_may_have(const struct code *code, const struct code_function *function);
/* False: it has none that is known. */
bool bare_find(struct bare_search *s, const struct code *code, const struct code_function *function,
               struct bare_stores *out);

#endif
