/* Memory that is mapped at several addresses, as a trace's ALIAS events tell of it. */
#ifndef TRACEFMT_ALIAS_H
#define TRACEFMT_ALIAS_H

#include "tracefmt/event.h"

/* Zeroed: every address is its own. */
struct rt_aliases {
	struct rt_alias {
		uint64_t at, size, known;
	} * items; /* by `at`; none overlaps another */
	uint32_t count, capacity;
};

/* Applies an ALIAS event. False without memory. */
bool rt_aliases_event(struct rt_aliases *a, const struct rt_event *e);
void rt_aliases_release(struct rt_aliases *a);

/*
 * Gives an access or a range, or the rest of one, the addresses by which its memory is known. It becomes its first
 * piece that is in one mapping, and *rest what is behind that, for the next call. True if there is a rest.
 */
bool rt_aliases_split(const struct rt_aliases *a, struct rt_event *access, struct rt_event *rest);

/* Not to what synchronises and to atomic operations: their addresses are the ones by which the memory is known. */
static inline bool rt_aliases_apply(const struct rt_aliases *a, const struct rt_event *e)
{
	bool plain = rt_op_is_access(e->op) && !rt_op_is_atomic(e->op);
	return a->count && (plain || rt_op_is_range(e->op));
}

#endif
