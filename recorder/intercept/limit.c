/*
 * Limits of which the kernel's is another one than the program has set. The program is told what it has set.
 *
 * Of address space: what the recorder has reserved counts, and is hundreds of times as much as a program has. With the
 * limit that it sets the program would have no memory at all. So the kernel's limit is that much higher. Valgrind
 * cannot go on under a limit: there it is not set.
 *
 * Of descriptors: Valgrind refuses to change the hard limit. There only the soft one is set.
 *
 * A program that is executed later inherits the higher one.
 */
#include "recorder/intercept/limit.h"

#include "recorder/runtime/core.h"
#include "recorder/runtime/syscall.h"

static struct limit {
	_Atomic uint64_t soft, hard;
	_Atomic bool is_set;
} address_space, descriptors;

/* NULL: the kernel's limit is the program's. */
static struct limit *limit_of(unsigned which)
{
	if (which == RLIMIT_AS && rt_memory_reserved)
		return &address_space;
	return which == RLIMIT_NOFILE && rt_watched ? &descriptors : NULL;
}

static rlim_t more(rlim_t limit, uint64_t by)
{
	return limit > RLIM_INFINITY - by ? RLIM_INFINITY : limit + by;
}

static rlim_t lesser(rlim_t a, rlim_t b)
{
	return a < b ? a : b;
}

const struct rlimit *rt_limit_raised(unsigned which, const struct rlimit *asked, struct rlimit *raised)
{
	struct rlimit now = {0, 0}; /* which the analyzer does not see filled in */

	if (!limit_of(which) || !asked || asked->rlim_cur > asked->rlim_max)
		return asked;
	if (RT_SYSCALL(SYS_prlimit64, 0, which, NULL, &now) != 0 || asked->rlim_max > now.rlim_max)
		return asked;
	*raised = now;
	if (which == RLIMIT_NOFILE) {
		raised->rlim_cur = asked->rlim_cur;
	} else if (!rt_watched) {
		raised->rlim_max = lesser(more(asked->rlim_max, rt_memory_reserved), now.rlim_max);
		raised->rlim_cur = lesser(more(asked->rlim_cur, rt_memory_reserved), raised->rlim_max);
	}
	return raised;
}

void rt_limit_set(unsigned which, const struct rlimit *asked)
{
	struct limit *of = limit_of(which);

	if (!of || !asked)
		return;
	atomic_store(&of->soft, asked->rlim_cur);
	atomic_store(&of->hard, asked->rlim_max);
	atomic_store(&of->is_set, true);
}

void rt_limit_seen(unsigned which, struct rlimit *told)
{
	struct limit *of = limit_of(which);

	if (!of || !told || !atomic_load(&of->is_set))
		return;
	told->rlim_cur = atomic_load(&of->soft);
	told->rlim_max = atomic_load(&of->hard);
}

unsigned rt_limit_of(pid_t process, unsigned which)
{
	return process == 0 || process == RT_SYSCALL(SYS_getpid) ? which : RLIM_NLIMITS;
}
