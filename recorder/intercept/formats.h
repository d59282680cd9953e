/* How functions with formats are interposed: printf.c and scanf.c. */
#ifndef RECORDER_INTERCEPT_FORMATS_H
#define RECORDER_INTERCEPT_FORMATS_H

#include "recorder/intercept/sync.h"

#include <stdarg.h>

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
	RT_DEFINE(int, name, (PARAMETERS parameters, ...))                                                             \
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

/*
 * A wide format as a narrow one, cut if it is long: what matters of it is in ASCII. Result: `to`.
 */
static inline const char *rt_narrow(const wchar_t *format, char *to, size_t room)
{
	size_t n = 0;
	for (; n + 1 < room && format[n]; n++)
		to[n] = format[n] > 0 && format[n] < 128 ? (char)format[n] : '?';
	to[n] = 0;
	return to;
}
#define RT_FORMAT_MAX 512

#endif
