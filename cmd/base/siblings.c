/* Traces of other processes; see siblings.h. */
#include "cmd/base/siblings.h"

#include "tracefmt/trace.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
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

/* Calls f for each sibling; returns for how many it was true. */
static size_t visit(const char *trace, bool (*f)(int folder, const char *name, const struct stat *st, void *arg),
                    void *arg)
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
			n += f(dirfd(folder), entry->d_name, &st, arg);
	if (folder)
		closedir(folder);
	return n;
}

static bool remove_older(int folder, const char *name, const struct stat *st, void *since)
{
	return is_before(st->st_mtim, *(const struct timespec *)since) && unlinkat(folder, name, 0) == 0;
}

static bool any(int folder, const char *name, const struct stat *st, void *arg)
{
	(void)folder, (void)name, (void)st, (void)arg;
	return true;
}

struct threaded {
	const char *trace;
	char *path;
	uint32_t threads;
};

static bool look_at_threads(int folder, const char *name, const struct stat *st, void *arg)
{
	struct threaded *t = arg;
	const char *slash = strrchr(t->trace, '/');
	struct rt_trace *trace;
	struct rt_error err = {0};
	char *path = NULL;
	(void)folder, (void)st;
	if (asprintf(&path, "%.*s%s", slash ? (int)(slash - t->trace + 1) : 0, t->trace, name) < 0)
		return false;
	uint32_t threads = 0;
	if (!rt_trace_open(path, &trace, &err)) {
		threads = rt_trace_info(trace)->thread_count;
		rt_trace_free(trace);
	}
	bool more = threads > t->threads;
	if (more) {
		free(t->path);
		t->path = path;
		t->threads = threads;
	} else {
		free(path);
	}
	return more;
}

char *siblings_threaded(const char *trace)
{
	struct threaded t = {.trace = trace, .threads = 1};
	visit(trace, look_at_threads, &t);
	return t.path;
}

struct timespec siblings_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME_COARSE, &t);
	return t;
}

size_t siblings_remove_old(const char *trace, struct timespec since)
{
	return visit(trace, remove_older, &since);
}

size_t siblings_count(const char *trace)
{
	return visit(trace, any, NULL);
}
