/*
 * String and memory functions: what they read and write of the caller's memory, as ranges.
 *
 * memcpy, memmove and memset may be called before anything can be looked up (by other libraries' start code), so these
 * go through pointers that begin at plain loops. The recorder is built with -fno-builtin, and this file with
 * -fno-tree-loop-distribute-patterns, so that the loops do not become calls of themselves.
 */
#ifndef __NO_INLINE__
#define __NO_INLINE__ /* or the C library's headers define some of these themselves */
#endif
#include "recorder/intercept/call.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <wchar.h>

#undef memcpy
#undef memmove
#undef memset
#undef strchr
#undef strdup
#undef strndup

/* A range is only worth working out for the record. */
#define READS(p, n) rt_emit_range(RT_OP_READ, p, n, pc)
#define WRITES(p, n) rt_emit_range(RT_OP_WRITE, p, n, pc)

static void *loop_memmove(void *to, const void *from, size_t n)
{
	char *d = to;
	const char *s = from;
	if (d <= s)
		for (size_t i = 0; i < n; i++)
			d[i] = s[i];
	else
		while (n-- > 0)
			d[n] = s[n];
	return to;
}

static void *loop_memset(void *to, int c, size_t n)
{
	for (size_t i = 0; i < n; i++)
		((char *)to)[i] = (char)c;
	return to;
}

static void *(*real_memcpy)(void *, const void *, size_t) = loop_memmove;
static void *(*real_memmove)(void *, const void *, size_t) = loop_memmove;
static void *(*real_memset)(void *, int, size_t) = loop_memset;

static __attribute__((constructor(101))) void find_memory_functions(void)
{
	void *f = dlsym(RTLD_NEXT, "memcpy");
	if (f)
		real_memcpy = (void *(*)(void *, const void *, size_t))f;
	f = dlsym(RTLD_NEXT, "memmove");
	if (f)
		real_memmove = (void *(*)(void *, const void *, size_t))f;
	f = dlsym(RTLD_NEXT, "memset");
	if (f)
		real_memset = (void *(*)(void *, int, size_t))f;
}

static inline void copies(void *to, const void *from, size_t n, uintptr_t pc)
{
	if (rt_appending()) {
		READS(from, n);
		WRITES(to, n);
	}
}

RT_DEFINE(void *, memcpy, (void *restrict to, const void *restrict from, size_t n))
{
	copies(to, from, n, RT_PC);
	return real_memcpy(to, from, n);
}

RT_DEFINE(void *, memmove, (void *to, const void *from, size_t n))
{
	copies(to, from, n, RT_PC);
	return real_memmove(to, from, n);
}

RT_DEFINE(void *, mempcpy, (void *restrict to, const void *restrict from, size_t n))
{
	copies(to, from, n, RT_PC);
	return (char *)real_memcpy(to, from, n) + n;
}

RT_DEFINE(void *, memset, (void *to, int c, size_t n))
{
	rt_emit_range(RT_OP_WRITE, to, n, RT_PC);
	return real_memset(to, c, n);
}

RT_DEFINE(void, bzero, (void *to, size_t n))
{
	rt_emit_range(RT_OP_WRITE, to, n, RT_PC);
	real_memset(to, 0, n);
}

RT_DEFINE(void, __bzero, (void *to, size_t n))
{
	rt_emit_range(RT_OP_WRITE, to, n, RT_PC);
	real_memset(to, 0, n);
}

RT_DEFINE(void, bcopy, (const void *from, void *to, size_t n))
{
	copies(to, from, n, RT_PC);
	real_memmove(to, from, n);
}

RT_DEFINE(wchar_t *, wmemcpy, (wchar_t *restrict to, const wchar_t *restrict from, size_t n))
{
	copies(to, from, n * sizeof(*to), RT_PC);
	return real_memcpy(to, from, n * sizeof(*to));
}

RT_DEFINE(wchar_t *, wmemmove, (wchar_t * to, const wchar_t *from, size_t n))
{
	copies(to, from, n * sizeof(*to), RT_PC);
	return real_memmove(to, from, n * sizeof(*to));
}

