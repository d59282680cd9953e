/*
 * Text: conversions between narrow and wide, numbers, patterns, locales. Strings themselves are in string.c, formats in
 * printf.c. mbtowc's kind keep the state of a conversion that the caller does not give them.
 */
#include "recorder/intercept/call.h"
#include "recorder/runtime/text.h"

#include <fnmatch.h>
#include <glob.h>
#include <iconv.h>
#include <libgen.h>
#include <libintl.h>
#include <limits.h>
#include <locale.h>
#include <obstack.h>
#include <printf.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <uchar.h>
#include <unistd.h>
#include <wchar.h>
#include <wordexp.h>

#undef basename
#undef gettext
#undef dgettext
#undef dcgettext
#undef ngettext
#undef dngettext
#undef dcngettext
#undef textdomain
#undef bindtextdomain

/* Between narrow and wide characters */
static char mbtowc_state, wctomb_state, mblen_state, mbrlen_state, mbrtowc_state, wcrtomb_state, mbsrtowcs_state,
    wcsrtombs_state;
#define STATE(object) (void)(state ? INOUT(state) : CHANGES(object))
/* Bytes that were read of at most n, from what the function returned. */
static size_t bytes_read(size_t r, size_t n)
{
	return r == (size_t)-2 ? n : r == (size_t)-1 || r == 0 ? n > 0 : r;
}

CALL(int, mblen, (const char *s, size_t n), (s, n), CHANGES(mblen_state), IN_N(s, bytes_read((size_t)r, n)))
CALL(int, mbtowc, (wchar_t *restrict to, const char *restrict s, size_t n), (to, s, n), CHANGES(mbtowc_state),
     IN_N(s, bytes_read((size_t)r, n));
     if (s && r >= 0) OUT(to))
CALL(int, wctomb, (char *to, wchar_t c), (to, c), CHANGES(wctomb_state), if (r > 0) OUT_N(to, r))
CALL(size_t, mbrlen, (const char *restrict s, size_t n, mbstate_t *restrict state), (s, n, state), STATE(mbrlen_state),
     IN_N(s, bytes_read(r, n)))
ALIAS(__mbrlen, mbrlen);
CALL(size_t, mbrtowc, (wchar_t *restrict to, const char *restrict s, size_t n, mbstate_t *restrict state),
     (to, s, n, state), STATE(mbrtowc_state), IN_N(s, bytes_read(r, n));
     if (s && r <= n) OUT(to))
CALL(size_t, wcrtomb, (char *restrict to, wchar_t c, mbstate_t *restrict state), (to, c, state), STATE(wcrtomb_state),
     if (r != (size_t)-1) OUT_N(to, r))
CALL(size_t, mbrtoc16, (char16_t *restrict to, const char *restrict s, size_t n, mbstate_t *restrict state),
     (to, s, n, state), INOUT(state), IN_N(s, r == (size_t)-3 ? 0 : bytes_read(r, n));
     if (s && (r <= n || r == (size_t)-3)) OUT(to))
CALL(size_t, mbrtoc32, (char32_t *restrict to, const char *restrict s, size_t n, mbstate_t *restrict state),
     (to, s, n, state), INOUT(state), IN_N(s, bytes_read(r, n));
     if (s && r <= n) OUT(to))
CALL(size_t, c16rtomb, (char *restrict to, char16_t c, mbstate_t *restrict state), (to, c, state), INOUT(state),
     if (r != (size_t)-1) OUT_N(to, r))
CALL(size_t, c32rtomb, (char *restrict to, char32_t c, mbstate_t *restrict state), (to, c, state), INOUT(state),
     if (r != (size_t)-1) OUT_N(to, r))
CALL(int, mbsinit, (const mbstate_t *state), (state), IN(state), )

/* Of strings: how much was read is known where the end was reached. */
#define WHOLE(n) (!to || r < (n))
CALL(size_t, mbstowcs, (wchar_t *restrict to, const char *restrict s, size_t n), (to, s, n), ,
     WHEN(r != (size_t)-1, WHEN(WHOLE(n), STR(s)) WHEN(!WHOLE(n), IN_N(s, r)) OUT_N(to, (r + (r < n)) * sizeof *to)))
