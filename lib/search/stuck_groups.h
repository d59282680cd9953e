/* Groups of stuck threads: rings of threads that wait for one another, with those behind them; and all others. */
#ifndef LIB_SEARCH_STUCK_GROUPS_H
#define LIB_SEARCH_STUCK_GROUPS_H

#include "lib/search/stuck.h"

/* Which threads are stuck, and for which of these each waits: needs[first[t] .. first[t + 1]). Borrowed. */
struct stuck_needs {
	const struct model *m;
	uint32_t threads;
	const bool *stuck; /* by thread */
	const uint32_t *needs, *first;
};

/* True if what a thread waits for that waits to do this may come from any thread. */
static inline bool stuck_awaits_any(unsigned op)
{
	return op == RT_OP_WAIT_END || op == RT_OP_BARRIER_LEAVE || op == RT_OP_SEM_WAIT || op == RT_OP_HB_AFTER;
}

/* Adds the groups of all stuck threads to *out, each thread's to one. False without memory. */
bool stuck_group_all(const struct stuck_needs *by, struct stuck *out);

#endif
