/* What is left: call stacks, devices, other processes, programs' options. */
#include "recorder/intercept/call.h"
#include "recorder/runtime/sandbox.h"

#include <execinfo.h>
#include <getopt.h>
#include <linux/capability.h>
#include <search.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

CALL(int, backtrace, (void **to, int n), (to, n), , if (r > 0) OUT_N(to, (size_t)r * sizeof *to))
CALL(char **, backtrace_symbols, (void *const *from, int n), (from, n),
     if (n > 0) IN_N(from, (size_t)n * sizeof *from), )
CALL_VOID(backtrace_symbols_fd, (void *const *from, int n, int fd), (from, n, fd),
          if (n > 0) IN_N(from, (size_t)n * sizeof *from), )
CALL(char *, get_current_dir_name, (void), (), USES(environ), )

/* Sets of capabilities: one in the first version, two since. */
static size_t capabilities(const struct __user_cap_header_struct *header)
{
	return header && header->version != _LINUX_CAPABILITY_VERSION_1 ? 2 : 1;
}
CALL(int, capget, (cap_user_header_t header, cap_user_data_t to), (header, to), IN(header),
     if (r == 0) OUT_N(to, capabilities(header) * sizeof *to))
CALL(int, capset, (cap_user_header_t header, const cap_user_data_t from), (header, from), IN(header);
     IN_N(from, capabilities(header) * sizeof *from), )

/* Options: the place in the arguments is one for all threads. */
#define OPTIONS CHANGES(optind), CHANGES(optarg)
CALL(int, getopt, (int n, char *const arguments[], const char *options), (n, arguments, options), STR(options), OPTIONS)
CALL(int, getopt_long, (int n, char *const arguments[], const char *options, const struct option *names, int *to),
     (n, arguments, options, names, to), STR(options), OPTIONS)
CALL(int, getopt_long_only, (int n, char *const arguments[], const char *options, const struct option *names, int *to),
     (n, arguments, options, names, to), STR(options), OPTIONS)

/* All four are passed on, whatever there is of them. */
RT_INTERPOSE(int, prctl, (int what, ...))
{
	const uintptr_t pc = RT_PC;
	va_list args;
	va_start(args, what);
	unsigned long a = va_arg(args, unsigned long), b = va_arg(args, unsigned long), c = va_arg(args, unsigned long),
	              d = va_arg(args, unsigned long);
	va_end(args);
	if (what == PR_SET_NAME)
		STR((const char *)a);
	const unsigned long given[4] = {(unsigned long)what, a, b, c};
	if (rt_sandbox_refused(SYS_prctl, given))
		return -1;
	struct rt_sandboxing sandbox = rt_sandbox_begin(SYS_prctl, given);
	int r = RT_REAL(prctl)(what, a, b, c, d);
	rt_sandbox_end(&sandbox, r < 0);
	if (r == 0 && what == PR_GET_NAME)
		OUT_STR((const char *)a);
	return r;
}

/* The functions called back say themselves what they read: these are here for what they are given and give. */
CALL(void *, lfind,
     (const void *key, const void *base, size_t *n, size_t size, int (*compare)(const void *, const void *)),
     (key, base, n, size, compare), IN(n), )
CALL(void *, lsearch, (const void *key, void *base, size_t *n, size_t size, int (*compare)(const void *, const void *)),
     (key, base, n, size, compare), IN(n);
     const size_t before = *n; IN_N(key, size), WHEN(*n != before, OUT(n); OUT_N(r, size)))
