/*
 * Accesses that an instrumented function makes without a hook: GCC puts none before a memset, a copy or a comparison of
 * strings that it writes out instead of calling the C library.
 */
#ifndef RECORDER_COLLECTOR_BARE_H
#define RECORDER_COLLECTOR_BARE_H

#include "recorder/collector/code.h"

#include <capstone/capstone.h>

/* Instructions of a function that has some: *first is the start of the first, *end the end of the last. */
struct bare_accesses {
	uint64_t first, end;
	bool loads, stores;
};

/* A zeroed struct is empty. */
struct bare_search {
	csh capstone;
	cs_insn *insn;
};

/* False without memory. */
bool bare_open(struct bare_search *s);
void bare_close(struct bare_search *s);
/* False: it has none that is known. */
bool bare_find(struct bare_search *s, const struct code *code, const struct code_function *function,
               struct bare_accesses *out);

#endif
