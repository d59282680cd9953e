/* Traces of other processes; see siblings.h. */
#include "cmd/base/siblings.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* True if the name is base, a dot and a process's number, maybe another dot and a number. */
static bool is_sibling(const char *name, const char *base)
{
	size_t n = strlen(base), digits;
	if (strncmp(name, base, n) != 0 || name[n] != '.')
		return false;
	digits = strspn(name + n + 1, "0123456789");
	const char *end = name + n + 1 + digits;
	if (digits && *end == '.' && end[1])
		end += 1 + strspn(end + 1, "0123456789");
	return digits && !*end;
}

/* True if it is a regular file that begins as a file of zstd does. */
static bool is_trace(int folder, const char *name, struct stat *st)
{
	static const unsigned char frame[] = {0x28, 0xb5, 0x2f, 0xfd}, skippable[] = {0x2a, 0x4d, 0x18};
	unsigned char begin[4] = {0};
	int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	bool is = fstat(fd, st) == 0 && S_ISREG(st->st_mode) && read(fd, begin, sizeof begin) == sizeof begin &&
	          (!memcmp(begin, frame, sizeof frame) || !memcmp(begin + 1, skippable, sizeof skippable));
	close(fd);
	return is;
}

static bool is_before(struct timespec a, struct timespec b)
{
	return a.tv_sec < b.tv_sec || (a.tv_sec == b.tv_sec && a.tv_nsec < b.tv_nsec);
}

/* Number of siblings; before: removes those that are older, and counts these alone. */
static size_t visit(const char *trace, const struct timespec *before)
{
	const char *slash = strrchr(trace, '/'), *base = slash ? slash + 1 : trace;
	char *path = slash ? strndup(trace, (size_t)(slash - trace) + 1) : strdup(".");
	DIR *folder = path ? opendir(path) : NULL;
	struct dirent *entry;
	struct stat st;
	size_t n = 0;
	free(path);
	while (folder && (entry = readdir(folder)))
		if (is_sibling(entry->d_name, base) && is_trace(dirfd(folder), entry->d_name, &st))
			n += !before ||
			     (is_before(st.st_mtim, *before) && unlinkat(dirfd(folder), entry->d_name, 0) == 0);
	if (folder)
		closedir(folder);
	return n;
}

struct timespec siblings_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME_COARSE, &t);
	return t;
}

size_t siblings_remove_old(const char *trace, struct timespec since)
{
	return visit(trace, &since);
}

size_t siblings_count(const char *trace)
{
	return visit(trace, NULL);
}
