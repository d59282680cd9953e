/* Wide strings: what string.c says of narrow ones. */
#include "recorder/intercept/call.h"

#include <wchar.h>

/* Characters of s with its end, but at most max. */
static size_t characters(const wchar_t *s, size_t max)
{
	size_t n = 0;
	while (n < max && s[n])
		n++;
	return n < max ? n + 1 : max;
}
#define IN_W(p, n) IN_N(p, (n) * sizeof(wchar_t))
#define OUT_W(p, n) OUT_N(p, (n) * sizeof(wchar_t))
/* Up to what was found, or all of it. */
static size_t up_to(const wchar_t *s, const wchar_t *found, size_t max)
{
	return found ? (size_t)(found - s) + 1 : characters(s, max);
}

/* Read up to the first difference or the end. */
static wchar_t fold(wchar_t c)
{
	return c >= L'A' && c <= L'Z' ? c - L'A' + L'a' : c;
}
static void compares(const wchar_t *a, const wchar_t *b, size_t max, bool folded, uintptr_t pc)
{
	size_t n = 0;
	if (!rt_appending())
		return;
	while (n < max && a[n] && (a[n] == b[n] || (folded && fold(a[n]) == fold(b[n]))))
		n++;
	n += n < max;
	IN_W(a, n);
	IN_W(b, n);
}
#define COMPARES(name, folded)                                                                                         \
	CALL(int, name, (const wchar_t *a, const wchar_t *b), (a, b), compares(a, b, SIZE_MAX, folded, pc), )
#define COMPARES_N(name, folded)                                                                                       \
	CALL(int, name, (const wchar_t *a, const wchar_t *b, size_t n), (a, b, n), compares(a, b, n, folded, pc), )
COMPARES(wcscmp, false)
COMPARES(wcscasecmp, true)
COMPARES_N(wcsncmp, false)
COMPARES_N(wcsncasecmp, true)
CALL(int, wcscasecmp_l, (const wchar_t *a, const wchar_t *b, locale_t l), (a, b, l),
     compares(a, b, SIZE_MAX, true, pc), )
CALL(int, wcsncasecmp_l, (const wchar_t *a, const wchar_t *b, size_t n, locale_t l), (a, b, n, l),
     compares(a, b, n, true, pc), )
CALL(int, wmemcmp, (const wchar_t *a, const wchar_t *b, size_t n), (a, b, n), IN_W(a, n); IN_W(b, n), )

/* What of a string is copied: with its end, if it is that short; the rest of what wcsncpy fills is written too. */
#define COPIES(name, parameters, arguments, read, written)                                                             \
	CALL(wchar_t *, name, parameters, arguments, const size_t length = characters(from, read); IN_W(from, length); \
	     OUT_W(to, written), )
#define FROM_TO wchar_t *restrict to, const wchar_t *restrict from
COPIES(wcscpy, (FROM_TO), (to, from), SIZE_MAX, length)
COPIES(wcpcpy, (FROM_TO), (to, from), SIZE_MAX, length)
COPIES(wcsncpy, (FROM_TO, size_t n), (to, from, n), n, n)
COPIES(wcpncpy, (FROM_TO, size_t n), (to, from, n), n, n)
static void appends(const wchar_t *to, const wchar_t *from, size_t max, uintptr_t pc)
{
	if (!rt_appending())
		return;
	size_t at = characters(to, SIZE_MAX), read = characters(from, max);
	size_t copied = read && !from[read - 1] ? read - 1 : read;
	IN_W(to, at);
	IN_W(from, read);
	OUT_W(to + at - 1, copied + 1);
}
CALL(wchar_t *, wcscat, (FROM_TO), (to, from), appends(to, from, SIZE_MAX, pc), )
CALL(wchar_t *, wcsncat, (FROM_TO, size_t n), (to, from, n), appends(to, from, n, pc), )
CALL(wchar_t *, wcsdup, (const wchar_t *s), (s), WSTR(s), OUT_WSTR(r))
CALL(wchar_t *, wmemset, (wchar_t * to, wchar_t c, size_t n), (to, c, n), OUT_W(to, n), )
CALL(wchar_t *, wmempcpy, (FROM_TO, size_t n), (to, from, n), IN_W(from, n); OUT_W(to, n), )

CALL(size_t, wcsnlen, (const wchar_t *s, size_t max), (s, max), , IN_W(s, r < max ? r + 1 : max))
CALL(int, wcswidth, (const wchar_t *s, size_t max), (s, max), IN_W(s, characters(s, max)), )
CALL(wchar_t *, wcschr, (const wchar_t *s, wchar_t c), (s, c), , IN_W(s, up_to(s, r, SIZE_MAX)))
CALL(wchar_t *, wcschrnul, (const wchar_t *s, wchar_t c), (s, c), , IN_W(s, up_to(s, r, SIZE_MAX)))
CALL(wchar_t *, wmemchr, (const wchar_t *s, wchar_t c, size_t n), (s, c, n), , IN_W(s, r ? up_to(s, r, n) : n))
CALL(wchar_t *, wcsrchr, (const wchar_t *s, wchar_t c), (s, c), WSTR(s), )
CALL(size_t, wcsspn, (const wchar_t *s, const wchar_t *set), (s, set), WSTR(set), IN_W(s, r + 1))
CALL(size_t, wcscspn, (const wchar_t *s, const wchar_t *set), (s, set), WSTR(set), IN_W(s, r + 1))
CALL(wchar_t *, wcspbrk, (const wchar_t *s, const wchar_t *set), (s, set), WSTR(set), IN_W(s, up_to(s, r, SIZE_MAX)))
CALL(wchar_t *, wcsstr, (const wchar_t *s, const wchar_t *what), (s, what), WSTR(what),
     IN_W(s, r ? (size_t)(r - s) + characters(what, SIZE_MAX) - 1 : characters(s, SIZE_MAX)))
/* A token's end is read and written, unless it is the string's. */
static const wchar_t *token_end(const wchar_t *token, const wchar_t *next)
{
	return next ? next : token + characters(token, SIZE_MAX);
}
CALL(wchar_t *, wcstok, (wchar_t *restrict s, const wchar_t *restrict set, wchar_t **restrict save), (s, set, save),
     const wchar_t *start = s ? s : *save;
     if (!s) IN(save); WSTR(set), OUT(save);
     WHEN(start && r, IN_W(start, (size_t)(token_end(r, *save) - start)); OUT_W(*save ? *save - 1 : NULL, 1)))