CALL(size_t, wcstombs, (char *restrict to, const wchar_t *restrict s, size_t n), (to, s, n), ,
     WHEN(r != (size_t)-1,
          WHEN(WHOLE(n), WSTR(s)) WHEN(!WHOLE(n), IN_N(s, r / MB_LEN_MAX * sizeof *s)) OUT_N(to, r + (r < n))))
/* A pointer to what is read, which is moved unless the result is not wanted: to NULL at the end. */
#define CONVERTS(object)                                                                                               \
	IN(s);                                                                                                         \
	if (to)                                                                                                        \
		STATE(object);                                                                                         \
	else                                                                                                           \
		IN(state);                                                                                             \
	const __typeof__(**s) *from = *s
#define CONVERTED(to, n)                                                                                               \
	WHEN(to &&*s &&r != (size_t)-1, IN_N(from, (size_t)(*s - from) * sizeof *from))                                \
	WHEN(to &&r != (size_t)-1, OUT_N(to, (r + (!*s && r < n)) * sizeof *to); OUT(s))
CALL(size_t, mbsrtowcs, (wchar_t *restrict to, const char **restrict s, size_t n, mbstate_t *restrict state),
     (to, s, n, state), CONVERTS(mbsrtowcs_state), CONVERTED(to, n) WHEN(r != (size_t)-1 && (!to || !*s), STR(from)))
CALL(size_t, wcsrtombs, (char *restrict to, const wchar_t **restrict s, size_t n, mbstate_t *restrict state),
     (to, s, n, state), CONVERTS(wcsrtombs_state), CONVERTED(to, n) WHEN(r != (size_t)-1 && (!to || !*s), WSTR(from)))
CALL(size_t, mbsnrtowcs,
     (wchar_t *restrict to, const char **restrict s, size_t max, size_t n, mbstate_t *restrict state),
     (to, s, max, n, state), CONVERTS(mbsrtowcs_state), CONVERTED(to, n))
CALL(size_t, wcsnrtombs,
     (char *restrict to, const wchar_t **restrict s, size_t max, size_t n, mbstate_t *restrict state),
     (to, s, max, n, state), CONVERTS(wcsrtombs_state), CONVERTED(to, n))

/* A conversion has a state that its user must lock. */
#define NO_CONVERSION ((iconv_t)-1)
CALL(iconv_t, iconv_open, (const char *to, const char *from), (to, from), STR(to); STR(from), )
#define MOVED(at, left, from, access) WHEN(from, access(from, *at - from); OUT(at); OUT(left))
CALL(int, iconv_close, (iconv_t conversion), (conversion), WHEN(conversion != NO_CONVERSION, OUT_N(conversion, 1)), )
CALL(size_t, iconv,
     (iconv_t conversion, char **restrict in, size_t *restrict in_left, char **restrict out, size_t *restrict out_left),
     (conversion, in, in_left, out, out_left), const char *from = in ? *in : NULL;
     const char *to = out ? *out : NULL; WHEN(conversion != NO_CONVERSION, OUT_N(conversion, 1)) IN(in); IN(in_left);
     IN(out); IN(out_left), MOVED(in, in_left, from, IN_N) MOVED(out, out_left, to, OUT_N))

/* Orders of strings, by the locale */
CALL(size_t, strxfrm, (char *restrict to, const char *restrict s, size_t n), (to, s, n), STR(s),
     if (r < n) OUT_N(to, r + 1))
CALL(size_t, strxfrm_l, (char *restrict to, const char *restrict s, size_t n, locale_t l), (to, s, n, l), STR(s),
     if (r < n) OUT_N(to, r + 1))
CALL(size_t, wcsxfrm, (wchar_t *restrict to, const wchar_t *restrict s, size_t n), (to, s, n), WSTR(s),
     if (r < n) OUT_N(to, (r + 1) * sizeof *to))
