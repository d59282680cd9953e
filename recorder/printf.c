/* Formatted output and input: streams and strings. */
#ifndef __NO_INLINE__
#define __NO_INLINE__ /* or the C library's headers define some of these themselves */
#endif
#include "recorder/fd.h"
#include "recorder/format.h"
#include "recorder/sync.h"

#include <stdio.h>
#include <wchar.h>

/* Before output: what the arguments read; f: where it goes, NULL for memory. */
static void prints(FILE *f, const char *format, va_list args, uintptr_t pc)
{
	if (!rt_recording())
		return;
	rt_emit_string(RT_OP_READ, format, pc);
	rt_printf_accesses(format, args, pc);
	if (f)
		rt_fd_publishes(fileno_unlocked(f), NULL, 0, pc);
}

/* After output into memory of `size` bytes. */
static int printed(const char *to, size_t size, int n, uintptr_t pc)
{
	if (n >= 0 && size > 0)
		rt_emit_range(RT_OP_WRITE, to, (size_t)n + 1 < size ? (size_t)n + 1 : size, pc);
	return n;
}

/* After input: from a stream, or (NULL) from the string s. */
static int scanned(FILE *f, const char *s, const char *format, va_list args, int n, uintptr_t pc)
{
	if (!rt_recording())
		return n;
	if (f)
		rt_fd_received(fileno_unlocked(f), n >= 0, pc);
	rt_emit_string(RT_OP_READ, s, pc);
	rt_emit_string(RT_OP_READ, format, pc);
	rt_scanf_accesses(format, args, n, pc);
	return n;
}

/*
 * Each function exists with a va_list, which is what is really called, and with `...`. FORMATS(v-name, name,
 * parameters before that, arguments, what to do before and after the call).
 */
#define FORMATS(vname, name, parameters, arguments, before, after)                                                     \
	RT_INTERPOSE(int, vname, (PARAMETERS parameters, va_list args))                                                \
	{                                                                                                              \
		uintptr_t pc = RT_PC;                                                                                  \
		va_list copy;                                                                                          \
		va_copy(copy, args);                                                                                   \
		before;                                                                                                \
		int n = RT_REAL(vname)(ARGUMENTS arguments, args);                                                     \
		after;                                                                                                 \
		va_end(copy);                                                                                          \
		return n;                                                                                              \
	}                                                                                                              \
	RT_EXPORT int name(PARAMETERS parameters, ...);                                                                \
	RT_EXPORT int name(PARAMETERS parameters, ...)                                                                 \
	{                                                                                                              \
		uintptr_t pc = RT_PC;                                                                                  \
		va_list args, copy;                                                                                    \
		va_start(args, ARGUMENTS_LAST arguments);                                                              \
		va_copy(copy, args);                                                                                   \
		before;                                                                                                \
		int n = RT_REAL(vname)(ARGUMENTS arguments, args);                                                     \
		after;                                                                                                 \
		va_end(copy);                                                                                          \
		va_end(args);                                                                                          \
		return n;                                                                                              \
	}
#define PARAMETERS(...) __VA_ARGS__
#define ARGUMENTS(...) __VA_ARGS__
#define ARGUMENTS_LAST(...) format

FORMATS(vprintf, printf, (const char *restrict format), (format), prints(stdout, format, copy, pc), )
FORMATS(vfprintf, fprintf, (FILE *restrict f, const char *restrict format), (f, format), prints(f, format, copy, pc), )
FORMATS(vdprintf, dprintf, (int fd, const char *restrict format), (fd, format), prints(NULL, format, copy, pc);
        rt_fd_publishes(fd, NULL, 0, pc), )
FORMATS(vasprintf, asprintf, (char **restrict to, const char *restrict format), (to, format),
        prints(NULL, format, copy, pc), if (n >= 0) printed(*to, SIZE_MAX, n, pc))
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
        (to, flag, format), prints(NULL, format, copy, pc), if (n >= 0) printed(*to, SIZE_MAX, n, pc))
FORMATS(__vsprintf_chk, __sprintf_chk, (char *restrict to, int flag, size_t room, const char *restrict format),
        (to, flag, room, format), prints(NULL, format, copy, pc), printed(to, SIZE_MAX, n, pc))
FORMATS(__vsnprintf_chk, __snprintf_chk,
        (char *restrict to, size_t size, int flag, size_t room, const char *restrict format),
        (to, size, flag, room, format), prints(NULL, format, copy, pc), printed(to, size, n, pc))

/* Input, by the names that C99 and later programs call (the headers put them in the place of the plain ones). */
FORMATS(__isoc99_vscanf, __isoc99_scanf, (const char *restrict format), (format), ,
        scanned(stdin, NULL, format, copy, n, pc))
FORMATS(__isoc99_vfscanf, __isoc99_fscanf, (FILE *restrict f, const char *restrict format), (f, format), ,
        scanned(f, NULL, format, copy, n, pc))
FORMATS(__isoc99_vsscanf, __isoc99_sscanf, (const char *restrict s, const char *restrict format), (s, format), ,
        scanned(NULL, s, format, copy, n, pc))
