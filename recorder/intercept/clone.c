/*
 * clone(), and what syscall() makes. Without CLONE_VM it is a fork. A thread that comes about in this way is not
 * recorded: nothing tells when it begins, ends and is waited for. The trace says that it is missing (LOST).
 *
 * One that has no thread-local memory of its own shares that of the thread that made it, and with it the recorder's.
 * Two must not write into one ring, so neither is recorded until the new one has returned; should it end otherwise, for
 * good.
 */
#include "recorder/intercept/sync.h"
#include "recorder/runtime/core.h"
#include "recorder/runtime/syscall.h"

#include <errno.h>
#include <sched.h>
#include <stdarg.h>

struct cloned {
	int (*function)(void *);
	void *argument;
	uintptr_t pc;
};

static int run_forked(void *argument)
{
	struct cloned c = *(struct cloned *)argument;
	rt_fork_end(0);
	return c.function(c.argument);
}

/* Threads that share this thread-local memory, besides its owner. */
static __thread _Atomic uint32_t sharers;

static void share_begin(void)
{
	atomic_fetch_add(&sharers, 1);
	rt_self = &rt_dead;
}

/* The owner goes on in its ring, behind a word about what is missing; until rt_self is set it does not write there. */
static void share_end(uintptr_t pc)
{
	struct rt_slot *own = rt_thread.own;

	if (atomic_fetch_sub(&sharers, 1) > 1 || !own)
		return;
	rt_sync(own, RT_OP_LOST, RT_LOST_THREAD, 0, pc, 0);
	__atomic_store_n(&rt_self, own, __ATOMIC_RELEASE);
}

static int run_shared(void *argument)
{
	struct cloned *c = argument;
	int result = c->function(c->argument);
	share_end(c->pc);
	return result;
}

typedef int clone_function(int (*function)(void *), void *stack, int flags, void *argument, ...);
RT_NEXT(int, clone, (int (*function)(void *), void *stack, int flags, void *argument, ...));

/* c is on the parent's stack, of which the child has a copy. */
static int clone_forked(struct cloned *c, void *stack, int flags, void *const more[3])
{
	rt_fork_begin();
	int pid = RT_REAL(clone)(run_forked, stack, flags, c, more[0], more[1], more[2]);
	rt_fork_end(pid);
	return pid;
}

/* The new thread may outlive this call: what it is given is never freed, as freeing it would be in shared memory. */
static int clone_shared(const struct cloned *c, void *stack, int flags, void *const more[3])
{
	struct cloned *copy = rt_malloc_unseen(sizeof *copy);
	if (!copy) {
		errno = ENOMEM;
		return -1;
	}
	*copy = *c;
	rt_turn_foreign();
	rt_emit_sync(RT_OP_LOST, RT_LOST_THREAD, 1, c->pc, 0);
	share_begin();
	int pid = RT_REAL(clone)(run_shared, stack, flags, copy, more[0], more[1], more[2]);
	if (pid < 0)
		share_end(c->pc);
	return pid;
}

RT_DEFINE(int, clone, (int (*function)(void *), void *stack, int flags, void *argument, ...))
{
	struct cloned c = {function, argument, RT_PC};
	void *more[3]; /* passing on more than was given is harmless */
	va_list args;
	va_start(args, argument);
	for (int i = 0; i < 3; i++)
		more[i] = va_arg(args, void *);
	va_end(args);
	if (!rt_channel)
		return RT_REAL(clone)(function, stack, flags, argument, more[0], more[1], more[2]);
	if (!(flags & CLONE_VM))
		return clone_forked(&c, stack, flags, more);
	/* With CLONE_VFORK this thread is suspended meanwhile: the other's operations count as its own. */
	if (!(flags & CLONE_VFORK) && !(flags & CLONE_SETTLS) && rt_recording())
		return clone_shared(&c, stack, flags, more);
	if (!(flags & CLONE_VFORK))
		rt_turn_foreign();
	rt_emit_sync(RT_OP_LOST, RT_LOST_THREAD, 1, c.pc, 0);
	return RT_REAL(clone)(function, stack, flags, argument, more[0], more[1], more[2]);
}

/* ---- syscall() ---- */

static uint64_t flags_of(long number, const long a[6])
{
	switch (number) {
	case SYS_clone:
		return (uint64_t)a[0];
	case SYS_clone3:
		return a[0] ? *(const uint64_t *)a[0] : 0;
	case SYS_vfork:
		return CLONE_VM | CLONE_VFORK;
	default:
		return 0;
	}
}

bool rt_clone_begins(long number, const long a[6], uintptr_t pc)
{
	uint64_t flags;

	if (!rt_channel || (number != SYS_clone && number != SYS_clone3 && number != SYS_fork && number != SYS_vfork))
		return false;
	flags = flags_of(number, a);
	if (!(flags & CLONE_VM)) {
		rt_fork_begin();
		return true;
	}
	if (!(flags & CLONE_VFORK))
		rt_turn_foreign();
	rt_emit_sync(RT_OP_LOST, RT_LOST_THREAD, 1, pc, 0);
	if (!(flags & (CLONE_VFORK | CLONE_SETTLS)))
		share_begin();
	return false;
}
