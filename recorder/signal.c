/* Signals. */
#include "recorder/core.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

void rt_signal_undefer(void)
{
	int saved = errno;
	uint64_t mask = rt_thread.mask;

	rt_thread.deferred = 0;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof mask);
	errno = saved;
}
