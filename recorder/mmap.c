/*
 * The address space: mmap and its kin, and the same through syscall(). MAP after, UNMAP before the real call. Both
 * write the memory, so that uses that are not ordered with them are races.
 */
#include "recorder/core.h"
#include "recorder/sync.h"

#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of more, what lies further is not said to be written: it would cost more than the uses found there. */
#define WRITTEN_MAX (1 << 20)

static void mapped(void *p, size_t size, uintptr_t pc)
{
	if (p == MAP_FAILED)
		return;
	rt_emit_sync(RT_OP_MAP, (uintptr_t)p, size, pc, 0);
	rt_emit_range(RT_OP_WRITE, p, size < WRITTEN_MAX ? size : WRITTEN_MAX, pc);
}

/* What was there is no more: uses that are not ordered with this are seen, as those of a freed block are. */
static void overwritten(const void *p, size_t size, uintptr_t pc)
{
	if (size)
		rt_emit_write((uintptr_t)p, size < WRITTEN_MAX ? size : WRITTEN_MAX, pc, RT_F_FREE);
}

static void unmapped(const void *p, size_t size, uintptr_t pc)
{
	overwritten(p, size, pc);
	rt_emit_sync(RT_OP_UNMAP, (uintptr_t)p, size, pc, 0);
}

RT_INTERPOSE(void *, mmap, (void *at, size_t size, int protection, int flags, int fd, off_t offset))
{
	if (flags & MAP_FIXED)
		overwritten(at, size, RT_PC);
	void *p = RT_REAL(mmap)(at, size, protection, flags, fd, offset);
	mapped(p, size, RT_PC);
	return p;
}

RT_INTERPOSE(void *, mmap64, (void *at, size_t size, int protection, int flags, int fd, off64_t offset))
{
	if (flags & MAP_FIXED)
		overwritten(at, size, RT_PC);
	void *p = RT_REAL(mmap64)(at, size, protection, flags, fd, offset);
	mapped(p, size, RT_PC);
	return p;
}

RT_INTERPOSE(int, munmap, (void *at, size_t size))
{
	unmapped(at, size, RT_PC);
	int result = RT_REAL(munmap)(at, size);
	if (result != 0)
		mapped(at, size, RT_PC);
	return result;
}

/* A mapping that may move is said to go and to come again; one that may not only changes its length. */
RT_INTERPOSE(void *, mremap, (void *at, size_t old_size, size_t size, int flags, ...))
{
	va_list args;
	va_start(args, flags);
	void *new_at = flags & MREMAP_FIXED ? va_arg(args, void *) : NULL;
	va_end(args);
	bool moves = flags & MREMAP_MAYMOVE;
	if (moves)
		unmapped(at, old_size, RT_PC);
	else if (size < old_size)
		unmapped((char *)at + size, old_size - size, RT_PC);
	void *p = RT_REAL(mremap)(at, old_size, size, flags, new_at);
	if (p == MAP_FAILED) {
		if (moves)
			mapped(at, old_size, RT_PC);
	} else if (moves) {
		mapped(p, size, RT_PC);
	} else if (size > old_size) {
		mapped((char *)p + old_size, size - old_size, RT_PC);
	}
	return p;
}

/* All calls have at most six arguments, and passing more than the caller gave is harmless. */
RT_INTERPOSE(long, syscall, (long number, ...))
{
	long a[6];
	va_list args;
	va_start(args, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	bool forks = rt_clone_begins(number, a, RT_PC);
	if (number == SYS_munmap)
		unmapped((void *)a[0], (size_t)a[1], RT_PC);
	else if (number == SYS_mmap && a[3] & MAP_FIXED)
		overwritten((void *)a[0], (size_t)a[1], RT_PC);
	long result = RT_REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (forks)
		rt_fork_end((pid_t)result);
	if (number == SYS_mmap)
		mapped((void *)result, (size_t)a[1], RT_PC);
	else if (number == SYS_munmap && result != 0)
		mapped((void *)a[0], (size_t)a[1], RT_PC);
	else if (number == SYS_futex)
		rt_emit_time();
	return result;
}
