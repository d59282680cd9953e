/* System calls of the tool's own: Valgrind's headers for its own do not go with the system's. */
#ifndef RECORDER_VALGRIND_KERNEL_H
#define RECORDER_VALGRIND_KERNEL_H

#include <sys/syscall.h>

/* Result: the call's, or a negative errno. */
static inline long kernel_call(long number, long a, long b, long c, long d)
{
	long result;
	register long fourth __asm__("r10") = d;
	__asm__ volatile("syscall"
	                 : "=a"(result)
	                 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth)
	                 : "rcx", "r11", "memory");
	return result;
}

#endif
