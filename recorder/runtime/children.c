/*
 * What a child process passes on from one thread of this process to another orders the two. A child has what this
 * process has shared with it, and what it was made with. Which of what it heard it passes on is not known: all that was
 * told before comes before what is heard.
 */
#include "recorder/objects.h"
#include "recorder/runtime/core.h"
#include "recorder/runtime/syscall.h"

#include <errno.h>
#include <sys/wait.h>

_Atomic bool rt_children_share;
static _Atomic bool has_children, had_children;

void rt_children_told(uintptr_t pc)
{
	if (atomic_load_explicit(&has_children, memory_order_relaxed) && rt_recording())
		rt_emit_sync(RT_OP_HB_BEFORE, RT_OBJECT_CHILDREN, 0, pc, 0);
}

/* What a child wrote may be read when it has ended. */
void rt_children_heard(uintptr_t pc)
{
	if (atomic_load_explicit(&had_children, memory_order_relaxed) && rt_recording())
		rt_emit_sync(RT_OP_HB_AFTER, RT_OBJECT_CHILDREN, 0, pc, 0);
}

/* ---- Shared memory ---- */

/* Where it was mapped; what is unmapped stays. If there is no room, all memory counts as shared. */
#define RANGES 64u
static struct {
	_Atomic uintptr_t from, size;
} ranges[RANGES];
static _Atomic uint32_t range_count;

bool rt_children_share_at(const volatile void *address)
{
	uintptr_t p = (uintptr_t)address;
	uint32_t n = atomic_load_explicit(&range_count, memory_order_relaxed);
	for (uint32_t i = 0; i < n && i < RANGES; i++)
		if (p - atomic_load_explicit(&ranges[i].from, memory_order_relaxed) <
		    atomic_load_explicit(&ranges[i].size, memory_order_relaxed))
			return true;
	return n > RANGES;
}

static void note_sharing(void)
{
	if (atomic_load(&had_children) && atomic_load(&range_count))
		atomic_store(&rt_children_share, true);
}

void rt_children_see(const void *p, size_t size)
{
	const char *from = p;
	if (rt_children_share_at(from) && rt_children_share_at(from + size - 1))
		return;
	uint32_t i = atomic_load(&range_count);
	while (i <= RANGES && !atomic_compare_exchange_weak(&range_count, &i, i + 1))
		;
	if (i < RANGES) {
		atomic_store(&ranges[i].from, (uintptr_t)from);
		atomic_store(&ranges[i].size, size);
	}
	note_sharing();
}

/*
 * A thread that looks again, and finds what it found last time, has heard nothing new. writes: a count of those by this
 * process, at least.
 */
void rt_children_heard_at(const volatile void *p, uint64_t value, uint64_t writes, uintptr_t pc)
{
	static __thread struct {
		const volatile void *p;
		uint64_t value, writes;
	} last;
	if ((last.p == p && last.value == value && last.writes == writes) || !rt_children_share_at(p))
		return;
	last.p = p;
	last.value = value;
	last.writes = writes;
	rt_children_heard(pc);
}

/* ---- How many there are ---- */

static _Atomic uint32_t made, ended; /* made: or about to be */

static void forks(void)
{
	atomic_fetch_add(&made, 1);
	atomic_store(&had_children, true);
	atomic_store(&has_children, true);
	note_sharing();
	rt_children_told(0);
}
RT_CALL_AT(RT_AT_FORK, forks);

/*
 * Nobody is told any more when the last one has ended. What a child of a child, which may live on, passes on then is no
 * more known than what other processes do.
 */
void rt_children_ended(uintptr_t pc)
{
	rt_children_heard(pc);
	uint32_t n = atomic_fetch_add(&ended, 1) + 1;
	if (n != atomic_load(&made) ||
	    RT_SYSCALL(SYS_waitid, P_ALL, 0, NULL, WEXITED | WNOHANG | WNOWAIT | __WALL, NULL) != -ECHILD)
		return;
	atomic_store(&has_children, false);
	if (n != atomic_load(&made)) /* another thread makes one */
		atomic_store(&has_children, true);
}