/* The checked forms that _FORTIFY_SOURCE calls: the real ones abort where the sizes do not fit. */
#define CHECKED_COPY(name)                                                                                             \
	RT_INTERPOSE(void *, name, (void *to, const void *from, size_t n, size_t room))                                \
	{                                                                                                              \
		copies(to, from, n, RT_PC);                                                                            \
		return RT_REAL(name)(to, from, n, room);                                                               \
	}
CHECKED_COPY(__memcpy_chk)
CHECKED_COPY(__memmove_chk)
CHECKED_COPY(__mempcpy_chk)

RT_INTERPOSE(void *, __memset_chk, (void *to, int c, size_t n, size_t room))
{
	rt_emit_range(RT_OP_WRITE, to, n, RT_PC);
	return RT_REAL(__memset_chk)(to, c, n, room);
}

RT_DEFINE(void, explicit_bzero, (void *to, size_t n))
{
	real_memset(to, 0, n); /* through a pointer, so it cannot be optimised away */
	rt_emit_range(RT_OP_WRITE, to, n, RT_PC);
}

#define COMPARE_MEMORY(name)                                                                                           \
	RT_INTERPOSE(int, name, (const void *a, const void *b, size_t n))                                              \
	{                                                                                                              \
		if (rt_appending()) {                                                                                  \
			uintptr_t pc = RT_PC;                                                                          \
			READS(a, n);                                                                                   \
			READS(b, n);                                                                                   \
		}                                                                                                      \
		return RT_REAL(name)(a, b, n);                                                                         \
	}
COMPARE_MEMORY(memcmp)
COMPARE_MEMORY(bcmp)

/* Bytes from p to q, q included; all if q is NULL. */
static size_t up_to(const void *p, const void *q, size_t all)
{
	return q ? (size_t)((const char *)q - (const char *)p) + 1 : all;
}

RT_INTERPOSE(void *, memchr, (const void *p, int c, size_t n))
{
	void *found = RT_REAL(memchr)(p, c, n);
	rt_emit_range(RT_OP_READ, p, up_to(p, found, n), RT_PC);
	return found;
}

RT_INTERPOSE(void *, memccpy, (void *restrict to, const void *restrict from, int c, size_t n))
{
	copies(to, from, up_to(from, RT_REAL(memchr)(from, c, n), n), RT_PC);
	return RT_REAL(memccpy)(to, from, c, n);
}

RT_INTERPOSE(void *, memrchr, (const void *p, int c, size_t n))
{
	rt_emit_range(RT_OP_READ, p, n, RT_PC);
	return RT_REAL(memrchr)(p, c, n);
}

RT_INTERPOSE(void *, rawmemchr, (const void *p, int c))
{
	void *found = RT_REAL(rawmemchr)(p, c);
	rt_emit_range(RT_OP_READ, p, up_to(p, found, 0), RT_PC);
	return found;
}

RT_INTERPOSE(void *, memmem, (const void *hay, size_t n, const void *needle, size_t m))
{
	if (rt_appending()) {
		uintptr_t pc = RT_PC;
		READS(hay, n);
		READS(needle, m);
	}
	return RT_REAL(memmem)(hay, n, needle, m);
}

/* Strings: lengths. */
RT_INTERPOSE(size_t, strlen, (const char *s))
{
	size_t n = RT_REAL(strlen)(s);
	rt_emit_range(RT_OP_READ, s, n + 1, RT_PC);
	return n;
}

RT_INTERPOSE(size_t, strnlen, (const char *s, size_t max))
{
	size_t n = RT_REAL(strnlen)(s, max);
	rt_emit_range(RT_OP_READ, s, n < max ? n + 1 : max, RT_PC);
	return n;
}

RT_INTERPOSE(size_t, wcslen, (const wchar_t *s))
{
	size_t n = RT_REAL(wcslen)(s);
	rt_emit_range(RT_OP_READ, s, (n + 1) * sizeof(*s), RT_PC);
	return n;
}

