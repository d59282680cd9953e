/*
 * What a child process passes on from one thread of this process to another orders the two. A child has what this
 * process has shared with it, and what it was made with. Which of what it heard it passes on is not known: all that was
 * told before comes before what is heard.
 */
#include "recorder/runtime/children.h"

#include "recorder/objects.h"
#include "recorder/runtime/core.h"
#include "recorder/runtime/syscall.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

struct rt_children rt_children;

void rt_children_told(uintptr_t pc)
{
	if (atomic_load_explicit(&rt_children.has, memory_order_relaxed) && rt_recording())
		rt_emit_sync(RT_OP_HB_BEFORE, RT_OBJECT_CHILDREN, 0, pc, 0);
}

/* What a child wrote may be read when it has ended. */
void rt_children_heard(uintptr_t pc)
{
	if (atomic_load_explicit(&rt_children.had, memory_order_relaxed) && rt_recording())
		rt_emit_sync(RT_OP_HB_AFTER, RT_OBJECT_CHILDREN, 0, pc, 0);
}

/*
 * A file that was changed last before there was a child tells nothing of one. Its time is the file system's, whose
 * clock may be another machine's.
 */
#define CLOCKS_DIFFER_S 10
static _Atomic int64_t first_made; /* seconds */

void rt_children_heard_by(int folder, const char *path, int flags, uintptr_t pc)
{
	struct stat is;
	if (!atomic_load_explicit(&rt_children.had, memory_order_relaxed) || !rt_recording())
		return;
	if (RT_SYSCALL(SYS_newfstatat, folder, path, &is, flags) != 0 ||
	    is.st_ctim.tv_sec >= atomic_load(&first_made) - CLOCKS_DIFFER_S)
		rt_children_heard(pc);
}

static void note_first(void)
{
	struct timespec now = {0};
	int64_t none = 0;
	RT_SYSCALL(SYS_clock_gettime, CLOCK_REALTIME, &now);
	atomic_compare_exchange_strong(&first_made, &none, now.tv_sec);
}

/* ---- Shared memory ---- */

static void note_sharing(void)
{
	if (atomic_load(&rt_children.had) && atomic_load(&rt_children.range_count))
		atomic_store(&rt_children.share, true);
}

void rt_children_see(const void *p, size_t size)
{
	uintptr_t from = (uintptr_t)p;
	if (rt_children_share_at(&rt_children, from) && rt_children_share_at(&rt_children, from + size - 1))
		return;
	uint32_t i = atomic_load(&rt_children.range_count);
	while (i <= RT_CHILDREN_RANGES && !atomic_compare_exchange_weak(&rt_children.range_count, &i, i + 1))
		;
	if (i < RT_CHILDREN_RANGES) {
		atomic_store(&rt_children.ranges[i].from, from);
		atomic_store(&rt_children.ranges[i].size, size);
	}
	note_sharing();
}

void rt_children_heard_at(const volatile void *p, uint64_t value, uint64_t writes, uintptr_t pc)
{
	static __thread struct rt_children_sight last;
	uintptr_t at = (uintptr_t)p;
	if (rt_children_share_at(&rt_children, at) && !rt_children_seen(&last, at, value, writes))
		rt_children_heard(pc);
}

/* ---- How many there are ---- */

static _Atomic uint32_t made, ended; /* made: or about to be */

static void forks(void)
{
	note_first();
	atomic_fetch_add(&made, 1);
	atomic_store(&rt_children.had, true);
	atomic_store(&rt_children.has, true);
	note_sharing();
	rt_children_told(0);
}
RT_CALL_AT(RT_AT_FORK, forks);

/* Nobody is told any more when the last one has ended, and has left none behind. */
void rt_children_ended(uintptr_t pc)
{
	rt_children_heard(pc);
	uint32_t n = atomic_fetch_add(&ended, 1) + 1;
	if (n != atomic_load(&made) ||
	    RT_SYSCALL(SYS_waitid, P_ALL, 0, NULL, WEXITED | WNOHANG | WNOWAIT | __WALL, NULL) != -ECHILD ||
	    rt_orphans_live())
		return;
	atomic_store(&rt_children.has, false);
	if (n != atomic_load(&made)) /* another thread makes one */
		atomic_store(&rt_children.has, true);
}
