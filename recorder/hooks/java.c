/*
 * What a Java virtual machine tells a race detector: ThreadSanitizer's tsan_interface_java.h. The machine itself
 * orders what its collector allocates, frees and moves with its threads' accesses: that memory is new then.
 */
#include "recorder/intercept/sync.h"
#include "recorder/runtime/core.h"
#include "recorder/runtime/syscall.h"

#include <sys/mman.h>

/* The heap's blocks: their sizes, by where they begin. Its pages have memory only where blocks are. */
enum { GRANULE = 8 };
static struct {
	uintptr_t begin;
	size_t granules; /* 0: not known */
	uint64_t *sizes;
} heap;

RT_DEFINE(void, __tsan_java_init, (uintptr_t begin, uintptr_t size))
{
	const int reserved = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	size_t granules = size / GRANULE;
	long sizes = RT_SYSCALL(SYS_mmap, 0, granules * sizeof *heap.sizes, PROT_READ | PROT_WRITE, reserved, -1, 0);

	if (sizes <= 0)
		return;
	heap.begin = begin;
	heap.sizes = (uint64_t *)sizes;
	heap.granules = granules;
}
RT_DEFINE(int, __tsan_java_fini, (void))
{
	return 0;
}

static size_t granule(uintptr_t p)
{
	size_t i = (p - heap.begin) / GRANULE;
	return p < heap.begin || i > heap.granules ? heap.granules : i;
}

static void forget(uintptr_t p, uintptr_t size)
{
	for (size_t i = granule(p), end = granule(p + size); i < end; i++)
		if (heap.sizes[i]) /* so that a page that has no blocks gets no memory */
			heap.sizes[i] = 0;
}

static void renew(uintptr_t p, uintptr_t size, uintptr_t pc)
{
	rt_emit_sync(RT_OP_NEW_MEMORY, p, size, pc, 0);
}

RT_DEFINE(void, __tsan_java_alloc, (uintptr_t p, uintptr_t size))
{
	size_t i = granule(p);

	if (i < heap.granules)
		heap.sizes[i] = size;
	renew(p, size, RT_CALLER);
}
RT_DEFINE(void, __tsan_java_free, (uintptr_t p, uintptr_t size))
{
	forget(p, size);
	renew(p, size, RT_CALLER);
}

static void move_size(size_t from, size_t to)
{
	uint64_t size = heap.sizes[from];

	if (size)
		heap.sizes[from] = 0;
	if (size || heap.sizes[to])
		heap.sizes[to] = size;
}

/* The two may overlap. */
RT_DEFINE(void, __tsan_java_move, (uintptr_t from, uintptr_t to, uintptr_t size))
{
	size_t source = granule(from), target = granule(to), n = granule(from + size) - source;

	if (n > heap.granules - target)
		n = heap.granules - target;
	for (size_t i = 0; i < n; i++) {
		size_t at = to < from ? i : n - 1 - i;
		move_size(source + at, target + at);
	}
	renew(from, size, RT_CALLER);
	renew(to, size, RT_CALLER);
}
RT_DEFINE(uintptr_t, __tsan_java_find, (uintptr_t * from, uintptr_t to))
{
	for (size_t i = granule(*from), end = granule(to); i < end; i++)
		if (heap.sizes[i]) {
			*from = heap.begin + i * GRANULE;
			return heap.sizes[i];
		}
	return 0;
}

/* All that other threads have done comes before it. No event says that, so the trace says that it lacks an order. */
RT_DEFINE(void, __tsan_java_finalize, (void))
{
	rt_emit_sync(RT_OP_LOST, RT_LOST_ORDER, 1, RT_CALLER, 0);
}

static void lock(unsigned op, uintptr_t m, uintptr_t pc)
{
	if (rt_held_enter((void *)m))
		rt_emit_sync(op, m, 0, pc, 0);
}
static void unlock(uintptr_t m, uintptr_t pc)
{
	if (rt_held_leave((void *)m))
		rt_emit_sync(RT_OP_RELEASE, m, 0, pc, 0);
}
RT_DEFINE(void, __tsan_java_mutex_lock, (uintptr_t m))
{
	lock(RT_OP_ACQUIRE, m, RT_CALLER);
}
RT_DEFINE(void, __tsan_java_mutex_unlock, (uintptr_t m))
{
	unlock(m, RT_CALLER);
}
RT_DEFINE(void, __tsan_java_mutex_read_lock, (uintptr_t m))
{
	lock(RT_OP_ACQUIRE_SHARED, m, RT_CALLER);
}
RT_DEFINE(void, __tsan_java_mutex_read_unlock, (uintptr_t m))
{
	unlock(m, RT_CALLER);
}
/* A wait in Java: unlocks all levels at once, and takes the same number again. */
RT_DEFINE(int, __tsan_java_mutex_unlock_rec, (uintptr_t m))
{
	int levels = 1;

	while (!rt_held_leave((void *)m))
		levels++;
	rt_emit_sync(RT_OP_RELEASE, m, 0, RT_CALLER, 0);
	return levels;
}
RT_DEFINE(void, __tsan_java_mutex_lock_rec, (uintptr_t m, int levels))
{
	while (levels-- > 0)
		lock(RT_OP_ACQUIRE, m, RT_CALLER);
}
RT_DEFINE(void, __tsan_java_acquire, (uintptr_t p))
{
	rt_emit_sync(RT_OP_HB_AFTER, p, 0, RT_CALLER, 0);
}
RT_DEFINE(void, __tsan_java_release, (uintptr_t p))
{
	rt_emit_sync(RT_OP_HB_BEFORE, p, 0, RT_CALLER, 0);
}
RT_DEFINE(void, __tsan_java_release_store, (uintptr_t p))
{
	rt_emit_sync(RT_OP_HB_BEFORE, p, 0, RT_CALLER, 0);
}
