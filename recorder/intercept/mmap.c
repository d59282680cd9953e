/*
 * The address space: what the calls that map and unmap say (kernel_calls.h). MAP after, UNMAP before the real call.
 * Both write the memory, so that uses that are not ordered with them are races.
 */
#include "recorder/intercept/kernel.h"

#include "recorder/runtime/core.h"
#include "recorder/runtime/syscall.h"

#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>

/* Of more, what lies further is not said to be written: it would cost more than the uses found there. */
#define WRITTEN_MAX (1 << 20)

void rt_map_begins(void *p, size_t size, uintptr_t pc)
{
	if (p == MAP_FAILED)
		return;
	rt_emit_sync(RT_OP_MAP, (uintptr_t)p, size, pc, 0);
	rt_emit_range(RT_OP_WRITE, p, size < WRITTEN_MAX ? size : WRITTEN_MAX, pc);
}

/* What was there is no more: uses that are not ordered with this are seen, as those of a freed block are. */
void rt_map_over(const void *p, size_t size, uintptr_t pc)
{
	if (size)
		rt_emit_write((uintptr_t)p, size < WRITTEN_MAX ? size : WRITTEN_MAX, pc, RT_F_FREE);
}

static void forget(uintptr_t at, size_t size);
static void is_shared(void *p, size_t size, uint64_t device, uint64_t inode, uint64_t offset);
static void is_shared_too(void *p, size_t size, uintptr_t of, size_t old_size);

static void ends(const void *p, size_t size, uintptr_t pc)
{
	rt_map_over(p, size, pc);
	rt_emit_sync(RT_OP_UNMAP, (uintptr_t)p, size, pc, 0);
}

void rt_map_ends(const void *p, size_t size, uintptr_t pc)
{
	forget((uintptr_t)p, size);
	ends(p, size, pc);
}

/* Of size 0: it stays, and what comes is the same memory once more. */
void rt_map_moves(void *at, size_t old_size, size_t size, int flags, uintptr_t pc)
{
	if (flags & MREMAP_MAYMOVE && old_size)
		ends(at, old_size, pc);
	else if (size < old_size)
		rt_map_ends((char *)at + size, old_size - size, pc);
}

void rt_map_moved(void *p, void *at, size_t old_size, size_t size, int flags, uintptr_t pc)
{
	bool moves = flags & MREMAP_MAYMOVE;
	if (p == MAP_FAILED) {
		if (moves && old_size)
			rt_map_begins(at, old_size, pc);
	} else if (moves) {
		rt_map_begins(p, size, pc);
		is_shared_too(p, size, (uintptr_t)at, old_size);
	} else if (size > old_size) {
		rt_map_begins((char *)p + old_size, size - old_size, pc);
	}
}

void rt_map_break(uintptr_t before, uintptr_t after, uintptr_t pc)
{
	if (after > before)
		rt_map_begins((void *)before, after - before, pc);
	else
		rt_map_ends((const void *)after, before - after, pc);
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
	if (p == MAP_FAILED || !rt_recording() || RT_SYSCALL(SYS_shmctl, id, IPC_STAT, &segment) != 0)
		return;
	rt_map_begins(p, segment.shm_segsz, pc);
	is_shared(p, segment.shm_segsz, UINT64_MAX, (uint64_t)id, 0);
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

/* ---- One part of a file at two addresses: what synchronises there is known by the first ---- */

#define SHARED_MAX 256u
static struct shared {
	_Atomic uintptr_t at;  /* 0: free; 1: being filled in */
	uintptr_t size, first; /* first: where this part was mapped first */
	uint64_t device, inode, offset;
} shared[SHARED_MAX];
bool rt_map_twice;

static uintptr_t first_of(const struct shared *s)
{
	for (unsigned i = 0; i < SHARED_MAX; i++) {
		const struct shared *o = &shared[i];
		if (atomic_load(&o->at) > 1 && o != s && o->device == s->device && o->inode == s->inode &&
		    o->offset < s->offset + s->size && s->offset < o->offset + o->size)
			return o->first + (s->offset - o->offset);
	}
	return 0;
}

static void is_shared(void *p, size_t size, uint64_t device, uint64_t inode, uint64_t offset)
{
	for (unsigned i = 0; i < SHARED_MAX; i++) {
		uintptr_t none = 0;
		if (!atomic_compare_exchange_strong(&shared[i].at, &none, 1))
			continue;
		shared[i].size = size;
		shared[i].device = device;
		shared[i].inode = inode;
		shared[i].offset = offset;
		uintptr_t first = first_of(&shared[i]);
		shared[i].first = first ? first : (uintptr_t)p;
		atomic_store(&shared[i].at, (uintptr_t)p);
		if (first)
			__atomic_store_n(&rt_map_twice, true, __ATOMIC_RELEASE);
		return;
	}
}

void rt_map_is_file(void *p, size_t size, int flags, int fd, uint64_t offset)
{
	struct stat is;
	if (p != MAP_FAILED && flags & MAP_SHARED && !(flags & MAP_ANONYMOUS) && fd >= 0 &&
	    RT_SYSCALL(SYS_fstat, fd, &is) == 0)
		is_shared(p, size, is.st_dev, is.st_ino, offset);
}

/* Whole mappings alone: of what is left of one, the addresses stay known. */
static void forget(uintptr_t at, size_t size)
{
	for (unsigned i = 0; i < SHARED_MAX; i++)
		if (at > 1 && atomic_load(&shared[i].at) == at && shared[i].size <= size)
			atomic_store(&shared[i].at, 0);
}

/* p: where `of` has moved to, or what of size 0 is there once more, without a file perhaps. */
static void is_shared_too(void *p, size_t size, uintptr_t of, size_t old_size)
{
	enum { NO_FILE = -2 };
	for (unsigned i = 0; i < SHARED_MAX; i++) {
		uintptr_t at = atomic_load(&shared[i].at);
		if (at <= 1 || of < at || of >= at + shared[i].size)
			continue;
		struct shared was = shared[i];
		if (old_size)
			forget(of, old_size);
		is_shared(p, size, was.device, was.inode, was.offset + (of - at));
		return;
	}
	if (old_size)
		return;
	is_shared((void *)of, size, (uint64_t)NO_FILE, of, 0);
	is_shared(p, size, (uint64_t)NO_FILE, of, 0);
}

uintptr_t rt_map_first(uintptr_t p)
{
	for (unsigned i = 0; i < SHARED_MAX; i++) {
		uintptr_t at = atomic_load_explicit(&shared[i].at, memory_order_acquire);
		if (at > 1 && p >= at && p < at + shared[i].size)
			return shared[i].first + (p - at);
	}
	return p;
}
