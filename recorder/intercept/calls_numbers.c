/* Numbers as text, and their representation: results that go through pointers, the environment of floating point. */
#include "recorder/intercept/call.h"

#include <fenv.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <wchar.h>

#define REPRESENTATION(type, suffix)                                                                                   \
	CALL(int, canonicalize##suffix, (type * to, const type *from), (to, from), IN(from), if (r == 0) OUT(to))      \
	CALL(int, setpayload##suffix, (type * to, type payload), (to, payload), , OUT(to))                             \
	CALL(int, setpayloadsig##suffix, (type * to, type payload), (to, payload), , OUT(to))                          \
	CALL(type, getpayload##suffix, (const type *from), (from), IN(from), )
REPRESENTATION(double, )
REPRESENTATION(float, f)
REPRESENTATION(long double, l)
SAME(canonicalize, );
SAME(setpayload, );
SAME(setpayloadsig, );
SAME(getpayload, );

#define AS_TEXT(type, name)                                                                                            \
	CALL(int, name, (char *to, size_t size, const char *format, type x), (to, size, format, x), STR(format),       \
	     if (r >= 0 && size) OUT_N(to, (size_t)r < size ? (size_t)r + 1 : size))
AS_TEXT(double, strfromd)
AS_TEXT(float, strfromf)
AS_TEXT(long double, strfroml)
ALIAS(strfromf32, strfromf);
ALIAS(strfromf64, strfromd);
ALIAS(strfromf32x, strfromd);
ALIAS(strfromf64x, strfroml);

/* Digits: in static memory, or the caller's. */
#define DIGITS int digits, int *restrict point, int *restrict sign
CALL(char *, qecvt, (long double x, DIGITS), (x, digits, point, sign), , OUT(point); OUT(sign); RESULT_STR)
CALL(char *, qfcvt, (long double x, DIGITS), (x, digits, point, sign), , OUT(point); OUT(sign); RESULT_STR)
CALL(char *, qgcvt, (long double x, int digits, char *to), (x, digits, to), , OUT_STR(to))
#define DIGITS_OF(type, name)                                                                                          \
	CALL(int, name, (type x, DIGITS, char *restrict to, size_t size), (x, digits, point, sign, to, size), ,        \
	     WHEN(r == 0, OUT(point); OUT(sign); OUT_STR(to)))
DIGITS_OF(double, ecvt_r)
DIGITS_OF(double, fcvt_r)
DIGITS_OF(long double, qecvt_r)
DIGITS_OF(long double, qfcvt_r)

/* Numbers as text are read up to the first character that is none. */
#define READ(s, stop) IN_N(s, (size_t)((stop) - (s) + 1) * sizeof *(s))
#define NUMBER(type, name, character, parameters, arguments)                                                           \
	CALL(type, name, parameters, arguments, character *stop, if (end) *end = stop; OUT(end); READ(s, stop))
#define IN_BASE(type, name, character)                                                                                 \
	NUMBER(type, name, character, (const character *restrict s, character **restrict end, int base),               \
	       (s, &stop, base))
#define INTEGER(type, name) IN_BASE(type, name, char)
/* As programs of C23 call them. */
#define INTEGER_C23(type, name)                                                                                        \
	RT_DEFINE(type, name, (const char *restrict s, char **restrict end, int base));                                \
	INTEGER(type, name)
#define FLOATING(type, name) NUMBER(type, name, char, (const char *restrict s, char **restrict end), (s, &stop))
INTEGER(long, strtol)
INTEGER(unsigned long, strtoul)
INTEGER(long long, strtoll)
INTEGER(unsigned long long, strtoull)
INTEGER_C23(long, __isoc23_strtol)
INTEGER_C23(unsigned long, __isoc23_strtoul)
INTEGER_C23(long long, __isoc23_strtoll)
INTEGER_C23(unsigned long long, __isoc23_strtoull)
FLOATING(double, strtod)
FLOATING(float, strtof)
FLOATING(long double, strtold)
ALIAS(strtof32, strtof);
ALIAS(strtof64, strtod);
ALIAS(strtof32x, strtod);
ALIAS(strtof64x, strtold);
#define ATO(type, name, convert)                                                                                       \
	RT_DEFINE(type, name, (const char *s))                                                                         \
	{                                                                                                              \
		const uintptr_t pc = RT_PC;                                                                            \
		char *stop;                                                                                            \
		type n = (type)convert;                                                                                \
		READ(s, stop);                                                                                         \
		return n;                                                                                              \
	}
ATO(int, atoi, RT_REAL(strtol)(s, &stop, 10))
ATO(long, atol, RT_REAL(strtol)(s, &stop, 10))
ATO(long long, atoll, RT_REAL(strtoll)(s, &stop, 10))
ATO(double, atof, RT_REAL(strtod)(s, &stop))

#define LARGEST(prefix, character)                                                                                     \
	IN_BASE(intmax_t, prefix##imax, character)                                                                     \
	IN_BASE(uintmax_t, prefix##umax, character)                                                                    \
	IN_BASE(long long, prefix##q, character)                                                                       \
	IN_BASE(unsigned long long, prefix##uq, character)
LARGEST(strto, char)
LARGEST(wcsto, wchar_t)
IN_BASE(long, wcstol, wchar_t)
IN_BASE(unsigned long, wcstoul, wchar_t)
IN_BASE(long long, wcstoll, wchar_t)
IN_BASE(unsigned long long, wcstoull, wchar_t)
#define WIDE(type, name) NUMBER(type, name, wchar_t, (const wchar_t *restrict s, wchar_t **restrict end), (s, &stop))
WIDE(double, wcstod)
WIDE(float, wcstof)
WIDE(long double, wcstold)

/* By the locale */
#define BY_LOCALE(prefix, character)                                                                                   \
	LOCAL_INTEGER(long, prefix##l_l, character)                                                                    \
	LOCAL_INTEGER(unsigned long, prefix##ul_l, character)                                                          \
	LOCAL_INTEGER(long long, prefix##ll_l, character)                                                              \
	LOCAL_INTEGER(unsigned long long, prefix##ull_l, character)                                                    \
	LOCAL(double, prefix##d_l, character)                                                                          \
	LOCAL(float, prefix##f_l, character)                                                                           \
	LOCAL(long double, prefix##ld_l, character)
#define LOCAL_INTEGER(type, name, character)                                                                           \
	NUMBER(type, name, character, (const character *restrict s, character **restrict end, int base, locale_t l),   \
	       (s, &stop, base, l))
#define LOCAL(type, name, character)                                                                                   \
	NUMBER(type, name, character, (const character *restrict s, character **restrict end, locale_t l),             \
	       (s, &stop, l))
BY_LOCALE(strto, char)
BY_LOCALE(wcsto, wchar_t)

/* The environment of floating point. The default one is no address. */
#define GIVEN(p) WHEN((intptr_t)(p) != -1, IN(p))
CALL(int, fegetenv, (fenv_t * to), (to), , OUT(to))
CALL(int, feholdexcept, (fenv_t * to), (to), , OUT(to))
CALL(int, fesetenv, (const fenv_t *from), (from), GIVEN(from), )
CALL(int, feupdateenv, (const fenv_t *from), (from), GIVEN(from), )
CALL(int, fegetmode, (femode_t * to), (to), , OUT(to))
CALL(int, fesetmode, (const femode_t *from), (from), GIVEN(from), )
CALL(int, fegetexceptflag, (fexcept_t * to, int exceptions), (to, exceptions), , OUT(to))
CALL(int, fesetexceptflag, (const fexcept_t *from, int exceptions), (from, exceptions), IN(from), )
CALL(int, fetestexceptflag, (const fexcept_t *from, int exceptions), (from, exceptions), IN(from), )
