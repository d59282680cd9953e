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

struct dirent64 {
	uint64_t inode, offset;
	uint16_t size;
	uint8_t type;
	char name[];
};

bool rt_each_entry(const char *folder, bool (*each)(const char *name, const void *with), const void *with)
{
	_Alignas(8) char entries[4096];
	int fd = (int)RT_SYSCALL(SYS_openat, AT_FDCWD, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	long n = -1;
	bool all = fd >= 0;

	while (all && (n = RT_SYSCALL(SYS_getdents64, fd, entries, sizeof entries)) > 0)
		for (long at = 0; all && at < n;) {
			const struct dirent64 *e = (const struct dirent64 *)(const void *)(entries + at);
			all = e->name[0] == '.' || each(e->name, with);
			at += e->size;
		}
	if (fd >= 0)
		RT_SYSCALL(SYS_close, fd);
	return all && n == 0;
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
