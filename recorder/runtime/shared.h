/* The parts of files that are mapped, as the recorder and the Valgrind tool look them up; see rt_place. */
#ifndef RECORDER_RUNTIME_SHARED_H
#define RECORDER_RUNTIME_SHARED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define RT_SHARED_MAX 256u
struct rt_shared {
	uintptr_t at, size, known; /* at 0: free; known: where this part was mapped first */
	uint64_t device, inode, offset;
	bool twice; /* another address has shown the memory, too, and may no longer */
};

/*
 * Two tables: items[version % 2] is looked up in, while the other one is made from it; then version is 1 higher. So a
 * look-up sees no entry that is out of the table only for a moment, and waits for nobody.
 */
struct rt_shared_table {
	_Atomic uint32_t version;
	struct rt_shared items[2][RT_SHARED_MAX];
};
extern struct rt_shared_table rt_shared;

/* The address by which p is known: where the part of a file that it is in was mapped first. */
static inline uintptr_t rt_shared_first(struct rt_shared_table *table, uintptr_t p)
{
	uintptr_t known;
	uint32_t version;
	do {
		version = atomic_load_explicit(&table->version, memory_order_acquire);
		const struct rt_shared *items = table->items[version % 2];
		known = p;
		for (unsigned i = 0; i < RT_SHARED_MAX; i++) {
			uintptr_t at = __atomic_load_n(&items[i].at, __ATOMIC_RELAXED);
			if (at && p - at < __atomic_load_n(&items[i].size, __ATOMIC_RELAXED)) {
				known = __atomic_load_n(&items[i].known, __ATOMIC_RELAXED) + (p - at);
				break;
			}
		}
		atomic_thread_fence(memory_order_acquire);
	} while (atomic_load_explicit(&table->version, memory_order_relaxed) != version);
	return known;
}

#endif
