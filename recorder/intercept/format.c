/*
 * Reads formats as C11 7.21.6 and POSIX say. What is not known (numbered arguments, an extension) ends the reading:
 * then the rest of the accesses is not recorded.
 */
#include "recorder/intercept/format.h"

#include "recorder/runtime/recorder.h"

#include <stddef.h>
#include <wchar.h>

enum length { INT, CHAR, SHORT, LONG, LONG_LONG, INTMAX, SIZE, PTRDIFF, LONG_DOUBLE };

static enum length read_length(const char **at)
{
	const char *f = *at;
	enum length l = INT;
	switch (*f) {
	case 'h':
		l = f[1] == 'h' ? CHAR : SHORT;
		break;
	case 'l':
		l = f[1] == 'l' ? LONG_LONG : LONG;
		break;
	case 'q':
		l = LONG_LONG;
		break;
	case 'j':
		l = INTMAX;
		break;
	case 'z':
	case 'Z':
		l = SIZE;
		break;
	case 't':
		l = PTRDIFF;
		break;
	case 'L':
		l = LONG_DOUBLE;
		break;
	default:
		return l;
	}
	*at = f + (l == CHAR || (l == LONG_LONG && *f == 'l') ? 2 : 1);
	return l;
}

static size_t integer_size(enum length l)
{
	static const size_t sizes[] = {
	    [INT] = sizeof(int),     [CHAR] = sizeof(char),         [SHORT] = sizeof(short),
	    [LONG] = sizeof(long),   [INTMAX] = sizeof(intmax_t),   [LONG_LONG] = sizeof(long long),
	    [SIZE] = sizeof(size_t), [PTRDIFF] = sizeof(ptrdiff_t), [LONG_DOUBLE] = sizeof(long long),
	};
	return sizes[l];
}

static bool is_one_of(char c, const char *set)
{
	for (; *set; set++)
		if (*set == c)
			return c != 0;
	return false;
}

/* A decimal number; -1: there is none. */
static long read_number(const char **at)
{
	long n = -1;
	for (; **at >= '0' && **at <= '9'; ++*at)
		n = (n < 0 ? 0 : n < 100000000 ? n * 10 : n) + (**at - '0');
	return n;
}

static void read_string(const char *s, long limit, uintptr_t pc)
{
	size_t n = 0, max = limit < 0 ? SIZE_MAX : (size_t)limit;
	while (s && n < max && s[n])
		n++;
	if (s)
		rt_emit_range(RT_OP_READ, s, n < max ? n + 1 : n, pc);
}

static void read_wide(const wchar_t *s, bool limited, uintptr_t pc)
{
	size_t n = 0;
	if (!s || limited) /* the limit counts bytes of the result */
		return;
	while (s[n])
		n++;
	rt_emit_range(RT_OP_READ, s, (n + 1) * sizeof(*s), pc);
}

static void skip_integer(va_list *args, enum length l)
{
	if (integer_size(l) == sizeof(int) || integer_size(l) < sizeof(int))
		(void)va_arg(*args, int);
	else
		(void)va_arg(*args, long long);
}

static void skip_float(va_list *args, enum length l)
{
	if (l == LONG_DOUBLE)
		(void)va_arg(*args, long double);
	else
		(void)va_arg(*args, double);
}

/* One conversion's argument; false: not known. */
static bool printf_argument(char conversion, enum length l, long precision, va_list *args, uintptr_t pc)
{
	switch (conversion) {
	case 's':
		if (l == LONG)
			read_wide(va_arg(*args, const wchar_t *), precision >= 0, pc);
		else
			read_string(va_arg(*args, const char *), precision, pc);
		return true;
	case 'S':
		read_wide(va_arg(*args, const wchar_t *), precision >= 0, pc);
		return true;
	case 'n':
		rt_emit_range(RT_OP_WRITE, va_arg(*args, void *), integer_size(l), pc);
		return true;
	case 'p':
		(void)va_arg(*args, void *);
		return true;
	case 'c':
	case 'C':
		(void)va_arg(*args, int); /* wint_t is as wide */
		return true;
	case 'm':
	case '%':
		return true;
	default:
		if (is_one_of(conversion, "dioxXu"))
			skip_integer(args, l);
		else if (is_one_of(conversion, "eEfFgGaA"))
			skip_float(args, l);
		else
			return false;
		return true;
	}
}

void rt_printf_accesses(const char *f, va_list arguments, uintptr_t pc)
{
	va_list args;
	va_copy(args, arguments);
	while (*f) {
		if (*f++ != '%')
			continue;
		while (is_one_of(*f, "-+ #0'I"))
			f++;
		if (*f == '*')
			(void)va_arg(args, int), f++;
		else
			read_number(&f);
		long precision = -1;
		if (*f == '.') {
			f++;
			if (*f == '*')
				precision = va_arg(args, int), f++;
			else
				precision = read_number(&f), precision = precision < 0 ? 0 : precision;
		}
		enum length l = read_length(&f);
		if (!*f || !printf_argument(*f, l, precision, &args, pc))
			break;
		f++;
	}
	va_end(args);
}

/* The set of %[...]: moves behind its end; false if it has none. */
static bool skip_set(const char **at)
{
	const char *f = *at;
	if (*f == '^')
		f++;
	if (*f == ']')
		f++;
	while (*f && *f != ']')
		f++;
	*at = f;
	return *f == ']';
}

/* Size of what was written through p; 0: not known. */
static size_t scanned_size(char conversion, enum length l, long width, bool allocated, const void *p)
{
	size_t n = 0;
	if (allocated)
		return sizeof(char *);
	switch (conversion) {
	case 's':
	case '[':
		if (l == LONG) {
			while (((const wchar_t *)p)[n])
				n++;
			return (n + 1) * sizeof(wchar_t);
		}
		while (((const char *)p)[n])
			n++;
		return n + 1;
	case 'c':
		return (size_t)(width < 0 ? 1 : width) * (l == LONG ? sizeof(wchar_t) : 1);
	case 'p':
		return sizeof(void *);
	case 'n':
		return integer_size(l);
	default:
		if (is_one_of(conversion, "dioxXu"))
			return integer_size(l);
		if (is_one_of(conversion, "eEfFgGaA"))
			return l == LONG_DOUBLE ? sizeof(long double) : l == LONG ? sizeof(double) : sizeof(float);
		return 0;
	}
}

void rt_scanf_accesses(const char *f, va_list arguments, int n, uintptr_t pc)
{
	va_list args;
	va_copy(args, arguments);
	while (*f && n > 0) {
		if (*f++ != '%')
			continue;
		if (*f == '%') {
			f++;
			continue;
		}
		bool assigned = *f != '*';
		f += !assigned;
		while (*f == '\'')
			f++;
		long width = read_number(&f);
		bool allocated = *f == 'm';
		f += allocated;
		enum length l = read_length(&f);
		char conversion = *f;
		if (!conversion)
			break;
		f++;
		if (conversion == '[' && !skip_set(&f))
			break;
		if (!assigned)
			continue;
		const void *p = va_arg(args, const void *);
		size_t size = scanned_size(conversion, l, width, allocated, p);
		if (!size)
			break;
		rt_emit_range(RT_OP_WRITE, p, size, pc);
		n -= conversion != 'n';
	}
	va_end(args);
}