CALL(size_t, wcsxfrm_l, (wchar_t *restrict to, const wchar_t *restrict s, size_t n, locale_t l), (to, s, n, l), WSTR(s),
     if (r < n) OUT_N(to, (r + 1) * sizeof *to))
ALIAS(__strxfrm_l, strxfrm_l);
ALIAS(__wcsxfrm_l, wcsxfrm_l);
CALL(int, strcoll_l, (const char *a, const char *b, locale_t l), (a, b, l), STR(a); STR(b), )
CALL(int, wcscoll, (const wchar_t *a, const wchar_t *b), (a, b), WSTR(a); WSTR(b), )
CALL(int, wcscoll_l, (const wchar_t *a, const wchar_t *b, locale_t l), (a, b, l), WSTR(a); WSTR(b), )
CALL(int, strverscmp, (const char *a, const char *b), (a, b), STR(a); STR(b), )
CALL(size_t, wcsftime, (wchar_t *restrict to, size_t n, const wchar_t *restrict format, const struct tm *restrict from),
     (to, n, format, from), WSTR(format);
     IN(from), if (r) OUT_N(to, (r + 1) * sizeof *to))
CALL(size_t, wcsftime_l,
     (wchar_t *restrict to, size_t n, const wchar_t *restrict format, const struct tm *restrict from, locale_t l),
     (to, n, format, from, l), WSTR(format);
     IN(from), if (r) OUT_N(to, (r + 1) * sizeof *to))

/* Locales and messages. What strerror and strsignal return is constant or each thread's own. */
/* GNU's strerror_r takes the caller's memory only for what has no text of its own. */
CALL(char *, strerror_r, (int error, char *to, size_t size), (error, to, size), , if (r == to && size) OUT_STR(to))
CALL(int, __xpg_strerror_r, (int error, char *to, size_t size), (error, to, size), , if (size) OUT_STR(to))
CALL(char *, setlocale, (int category, const char *name), (category, name), STR(name), )
CALL(struct lconv *, localeconv, (void), (), , RESULT)
CALL(locale_t, newlocale, (int mask, const char *name, locale_t base), (mask, name, base), STR(name), )
CALL(char *, gettext, (const char *s), (s), STR(s), )
CALL(char *, dgettext, (const char *domain, const char *s), (domain, s), STR(domain); STR(s), )
CALL(char *, dcgettext, (const char *domain, const char *s, int category), (domain, s, category), STR(domain); STR(s), )
ALIAS(__dgettext, dgettext);
ALIAS(__dcgettext, dcgettext);
CALL(char *, ngettext, (const char *one, const char *many, unsigned long n), (one, many, n), STR(one); STR(many), )
CALL(char *, dngettext, (const char *domain, const char *one, const char *many, unsigned long n),
     (domain, one, many, n), STR(domain);
     STR(one); STR(many), )
CALL(char *, dcngettext, (const char *domain, const char *one, const char *many, unsigned long n, int category),
     (domain, one, many, n, category), STR(domain);
     STR(one); STR(many), )
CALL(char *, bind_textdomain_codeset, (const char *domain, const char *codes), (domain, codes), STR(domain);
     STR(codes), )
CALL(char *, textdomain, (const char *domain), (domain), STR(domain), )
CALL(char *, bindtextdomain, (const char *domain, const char *folder), (domain, folder), STR(domain); STR(folder), )

/* Patterns */
CALL(int, regcomp, (regex_t * regex, const char *pattern, int flags), (regex, pattern, flags), STR(pattern), OUT(regex))
CALL(int, regexec,
     (const regex_t *restrict regex, const char *restrict s, size_t n, regmatch_t matches[restrict n], int flags),
     (regex, s, n, matches, flags), IN(regex);
     if (!(flags & REG_STARTEND)) STR(s), if (r == 0 && !(flags & REG_NOSUB)) OUT_N(matches, n * sizeof *matches))
