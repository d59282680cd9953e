/* String and memory functions: exactly the bytes that they read and write. All are called through pointers, so that the
 * compiler does not put something else in their place. */
#include "named.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char hello[] = "hello world", other[] = "help", set[] = "ow";
static char a[64], b[64];
static int count;
static volatile size_t n;
static void *volatile found;

#define CALL(function) ((__typeof__(&function))opaque((void *)&function))
static __attribute__((noinline, noclone, no_sanitize("thread"))) void *opaque(void *f)
{
	__asm__ volatile("" : "+r"(f));
	return f;
}

static __attribute__((no_sanitize("thread"))) int by_value(const void *x, const void *y)
{
	return *(const char *)x - *(const char *)y;
}

static __attribute__((no_sanitize("thread"))) void call_all(void)
{
	char *save = NULL, *at = a;

	// expect main: read hello=12, write a=12, read hello=5, write b=5, write b=20
	CALL(memcpy)(a, hello, 12), CALL(memmove)(b, hello, 5), CALL(memset)(b, 0, 20);
	// expect main: read hello=3, read other=3, read hello=5, read hello=12
	CALL(memcmp)(hello, other, 3), CALL(memchr)(hello, 'o', 12), CALL(memchr)(hello, 'z', 12);
	// expect main: read hello=5, write a=5, read hello=7, write b=7
	found = CALL(memccpy)(a, hello, 'o', 12), found = CALL(memccpy)(b, hello, 'z', 7);
	// expect main: read hello=12, read hello=4, read hello=12
	n = CALL(strlen)(hello), CALL(strnlen)(hello, 4), CALL(strnlen)(hello, 100);
	// expect main: read hello=12, write a=12, read other=5, write a=8, read hello=3, write b=3
	CALL(strcpy)(a, hello), CALL(strncpy)(a, other, 8), CALL(strncpy)(b, hello, 3);
	// expect main: read a=5, read other=5, write a+4=5, read a=9, read hello=2, write a+8=3
	CALL(strcat)(a, other), CALL(strncat)(a, hello, 2);
	// expect main: read hello=4, read other=4, read hello=3, read other=3, read hello=4, read other=4
	n = (size_t)(CALL(strcmp)(hello, other) + CALL(strncmp)(hello, other, 3) + CALL(strcasecmp)(hello, other));
	// expect main: read hello=5, read hello=12, read hello=12
	found = CALL(strchr)(hello, 'o'), found = CALL(strchr)(hello, 'z'), found = CALL(strrchr)(hello, 'o');
	// expect main: read hello=12, read other=5, read hello=5, read set=3
	found = CALL(strstr)(hello, other), found = CALL(strpbrk)(hello, set);
	// expect main: read hello=5, read set=3, read hello=1, read set=3
	n = CALL(strcspn)(hello, set), n = CALL(strspn)(hello, set);

	// expect main: read hello=12, write a=12, read set=3, read a=5, write a+4=1
	CALL(memcpy)(a, hello, 12);
	MUST(CALL(strtok_r)(a, set, &save) == a && save == a + 5);
	// expect main: read hello=12, write a=12, read set=3, read a=5, write a+4=1
	CALL(memcpy)(a, hello, 12);
	MUST(CALL(strsep)(&at, set) == a && at == a + 5);

	// expect main: read a=3, read a=3, write b=6, read b=6, write b=6
	a[0] = '4', a[1] = '2', a[2] = ' ';
	MUST(CALL(atoi)(a) == 42 && CALL(strtol)(a, NULL, 10) == 42);
	CALL(snprintf)(b, 64, "%s-%d", "bca", 1);
	CALL(qsort)(b, 6, 1, by_value);

	// expect main: read hello=12, read other=2, write b=43, write a=3, write count=4, write b=1
	CALL(snprintf)(b, 64, "%5d%% %s %.2s %-*d %Lf %hhd %zu %ls", 1, hello, other, 3, 7, 1.0L, 'x', (size_t)2, L"w");
	MUST(CALL(sscanf)("12 abc", "%*d %2s%n%c", a, &count, b) == 2 && count == 5 && *b == 'c');

	// expect main: read hello=12, read hello=3
	free(CALL(strdup)(hello));
	free(CALL(strndup)(hello, 3));
}

int main(void)
{
	NAME(hello), NAME(other), NAME(set), NAME(a), NAME(b), NAME(count);
	NAME_AT(a + 4, "a+4"), NAME_AT(a + 8, "a+8");
	call_all();
	return 0;
}
