/* Seccomp filters of the program; see sandbox.c. */
#ifndef RECORDER_RUNTIME_SANDBOX_H
#define RECORDER_RUNTIME_SANDBOX_H

#include <stdbool.h>
#include <stdint.h>

struct rt_sandbox; /* a filter, and those that were there before it */

/* Around prctl(a...) or syscall(number, a...), which may be about to install a filter. refused: it did not. */
struct rt_sandboxing {
	bool begun, all;
	const struct rt_sandbox *own, *everybody; /* as it was */
};
struct rt_sandboxing rt_sandbox_begin(long number, const unsigned long a[4]);
/* True if it would confine Valgrind, which runs the program: it fails, and errno is set, as in a kernel without
 * seccomp. */
bool rt_sandbox_refused(long number, const unsigned long a[4]);
void rt_sandbox_end(const struct rt_sandboxing *s, bool refused);

/* Filters of a process that has one thread, by system calls that the dynamic linker has made for it already; see
 * confined.h. */
uint32_t rt_sandbox_filters(void);

/* The collector has answered: it may have said that filters can be installed unseen. */
void rt_sandbox_answered(void);
/* In a forked child, which has another channel. */
void rt_sandbox_forked(void);

#endif