/* Bytes of s with its end, without being an event. */
static size_t string_bytes(const char *s)
{
	return RT_REAL(strlen)(s) + 1;
}

/* The same, but at most max. */
static size_t bounded_bytes(const char *s, size_t max)
{
	size_t n = RT_REAL(strnlen)(s, max);
	return n < max ? n + 1 : max;
}

/* Copies. */
RT_INTERPOSE(char *, strcpy, (char *restrict to, const char *restrict from))
{
	if (rt_appending())
		copies(to, from, string_bytes(from), RT_PC);
	return RT_REAL(strcpy)(to, from);
}

RT_INTERPOSE(char *, stpcpy, (char *restrict to, const char *restrict from))
{
	if (rt_appending())
		copies(to, from, string_bytes(from), RT_PC);
	return RT_REAL(stpcpy)(to, from);
}

static void pads(char *to, const char *from, size_t n, uintptr_t pc)
{
	if (rt_appending()) {
		READS(from, bounded_bytes(from, n));
		WRITES(to, n);
	}
}

RT_INTERPOSE(char *, strncpy, (char *restrict to, const char *restrict from, size_t n))
{
	pads(to, from, n, RT_PC);
	return RT_REAL(strncpy)(to, from, n);
}

RT_INTERPOSE(char *, stpncpy, (char *restrict to, const char *restrict from, size_t n))
{
	pads(to, from, n, RT_PC);
	return RT_REAL(stpncpy)(to, from, n);
}

/* Appends what of `from` is a string of at most max bytes. */
static void appends(char *to, const char *from, size_t max, uintptr_t pc)
{
	if (!rt_appending())
		return;
	size_t at = string_bytes(to), more = RT_REAL(strnlen)(from, max);
	READS(to, at);
	READS(from, more < max ? more + 1 : max);
	WRITES(to + at - 1, more + 1);
}

RT_INTERPOSE(char *, strcat, (char *restrict to, const char *restrict from))
{
	appends(to, from, SIZE_MAX, RT_PC);
	return RT_REAL(strcat)(to, from);
}

RT_INTERPOSE(char *, strncat, (char *restrict to, const char *restrict from, size_t n))
{
	appends(to, from, n, RT_PC);
	return RT_REAL(strncat)(to, from, n);
}

RT_INTERPOSE(char *, __strcpy_chk, (char *restrict to, const char *restrict from, size_t room))
{
	if (rt_appending())
		copies(to, from, string_bytes(from), RT_PC);
	return RT_REAL(__strcpy_chk)(to, from, room);
}

RT_INTERPOSE(char *, __stpcpy_chk, (char *restrict to, const char *restrict from, size_t room))
{
	if (rt_appending())
		copies(to, from, string_bytes(from), RT_PC);
	return RT_REAL(__stpcpy_chk)(to, from, room);
}

RT_INTERPOSE(char *, __strncpy_chk, (char *restrict to, const char *restrict from, size_t n, size_t room))
{
	pads(to, from, n, RT_PC);
	return RT_REAL(__strncpy_chk)(to, from, n, room);
}

RT_INTERPOSE(char *, __strcat_chk, (char *restrict to, const char *restrict from, size_t room))
{
	appends(to, from, SIZE_MAX, RT_PC);
	return RT_REAL(__strcat_chk)(to, from, room);
}

RT_INTERPOSE(char *, __strncat_chk, (char *restrict to, const char *restrict from, size_t n, size_t room))
{
	appends(to, from, n, RT_PC);
	return RT_REAL(__strncat_chk)(to, from, n, room);
}

/* The copy is allocated with the caller as its place, so these do not go through libc's own call of malloc. */
static char *duplicate(const char *s, size_t length, size_t seen, uintptr_t pc)
{
	char *copy = rt_malloc_at(length + 1, pc);
	rt_emit_range(RT_OP_READ, s, seen, pc);
	if (copy) {
		rt_emit_range(RT_OP_WRITE, copy, length + 1, pc);
		real_memcpy(copy, s, length);
		copy[length] = 0;
	}
	return copy;
}

