/* The parts of files that are mapped, as the recorder and the Valgrind tool look them up; see rt_place. */
#ifndef RECORDER_RUNTIME_SHARED_H
#define RECORDER_RUNTIME_SHARED_H

#include <stdatomic.h>
#include <stdint.h>

#define RT_SHARED_MAX 256u
struct rt_shared {
	_Atomic uintptr_t at;  /* 0: free; 1: being filled in */
	uintptr_t size, first; /* first: where this part was mapped first */
	uint64_t device, inode, offset;
};
extern struct rt_shared rt_shared[RT_SHARED_MAX];

/* The address by which p is known: where the part of a file that it is in was mapped first. */
static inline uintptr_t rt_shared_first(struct rt_shared *table, uintptr_t p)
{
	for (unsigned i = 0; i < RT_SHARED_MAX; i++) {
		uintptr_t at = atomic_load_explicit(&table[i].at, memory_order_acquire);
		if (at > 1 && p >= at && p < at + table[i].size)
			return table[i].first + (p - at);
	}
	return p;
}

#endif
