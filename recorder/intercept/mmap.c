/*
 * The address space: what the calls that map and unmap say (kernel_calls.h). MAP after, UNMAP before the real call.
 * Both write the memory, so that uses that are not ordered with them are races, if no other address shows it.
 */
#include "recorder/intercept/kernel.h"

#include "recorder/runtime/core.h"
#include "recorder/runtime/syscall.h"

#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>

/* Longer ranges are not recorded as written beyond this: it would cost more than the uses found there. */
#define WRITTEN_MAX (1 << 20)

/* Memory that other addresses may show, or have shown, is not written by it. */
static void shown(void *p, size_t size, uintptr_t pc)
{
	rt_emit_sync(RT_OP_MAP, (uintptr_t)p, size, pc, 0);
}

void rt_map_begins(void *p, size_t size, uintptr_t pc)
{
	if (p == MAP_FAILED)
		return;
	shown(p, size, pc);
	rt_emit_range(RT_OP_WRITE, p, size < WRITTEN_MAX ? size : WRITTEN_MAX, pc);
}

/*
 * What was there is no more. Uses that are not ordered with this are seen, as those of a freed block are. Where other
 * addresses show the memory they are not, as these uses may be by those: then false.
 */
static bool writes_over(const void *p, size_t size, uintptr_t pc)
{
	if (rt_place_elsewhere((uintptr_t)p, size))
		return false;
	if (size)
		rt_emit_write((uintptr_t)p, size < WRITTEN_MAX ? size : WRITTEN_MAX, pc, RT_F_FREE);
	return true;
}

void rt_map_over(const void *p, size_t size, uintptr_t pc)
{
	writes_over(p, size, pc);
	rt_place_forget((uintptr_t)p, size, pc);
}

void rt_map_ends(const void *p, size_t size, uintptr_t pc)
{
	rt_map_over(p, size, pc);
	rt_emit_sync(RT_OP_UNMAP, (uintptr_t)p, size, pc, 0);
}

/* Of size 0: it stays, and what comes is the same memory once more. */
void rt_map_moves(void *at, size_t old_size, size_t size, int flags, uintptr_t pc)
{
	if (flags & MREMAP_MAYMOVE && old_size) {
		if (writes_over(at, old_size, pc))
			rt_emit_sync(RT_OP_UNMAP, (uintptr_t)at, old_size, pc, 0);
		rt_place_moved((uintptr_t)at + RT_PLACE_MOVING, old_size, (uintptr_t)at, old_size, pc);
	} else if (size < old_size) {
		rt_map_ends((char *)at + size, old_size - size, pc);
	}
}

void rt_map_moved(void *p, void *at, size_t old_size, size_t size, int flags, uintptr_t pc)
{
	bool moves = flags & MREMAP_MAYMOVE && old_size, failed = p == MAP_FAILED;
	uintptr_t from = (uintptr_t)at;
	if (moves)
		from += RT_PLACE_MOVING;
	if (failed) {
		p = at;
		size = old_size;
	}
	if (moves || (!failed && !old_size)) {
		if (!rt_place_elsewhere(from, old_size))
			rt_map_begins(p, size, pc);
		rt_place_moved((uintptr_t)p, size, from, old_size, pc);
	} else if (size > old_size) {
		rt_map_begins((char *)p + old_size, size - old_size, pc);
		rt_place_moved((uintptr_t)p, size, from, old_size, pc);
	}
}

void rt_map_break(uintptr_t before, uintptr_t after, uintptr_t pc)
{
	if (after > before)
		rt_map_begins((void *)before, after - before, pc);
	else
		rt_map_ends((const void *)after, before - after, pc);
}

static _Atomic bool any_shared;

bool rt_map_any_shared(void)
{
	return atomic_load_explicit(&any_shared, memory_order_relaxed);
}

/* ---- Shared memory of System V: how large what is attached is, which the call that detaches it does not say ---- */

#define ATTACHED_MAX 256u
static struct {
	_Atomic uintptr_t at; /* 0: free; 1: being filled in */
	size_t size;
} attached[ATTACHED_MAX];

void rt_map_attached(int id, void *p, uintptr_t pc)
{
	struct shmid_ds segment;
	if (p != MAP_FAILED)
		atomic_store(&any_shared, true);
	if (p == MAP_FAILED || !rt_recording() || RT_SYSCALL(SYS_shmctl, id, IPC_STAT, &segment) != 0)
		return;
	rt_children_see(p, segment.shm_segsz);
	shown(p, segment.shm_segsz, pc);
	rt_place_add(p, segment.shm_segsz, UINT64_MAX, (uint64_t)id, 0, pc);
	for (unsigned i = 0; i < ATTACHED_MAX; i++) {
		uintptr_t none = 0;
		if (atomic_compare_exchange_strong(&attached[i].at, &none, 1)) {
			attached[i].size = segment.shm_segsz;
			atomic_store(&attached[i].at, (uintptr_t)p);
			return;
		}
	}
}

void rt_map_detaches(const void *p, uintptr_t pc)
{
	for (unsigned i = 0; i < ATTACHED_MAX; i++) {
		uintptr_t at = (uintptr_t)p;
		if (at > 1 && atomic_load(&attached[i].at) == at) {
			rt_map_ends(p, attached[i].size, pc);
			atomic_compare_exchange_strong(&attached[i].at, &at, 0);
			return;
		}
	}
}

void rt_map_maps(void *p, size_t size, int flags, int fd, uint64_t offset, uintptr_t pc)
{
	struct stat is;
	if (p == MAP_FAILED)
		return;
	if (flags & MAP_SHARED) {
		atomic_store(&any_shared, true);
		rt_children_see(p, size);
	}
	if (!(flags & MAP_SHARED) || flags & MAP_ANONYMOUS || fd < 0) {
		rt_map_begins(p, size, pc);
		return;
	}
	shown(p, size, pc);
	if (RT_SYSCALL(SYS_fstat, fd, &is) == 0)
		rt_place_add(p, size, is.st_dev, is.st_ino, offset, pc);
}