RT_DEFINE(char *, strdup, (const char *s))
{
	size_t bytes = string_bytes(s);
	return duplicate(s, bytes - 1, bytes, RT_PC);
}

RT_DEFINE(char *, __strdup, (const char *s))
{
	size_t bytes = string_bytes(s);
	return duplicate(s, bytes - 1, bytes, RT_PC);
}

RT_DEFINE(char *, strndup, (const char *s, size_t max))
{
	size_t length = RT_REAL(strnlen)(s, max);
	return duplicate(s, length, length < max ? length + 1 : max, RT_PC);
}

RT_DEFINE(char *, __strndup, (const char *s, size_t max))
{
	size_t length = RT_REAL(strnlen)(s, max);
	return duplicate(s, length, length < max ? length + 1 : max, RT_PC);
}

/* Comparisons read up to the first difference or the end. */
static int lower(int c)
{
	return c >= 'A' && c <= 'Z' ? c + 'a' - 'A' : c;
}

static void compares(const char *a, const char *b, size_t max, bool fold, uintptr_t pc)
{
	if (!rt_appending())
		return;
	size_t n = 0;
	while (n < max && a[n] && (a[n] == b[n] || (fold && lower(a[n]) == lower(b[n]))))
		n++;
	n += n < max;
	READS(a, n);
	READS(b, n);
}

RT_INTERPOSE(int, strcmp, (const char *a, const char *b))
{
	compares(a, b, SIZE_MAX, false, RT_PC);
	return RT_REAL(strcmp)(a, b);
}

RT_INTERPOSE(int, strncmp, (const char *a, const char *b, size_t n))
{
	compares(a, b, n, false, RT_PC);
	return RT_REAL(strncmp)(a, b, n);
}

RT_INTERPOSE(int, strcasecmp, (const char *a, const char *b))
{
	compares(a, b, SIZE_MAX, true, RT_PC);
	return RT_REAL(strcasecmp)(a, b);
}

RT_INTERPOSE(int, strncasecmp, (const char *a, const char *b, size_t n))
{
	compares(a, b, n, true, RT_PC);
	return RT_REAL(strncasecmp)(a, b, n);
}

RT_INTERPOSE(int, strcasecmp_l, (const char *a, const char *b, locale_t locale))
{
	compares(a, b, SIZE_MAX, true, RT_PC);
	return RT_REAL(strcasecmp_l)(a, b, locale);
}

RT_INTERPOSE(int, strncasecmp_l, (const char *a, const char *b, size_t n, locale_t locale))
{
	compares(a, b, n, true, RT_PC);
	return RT_REAL(strncasecmp_l)(a, b, n, locale);
}

RT_INTERPOSE(int, strcoll, (const char *a, const char *b))
{
	if (rt_appending()) {
		uintptr_t pc = RT_PC;
		READS(a, string_bytes(a));
		READS(b, string_bytes(b));
	}
	return RT_REAL(strcoll)(a, b);
}

/* Searches. */
#define FIND_BYTE(name)                                                                                                \
	RT_INTERPOSE(char *, name, (const char *s, int c))                                                             \
	{                                                                                                              \
		char *found = RT_REAL(name)(s, c);                                                                     \
		if (rt_appending())                                                                                    \
			rt_emit_range(RT_OP_READ, s, found ? up_to(s, found, 0) : string_bytes(s), RT_PC);             \
		return found;                                                                                          \
	}
FIND_BYTE(strchr)
FIND_BYTE(index)
FIND_BYTE(strchrnul)

#define FIND_LAST(name)                                                                                                \
	RT_INTERPOSE(char *, name, (const char *s, int c))                                                             \
	{                                                                                                              \
		if (rt_appending())                                                                                    \
			rt_emit_range(RT_OP_READ, s, string_bytes(s), RT_PC);                                          \
		return RT_REAL(name)(s, c);                                                                            \
	}
FIND_LAST(strrchr)
FIND_LAST(rindex)

