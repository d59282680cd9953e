/* Seccomp filters of the program; see sandbox.c. */
#ifndef RECORDER_RUNTIME_SANDBOX_H
#define RECORDER_RUNTIME_SANDBOX_H

#include <stdbool.h>

struct rt_sandbox; /* a filter, and those that were there before it */

/* Around prctl(a...) or syscall(number, a...), which may be about to install a filter. refused: it did not. */
struct rt_sandboxing {
	bool begun, all;
	const struct rt_sandbox *own, *everybody; /* as it was */
};
struct rt_sandboxing rt_sandbox_begin(long number, const unsigned long a[4]);
void rt_sandbox_end(const struct rt_sandboxing *s, bool refused);

#endif
