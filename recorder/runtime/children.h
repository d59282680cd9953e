/* Child processes, and memory that they may share, as the recorder and the Valgrind tool look them up; see children.c.
 */
#ifndef RECORDER_RUNTIME_CHILDREN_H
#define RECORDER_RUNTIME_CHILDREN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define RT_CHILDREN_RANGES 64u
struct rt_children {
	_Atomic bool share;    /* there were some, and memory that they may share */
	_Atomic bool has, had; /* one that has not been waited for; any */
	/* Shared memory, where it was mapped; what is unmapped stays. If there is no room, all memory counts as shared.
	 */
	_Atomic uint32_t range_count;
	struct {
		_Atomic uintptr_t from, size;
	} ranges[RT_CHILDREN_RANGES];
};
extern struct rt_children rt_children;
/* True if a process may live that a child left behind (orphans.c). */
bool rt_orphans_live(void);

static inline bool rt_children_share_at(const struct rt_children *c, uintptr_t p)
{
	uint32_t n = atomic_load_explicit(&c->range_count, memory_order_relaxed);
	for (uint32_t i = 0; i < n && i < RT_CHILDREN_RANGES; i++)
		if (p - atomic_load_explicit(&c->ranges[i].from, memory_order_relaxed) <
		    atomic_load_explicit(&c->ranges[i].size, memory_order_relaxed))
			return true;
	return n > RT_CHILDREN_RANGES;
}

/* What a thread read last of such memory. writes: a count of those by this process, at least. */
struct rt_children_sight {
	uintptr_t at;
	uint64_t value, writes;
};

/* True if the thread finds what it found last time, and so has heard nothing new; *last is then what it finds now. */
static inline bool rt_children_seen(struct rt_children_sight *last, uintptr_t at, uint64_t value, uint64_t writes)
{
	bool again = last->at == at && last->value == value && last->writes == writes;
	*last = (struct rt_children_sight){at, value, writes};
	return again;
}

#endif
