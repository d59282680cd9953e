/*
 * Forked children. A child must not write into its parent's rings, which it still maps. It takes another channel
 * (start.c), at the same address, so that pointers into the old one do no harm. If there is none, or only the first
 * process is recorded, private zeros take its place (a slot of zeros is a dead slot) and the child runs unrecorded. The
 * thread that forked is the child's main thread.
 *
 * vfork acts as fork here: a child that ran in its parent's memory would write its events into its parent's ring.
 *
 * Everything that runs in the child may run in the child of a process with many threads, or in a signal handler: it
 * calls nothing that allocates or locks.
 */
#include "recorder/runtime/core.h"
#include "recorder/runtime/syscall.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

static bool leave_channel(struct rt_channel *c)
{
	uint64_t size = c->total_bytes;
	struct rt_slot *self = rt_self;
	long at;

	rt_stop_recording();
	rt_channel = NULL;
	at = RT_SYSCALL(SYS_mmap, c, size, PROT_READ | PROT_WRITE,
	                MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at < 0 && at > -4096) {
		RT_SYSCALL(SYS_munmap, c, size);
		return false;
	}
	return self != &rt_dead;
}

/* A hook that a handler interrupted, which then forked, goes on with the slot of the parent's thread. */
static void leave_slot(struct rt_slot *old)
{
	if (old == rt_self)
		return;
	old->filter = rt_dead.filter;
	old->filter_mask = rt_dead.filter_mask;
}

/* These may be called twice for a fork: from libc's handlers and from the functions below. */
static void in_child(void)
{
	struct rt_channel *c = rt_channel;
	struct rt_slot *self = rt_self;
	bool was_idle = rt_idle, had_slot;

	if (!c || !rt_thread.forking)
		return;
	rt_thread.forking = false;
	rt_thread.kept_count = 0; /* as pending signals are not inherited */
	rt_busy_begin();
	rt_call_at(RT_AT_CHILD);
	rt_thread_forked();
	had_slot = leave_channel(c);
	if (!(was_idle ? rt_idle_again(c) : rt_tree_join(c)))
		rt_idle = false;
	if (had_slot)
		leave_slot(self);
	rt_place_tell(rt_self, 0);
	if (rt_tree && !was_idle)
		atomic_fetch_sub(&rt_tree->forking, 1);
	rt_busy_end();
}

/* The recording does not end while a child is starting. */
static void before_fork(void)
{
	rt_call_at(RT_AT_FORK);
	if (!rt_channel)
		return;
	rt_thread.forking = true;
	if (!rt_idle)
		atomic_fetch_add(&rt_tree->forking, 1);
}

static void in_parent(void)
{
	if (!rt_thread.forking)
		return;
	rt_thread.forking = false;
}

void rt_fork_start(void)
{
	/* For forks that go round the functions below (daemon, forkpty); runs before the program's own handlers. */
	pthread_atfork(before_fork, in_parent, in_child);
}

/* Busy, so that no handler runs in the child before it has left the channel. */
static pid_t fork_with(pid_t (*real)(void), bool runs_handlers)
{
	pid_t pid;

	if (runs_handlers) /* before_fork is one */
		rt_busy_begin();
	else
		rt_fork_begin();
	pid = real();
	rt_fork_end(pid);
	return pid;
}

void rt_fork_begin(void)
{
	rt_busy_begin();
	before_fork();
}

void rt_fork_end(pid_t pid)
{
	int saved = errno;

	if (pid == 0)
		in_child();
	else if (pid < 0 && rt_channel && !rt_idle)
		atomic_fetch_sub(&rt_tree->forking, 1);
	if (pid != 0)
		in_parent();
	rt_busy_end();
	errno = saved;
}

RT_INTERPOSE(pid_t, fork, (void))
{
	return fork_with(RT_REAL(fork), true);
}

RT_DEFINE(pid_t, vfork, (void))
{
	return fork_with(RT_REAL(fork), true);
}

RT_INTERPOSE(pid_t, _Fork, (void))
{
	return fork_with(RT_REAL(_Fork), false);
}
