/* See text.h. */
#include "recorder/runtime/text.h"

#include "recorder/runtime/recorder.h"
#include "recorder/runtime/syscall.h"

#include <fcntl.h>

size_t rt_length(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return n;
}

bool rt_same(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

const char *rt_file_name(const char *path)
{
	const char *name = path;

	for (; *path; path++)
		if (*path == '/')
			name = path + 1;
	return name;
}

char *rt_append_text(char *to, const char *text)
{
	while ((*to = *text++))
		to++;
	return to;
}

char *rt_append_number(char *to, uint64_t n)
{
	char digits[20];
	int count = 0;

	do
		digits[count++] = (char)('0' + n % 10);
	while (n /= 10);
	while (count)
		*to++ = digits[--count];
	*to = 0;
	return to;
}

char *rt_value_of(char *entry, const char *name)
{
	while (*name)
		if (*entry++ != *name++)
			return NULL;
	return *entry == '=' ? entry + 1 : NULL;
}

bool rt_read_file(const char *name, char *to, size_t size)
{
	int fd = (int)RT_SYSCALL(SYS_openat, AT_FDCWD, name, O_RDONLY | O_CLOEXEC);
	long n;

	if (fd < 0)
		return false;
	n = RT_SYSCALL(SYS_read, fd, to, size - 1);
	RT_SYSCALL(SYS_close, fd);
	if (n > 0)
		to[n] = 0;
	return n > 0;
}

char **rt_entry_of(char *const *environment, const char *name)
{
	for (; environment && *environment; environment++)
		if (rt_value_of(*environment, name))
			return (char **)(uintptr_t)environment;
	return NULL;
}

void rt_emit_string(unsigned op, const char *s, uintptr_t pc)
{
	if (s && rt_appending())
		rt_emit_range(op, s, rt_length(s) + 1, pc);
}

void rt_emit_wide(unsigned op, const wchar_t *s, uintptr_t pc)
{
	size_t n = 0;

	if (!s || !rt_appending())
		return;
	while (s[n])
		n++;
	rt_emit_range(op, s, (n + 1) * sizeof *s, pc);
}
