/*
 * Forked children are not recorded. The child must not write into its parent's rings: private zeros take the channel's
 * place (a slot of zeros is a dead slot, for whoever still holds its address), and the dead slot becomes the thread's.
 *
 * vfork is fork here: a child that ran in its parent's memory would write events of its own into its parent's ring.
 */
#include "recorder/core.h"
#include "recorder/syscall.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

static void leave_channel(void)
{
	struct rt_channel *c = rt_channel;
	struct rt_slot *self = rt_self;
	uint64_t size;
	long at;

	rt_stop_recording();
	if (!c)
		return;
	rt_channel = NULL;
	size = c->total_bytes;
	at = RT_SYSCALL(SYS_mmap, c, size, PROT_READ | PROT_WRITE,
	                MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at < 0 && at > -4096)
		RT_SYSCALL(SYS_munmap, c, size);
	else if (self != &rt_dead) {
		/* A hook that a handler interrupted, which then forked, goes on with it. */
		self->filter = rt_dead.filter;
		self->filter_mask = rt_dead.filter_mask;
	}
}

void rt_fork_start(void)
{
	/* For forks that go round the functions below (daemon, forkpty); runs before the program's own handlers. */
	pthread_atfork(NULL, NULL, leave_channel);
}

/* Busy, so that no handler runs in the child before it has left the channel. */
static pid_t fork_with(pid_t (*real)(void))
{
	pid_t pid;
	int saved;

	rt_busy_begin();
	pid = real();
	saved = errno;
	if (pid == 0)
		leave_channel();
	rt_busy_end();
	errno = saved;
	return pid;
}

RT_INTERPOSE(pid_t, fork, (void))
{
	return fork_with(RT_REAL(fork));
}

RT_EXPORT pid_t vfork(void)
{
	return fork_with(RT_REAL(fork));
}

RT_INTERPOSE(pid_t, _Fork, (void))
{
	return fork_with(RT_REAL(_Fork));
}