#define FIND_STRING(name)                                                                                              \
	RT_INTERPOSE(char *, name, (const char *s, const char *needle))                                                \
	{                                                                                                              \
		char *found = RT_REAL(name)(s, needle);                                                                \
		if (rt_appending()) {                                                                                  \
			uintptr_t pc = RT_PC;                                                                          \
			size_t n = string_bytes(needle);                                                               \
			READS(s, found ? (size_t)(found - s) + n - 1 : string_bytes(s));                               \
			READS(needle, n);                                                                              \
		}                                                                                                      \
		return found;                                                                                          \
	}
FIND_STRING(strstr)
FIND_STRING(strcasestr)

#define SPAN(name)                                                                                                     \
	RT_INTERPOSE(size_t, name, (const char *s, const char *set))                                                   \
	{                                                                                                              \
		size_t n = RT_REAL(name)(s, set);                                                                      \
		if (rt_appending()) {                                                                                  \
			uintptr_t pc = RT_PC;                                                                          \
			READS(s, n + 1);                                                                               \
			READS(set, string_bytes(set));                                                                 \
		}                                                                                                      \
		return n;                                                                                              \
	}
SPAN(strspn)
SPAN(strcspn)

RT_INTERPOSE(char *, strpbrk, (const char *s, const char *set))
{
	char *found = RT_REAL(strpbrk)(s, set);
	if (rt_appending()) {
		uintptr_t pc = RT_PC;
		READS(s, found ? up_to(s, found, 0) : string_bytes(s));
		READS(set, string_bytes(set));
	}
	return found;
}

/* strtok_r ends the token where it stopped reading, if that was not the string's end. */
RT_INTERPOSE(char *, strtok_r, (char *restrict s, const char *restrict set, char **restrict save));
static char *next_token(char *s, const char *set, char **save, uintptr_t pc)
{
	const char *start = s ? s : *save;
	char *token = RT_REAL(strtok_r)(s, set, save);
	if (rt_appending() && start) {
		char *stop = *save;
		READS(set, string_bytes(set));
		bool cut = token && stop > token && stop[-1] == 0;
		READS(start, (size_t)(stop - start) + !cut);
		WRITES(stop - 1, cut);
	}
	return token;
}

RT_DEFINE(char *, strtok_r, (char *restrict s, const char *restrict set, char **restrict save))
{
	return next_token(s, set, save, RT_PC);
}

/* The same with one place for all threads. */
static char *strtok_position;
RT_DEFINE(char *, strtok, (char *restrict s, const char *restrict set))
{
	uintptr_t pc = RT_PC;
	if (!s)
		READS(&strtok_position, sizeof strtok_position);
	WRITES(&strtok_position, sizeof strtok_position);
	return next_token(s, set, &strtok_position, pc);
}

RT_INTERPOSE(char *, strsep, (char **restrict at, const char *restrict set))
{
	const char *start = *at;
	char *token = RT_REAL(strsep)(at, set);
	if (rt_appending() && start) {
		uintptr_t pc = RT_PC;
		READS(set, string_bytes(set));
		READS(start, *at ? (size_t)(*at - start) : string_bytes(start));
		if (*at)
			WRITES(*at - 1, 1);
	}
	return token;
}

/* The comparison function sees copies, so the array is read and written here. */
RT_INTERPOSE(void, qsort, (void *base, size_t n, size_t size, int (*compare)(const void *, const void *)))
{
	copies(base, base, n * size, RT_PC);
	RT_REAL(qsort)(base, n, size, compare);
}

RT_INTERPOSE(void, qsort_r,
             (void *base, size_t n, size_t size, int (*compare)(const void *, const void *, void *), void *arg))
{
	copies(base, base, n * size, RT_PC);
	RT_REAL(qsort_r)(base, n, size, compare, arg);
}

ALIAS(__mempcpy, mempcpy);
ALIAS(__stpcpy, stpcpy);
ALIAS(__stpncpy, stpncpy);
ALIAS(__strtok_r, strtok_r);
ALIAS(__memcmpeq, memcmp);
