/*
 * System calls of the recorder's own: not through libc, whose functions are interposed, and without touching errno.
 * The result is the kernel's: negative errno on failure.
 */
#ifndef RECORDER_RUNTIME_SYSCALL_H
#define RECORDER_RUNTIME_SYSCALL_H

#include <stdbool.h>
#include <sys/syscall.h>

/*
 * In a program that has made itself a sandbox (sandbox.c) a call that might kill it is not made: the result is -EPERM.
 * For calls through libc: may this one be made?
 */
extern bool rt_sandboxed;
extern bool rt_guarded; /* it is, or may be and is asked after */
bool rt_sandbox_allows(long n, long a, long b, long c, long d, long e, long f);
#define RT_SANDBOX_ALLOWS_(n, a, b, c, d, e, f, ...)                                                                   \
	(!__builtin_expect(rt_guarded, 0) ||                                                                           \
	 rt_sandbox_allows(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f)))
#define RT_SANDBOX_ALLOWS(...) RT_SANDBOX_ALLOWS_(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)

static inline long rt_syscall6(long n, long a, long b, long c, long d, long e, long f)
{
	if (!RT_SANDBOX_ALLOWS(n, a, b, c, d, e, f))
		return -1; /* EPERM */
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
	                 : "=a"(result)
	                 : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
	                 : "rcx", "r11", "memory");
	return result;
}

#define RT_SYSCALL_(n, a, b, c, d, e, f, ...)                                                                          \
	rt_syscall6(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
/* RT_SYSCALL(number, up to six arguments) */
#define RT_SYSCALL(...) RT_SYSCALL_(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)

#endif
