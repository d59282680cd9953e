/*
 * The limit on address space. What the recorder has reserved counts, and is hundreds of times as much as a program has.
 * With the limit that it sets the program would have no memory at all. So the kernel's limit is that much higher, and
 * the program is told the one that it has set. Valgrind cannot go on under a limit: there it is not set.
 *
 * A program that is executed later inherits the higher one.
 */
#include "recorder/intercept/limit.h"

#include "recorder/runtime/core.h"
#include "recorder/runtime/syscall.h"

static _Atomic uint64_t soft, hard;
static _Atomic bool is_set;

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

	if (which != RLIMIT_AS || !asked || !rt_memory_reserved || asked->rlim_cur > asked->rlim_max)
		return asked;
	if (RT_SYSCALL(SYS_prlimit64, 0, RLIMIT_AS, NULL, &now) != 0 || asked->rlim_max > now.rlim_max)
		return asked;
	*raised = now;
	if (!rt_watched) {
		raised->rlim_max = lesser(more(asked->rlim_max, rt_memory_reserved), now.rlim_max);
		raised->rlim_cur = lesser(more(asked->rlim_cur, rt_memory_reserved), raised->rlim_max);
	}
	return raised;
}

void rt_limit_set(unsigned which, const struct rlimit *asked)
{
	if (which != RLIMIT_AS || !asked || !rt_memory_reserved)
		return;
	atomic_store(&soft, asked->rlim_cur);
	atomic_store(&hard, asked->rlim_max);
	atomic_store(&is_set, true);
}

void rt_limit_seen(unsigned which, struct rlimit *told)
{
	if (which != RLIMIT_AS || !told || !atomic_load(&is_set))
		return;
	told->rlim_cur = atomic_load(&soft);
	told->rlim_max = atomic_load(&hard);
}

unsigned rt_limit_of(pid_t process, unsigned which)
{
	return process == 0 || process == RT_SYSCALL(SYS_getpid) ? which : RLIM_NLIMITS;
}