CALL(size_t, regerror, (int error, const regex_t *restrict regex, char *restrict to, size_t size),
     (error, regex, to, size), , if (size) OUT_STR(to))
CALL_VOID(regfree, (regex_t * regex), (regex), INOUT(regex), )
CALL(int, fnmatch, (const char *pattern, const char *s, int flags), (pattern, s, flags), STR(pattern); STR(s), )
CALL(int, glob, (const char *restrict pattern, int flags, int (*failed)(const char *, int), glob_t *restrict paths),
     (pattern, flags, failed, paths), STR(pattern), OUT(paths))
CALL(int, glob64, (const char *restrict pattern, int flags, int (*failed)(const char *, int), glob64_t *restrict paths),
     (pattern, flags, failed, paths), STR(pattern), OUT(paths))
CALL_VOID(globfree, (glob_t * paths), (paths), INOUT(paths), )
CALL_VOID(globfree64, (glob64_t * paths), (paths), INOUT(paths), )
CALL(int, glob_pattern_p, (const char *pattern, int quote), (pattern, quote), STR(pattern), )
CALL(int, rpmatch, (const char *s), (s), STR(s), )
CALL(size_t, parse_printf_format, (const char *restrict format, size_t n, int *restrict types), (format, n, types),
     STR(format), OUT_N(types, (r < n ? r : n) * sizeof *types))
#define REGEX struct re_pattern_buffer *regex
#define FOUND(is, registers)                                                                                           \
	WHEN(is, OUT(registers); if (registers) OUT_N((registers)->start, (registers)->num_regs * sizeof(regoff_t)))
CALL(const char *, re_compile_pattern, (const char *pattern, size_t size, REGEX), (pattern, size, regex),
     IN_N(pattern, size);
     INOUT(regex), )
CALL(int, re_compile_fastmap, (REGEX), (regex), INOUT(regex), )
CALL(regoff_t, re_match, (REGEX, const char *s, regoff_t size, regoff_t start, struct re_registers *registers),
     (regex, s, size, start, registers), IN(regex);
     IN_N(s, size), FOUND(r >= 0, registers))
CALL(regoff_t, re_search,
     (REGEX, const char *s, regoff_t size, regoff_t start, regoff_t range, struct re_registers *registers),
     (regex, s, size, start, range, registers), IN(regex);
     IN_N(s, size), FOUND(r >= 0, registers))
/* A command in it is executed by another process, which may outlive the call. */
CALL(int, wordexp, (const char *restrict s, wordexp_t *restrict to, int flags), (s, to, flags), STR(s); USES(environ);
     WHEN(!(flags & WRDE_NOCMD), rt_call_at(RT_AT_FORK)), if (r == 0 || r == WRDE_NOSPACE) OUT(to))
CALL_VOID(wordfree, (wordexp_t * words), (words), INOUT(words), )

/* Paths: dirname cuts what it is given. */
CALL(char *, dirname, (char *path), (path), STR(path), if (r == path) OUT_N(path + rt_length(path), 1))
CALL(char *, __xpg_basename, (char *path), (path), STR(path), )
CALL(char *, basename, (const char *path), (path), STR(path), )

CALL(int, _obstack_begin, (struct obstack * o, int size, int alignment, void *(*get)(long), void (*put)(void *)),
     (o, size, alignment, get, put), , OUT(o))
CALL(int, _obstack_begin_1,
     (struct obstack * o, int size, int alignment, void *(*get)(void *, long), void (*put)(void *, void *), void *arg),
     (o, size, alignment, get, put, arg), , OUT(o))
CALL_VOID(_obstack_newchunk, (struct obstack * o, int n), (o, n), INOUT(o), )
CALL_VOID(swab, (const void *restrict from, void *restrict to, ssize_t n), (from, to, n), ,
          if (n > 1)(IN_N(from, n & ~1), OUT_N(to, n & ~1)))
CALL(void *, memfrob, (void *p, size_t n), (p, n), IN_N(p, n); OUT_N(p, n), )
CALL(char *, strfry, (char *s), (s), STR(s); OUT_STR(s), )
