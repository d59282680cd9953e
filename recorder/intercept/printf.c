/* Formatted output: streams and strings. Input is in scanf.c. */
#ifndef __NO_INLINE__
#define __NO_INLINE__ /* or the C library's headers define some of these themselves */
#endif
#include "recorder/intercept/fd.h"
#include "recorder/intercept/format.h"
#include "recorder/intercept/formats.h"
#include "recorder/intercept/stream.h"

#include <err.h>
#include <stdio.h>
#include <syslog.h>
#include <wchar.h>

/* Before output: what the arguments read; f: where it goes, NULL for memory. */
static void prints(FILE *f, const char *format, va_list args, uintptr_t pc)
{
	if (!rt_appending())
		return;
	rt_emit_string(RT_OP_READ, format, pc);
	rt_printf_accesses(format, args, pc);
	if (f)
		rt_stream_sends(f, pc);
}

/* After output into memory of `size` bytes; into a new block, which `to` points to then. */
static int printed(const char *to, size_t size, int n, uintptr_t pc)
{
	if (n >= 0 && size > 0)
		rt_emit_range(RT_OP_WRITE, to, (size_t)n + 1 < size ? (size_t)n + 1 : size, pc);
	return n;
}

static void allocated(char *const *to, int n, uintptr_t pc)
{
	if (n < 0)
		return;
	rt_emit_range(RT_OP_WRITE, to, sizeof *to, pc);
	printed(*to, SIZE_MAX, n, pc);
}

FORMATS(vprintf, printf, (const char *restrict format), (format), prints(stdout, format, copy, pc), )
FORMATS(vfprintf, fprintf, (FILE *restrict f, const char *restrict format), (f, format), prints(f, format, copy, pc), )
FORMATS(vdprintf, dprintf, (int fd, const char *restrict format), (fd, format), prints(NULL, format, copy, pc);
        rt_fd_publishes(fd, NULL, 0, pc), )
FORMATS(vasprintf, asprintf, (char **restrict to, const char *restrict format), (to, format),
        prints(NULL, format, copy, pc), allocated(to, n, pc))
FORMATS(vsprintf, sprintf, (char *restrict to, const char *restrict format), (to, format),
        prints(NULL, format, copy, pc), printed(to, SIZE_MAX, n, pc))
FORMATS(vsnprintf, snprintf, (char *restrict to, size_t size, const char *restrict format), (to, size, format),
        prints(NULL, format, copy, pc), printed(to, size, n, pc))

/* With _FORTIFY_SOURCE. */
FORMATS(__vprintf_chk, __printf_chk, (int flag, const char *restrict format), (flag, format),
        prints(stdout, format, copy, pc), )
FORMATS(__vfprintf_chk, __fprintf_chk, (FILE *restrict f, int flag, const char *restrict format), (f, flag, format),
        prints(f, format, copy, pc), )
FORMATS(__vdprintf_chk, __dprintf_chk, (int fd, int flag, const char *restrict format), (fd, flag, format),
        prints(NULL, format, copy, pc);
        rt_fd_publishes(fd, NULL, 0, pc), )
FORMATS(__vasprintf_chk, __asprintf_chk, (char **restrict to, int flag, const char *restrict format),
        (to, flag, format), prints(NULL, format, copy, pc), allocated(to, n, pc))
FORMATS(__vsprintf_chk, __sprintf_chk, (char *restrict to, int flag, size_t room, const char *restrict format),
        (to, flag, room, format), prints(NULL, format, copy, pc), printed(to, SIZE_MAX, n, pc))
FORMATS(__vsnprintf_chk, __snprintf_chk,
        (char *restrict to, size_t size, int flag, size_t room, const char *restrict format),
        (to, size, flag, room, format), prints(NULL, format, copy, pc), printed(to, size, n, pc))

/* Wide ones. Results of swprintf are counted in characters. */
static void wide_prints(FILE *f, const wchar_t *format, va_list args, uintptr_t pc)
{
	char narrow[RT_FORMAT_MAX];
	if (!rt_appending())
		return;
	rt_emit_wide(RT_OP_READ, format, pc);
	rt_printf_accesses(rt_narrow(format, narrow, sizeof narrow), args, pc);
	if (f)
		rt_stream_sends(f, pc);
}
static void wide_printed(const wchar_t *to, int n, uintptr_t pc)
{
	if (n >= 0)
		rt_emit_range(RT_OP_WRITE, to, ((size_t)n + 1) * sizeof *to, pc);
}
FORMATS(vwprintf, wprintf, (const wchar_t *restrict format), (format), wide_prints(stdout, format, copy, pc), )
FORMATS(vfwprintf, fwprintf, (FILE *restrict f, const wchar_t *restrict format), (f, format),
        wide_prints(f, format, copy, pc), )
FORMATS(vswprintf, swprintf, (wchar_t *restrict to, size_t size, const wchar_t *restrict format), (to, size, format),
        wide_prints(NULL, format, copy, pc), wide_printed(to, n, pc))
FORMATS(__vwprintf_chk, __wprintf_chk, (int flag, const wchar_t *restrict format), (flag, format),
        wide_prints(stdout, format, copy, pc), )
FORMATS(__vfwprintf_chk, __fwprintf_chk, (FILE *restrict f, int flag, const wchar_t *restrict format),
        (f, flag, format), wide_prints(f, format, copy, pc), )
FORMATS(__vswprintf_chk, __swprintf_chk,
        (wchar_t *restrict to, size_t size, int flag, size_t room, const wchar_t *restrict format),
        (to, size, flag, room, format), wide_prints(NULL, format, copy, pc), wide_printed(to, n, pc))

/* Messages: to standard error, and to the system's log. */
#define MESSAGES(vname, name, parameters, arguments, f)                                                                \
	RT_INTERPOSE(void, vname, (PARAMETERS parameters, va_list args))                                               \
	{                                                                                                              \
		if (format)                                                                                            \
			prints(f, format, args, RT_PC);                                                                \
		RT_REAL(vname)(ARGUMENTS arguments, args);                                                             \
	}                                                                                                              \
	RT_DEFINE(void, name, (PARAMETERS parameters, ...))                                                            \
	{                                                                                                              \
		va_list args;                                                                                          \
		va_start(args, format);                                                                                \
		if (format)                                                                                            \
			prints(f, format, args, RT_PC);                                                                \
		RT_REAL(vname)(ARGUMENTS arguments, args);                                                             \
		va_end(args);                                                                                          \
	}
MESSAGES(vwarn, warn, (const char *format), (format), stderr)
MESSAGES(vwarnx, warnx, (const char *format), (format), stderr)
MESSAGES(vsyslog, syslog, (int priority, const char *format), (priority, format), NULL)
