/* Output files; see output.h. */
#include "lib/base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NUMBERS_MAX = 10000, ATTEMPTS = 100 };

static const struct rt_output nothing = {.fd = -1, .folder = -1};

static enum rt_status cannot(const char *path, int error, struct rt_error *err)
{
	enum rt_status status = error == ENOMEM
	                            ? rt_error_set(err, RT_EMEMORY, "no memory to write '%s'", path)
	                            : rt_error_set(err, RT_ESYSTEM, "cannot write '%s': %s", path, strerror(error));
	errno = error;
	return status;
}

static void release(struct rt_output *o)
{
	if (o->fd >= 0)
		close(o->fd);
	if (o->folder >= 0)
		close(o->folder);
	free(o->path);
	free(o->name);
	free(o->part);
	*o = nothing;
}

/* Opens the folder of a path and finds the file's name in it. Returns an errno. */
static int open_folder(struct rt_output *o, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	o->name = strdup(slash ? slash + 1 : path);
	if (!folder || !o->name) {
		free(folder);
		return ENOMEM;
	}
	o->folder = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int error = o->folder < 0 ? errno : 0;
	free(folder);
	return error;
}

/* "trace.zst" becomes "trace-2.zst"; NULL without memory. */
static char *numbered(const char *path, unsigned number)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path,
	           *dot = strchr(name + (*name == '.'), '.');
	size_t stem = dot ? (size_t)(dot - path) : strlen(path);
	char *out;
	return asprintf(&out, "%.*s-%u%s", (int)stem, path, number, path + stem) < 0 ? NULL : out;
}

/*
 * Creates the temporary file and locks it while this process writes it. An existing one that is not locked was left by
 * a process that died: it is removed. Returns an errno; EBUSY: another process is writing it.
 */
static int create_part(struct rt_output *o)
{
	for (int i = 0; i < ATTEMPTS; i++) {
		struct stat opened, named;
		o->fd = openat(o->folder, o->part, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
		if (o->fd >= 0)
			/* Without locks, the new name alone must do. */
			return flock(o->fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK ? EBUSY : 0;
		if (errno != EEXIST)
			return errno;
		int other = openat(o->folder, o->part, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		if (other < 0 && errno == ENOENT)
			continue; /* it was renamed in the meantime */
		bool busy = other >= 0 && flock(other, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;
		bool same =
		    other < 0 || (!fstat(other, &opened) && !fstatat(o->folder, o->part, &named, AT_SYMLINK_NOFOLLOW) &&
		                  opened.st_ino == named.st_ino && opened.st_dev == named.st_dev);
		int error = !busy && same && unlinkat(o->folder, o->part, 0) && errno != ENOENT ? errno : 0;
		if (other >= 0)
			close(other);
		if (busy || error)
			return busy ? EBUSY : error;
	}
	return EBUSY;
}

/* Creates a file without a name or, where the file system cannot, one with a name that no other process uses. */
static int create_hidden(struct rt_output *o)
{
	if (access("/proc/self/fd", X_OK) == 0)
		o->fd = openat(o->folder, ".", O_RDWR | O_TMPFILE | O_CLOEXEC, 0666);
	o->hidden = o->fd >= 0;
	if (!o->hidden)
		o->fd = openat(o->folder, o->part, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	return o->fd < 0 ? errno : 0;
}

/* Decides by the existing file of that name how the output is written. */
static enum rt_status look_at(const char *path, enum rt_output_how how, bool *direct, struct rt_error *err)
{
	struct stat st;
	*direct = false;
	if (!*path)
		return cannot(path, ENOENT, err);
	if (stat(path, &st) || S_ISREG(st.st_mode))
		return RT_OK;
	*direct = how == RT_OUTPUT_STREAM && !S_ISBLK(st.st_mode) && !S_ISDIR(st.st_mode);
	return *direct ? RT_OK : rt_error_set(err, RT_EUSAGE, "cannot write '%s': it is not a regular file", path);
}

/* Creates one name. Returns an errno. */
static int create(struct rt_output *o, const char *path, bool is_long)
{
	char *target = realpath(path, NULL); /* a link is followed to its file */
	o->path = strdup(path);
	int error = o->path ? open_folder(o, target ? target : path) : ENOMEM;
	free(target);
	if (!error && (is_long ? asprintf(&o->part, "%s.part", o->name)
	                       : asprintf(&o->part, "%s.%ld.part", o->name, (long)getpid())) < 0)
		error = ENOMEM;
	return error ? error : is_long ? create_part(o) : create_hidden(o);
}

static int open_directly(struct rt_output *o, const char *path)
{
	o->path = strdup(path);
	o->fd = open(path, O_WRONLY | O_CLOEXEC);
	return !o->path ? ENOMEM : o->fd < 0 ? errno : 0;
}

enum rt_status rt_output_create(struct rt_output *o, const char *path, enum rt_output_how how, struct rt_error *err)
{
	bool direct;
	*o = nothing;
	enum rt_status status = look_at(path, how, &direct, err);
	if (status)
		return status;
	int error = direct ? open_directly(o, path) : create(o, path, how == RT_OUTPUT_LONG);
	for (unsigned n = 2; error == EBUSY && n < NUMBERS_MAX; n++) {
		char *next = numbered(path, n);
		release(o);
		error = next ? create(o, next, true) : ENOMEM;
		free(next);
	}
	if (!error)
		return RT_OK;
	release(o);
	return cannot(path, error, err);
}

bool rt_output_removed(const struct rt_output *o)
{
	struct stat folder, file;
	if (o->folder < 0 || fstat(o->folder, &folder) || fstat(o->fd, &file))
		return false;
	return folder.st_nlink == 0 || (!o->hidden && file.st_nlink == 0);
}

bool rt_output_name(struct rt_output *o)
{
	char self[64];
	snprintf(self, sizeof self, "/proc/self/fd/%d", o->fd);
	if (!o->part)
		return true;
	if (o->hidden && linkat(AT_FDCWD, self, o->folder, o->part, AT_SYMLINK_FOLLOW))
		return false;
	o->hidden = false;
	if (renameat(o->folder, o->part, o->folder, o->name))
		return false;
	free(o->part);
	o->part = NULL;
	return true;
}

enum rt_status rt_output_commit(struct rt_output *o, struct rt_error *err)
{
	/* Pipes and devices cannot be synced. */
	int error = fsync(o->fd) && errno != EINVAL && errno != EROFS ? errno : 0;
	if (!error && !rt_output_name(o))
		error = errno;
	enum rt_status status = error ? cannot(o->path, error, err) : RT_OK;
	rt_output_discard(o);
	return status;
}

void rt_output_discard(struct rt_output *o)
{
	if (o->fd >= 0 && o->part && !o->hidden)
		unlinkat(o->folder, o->part, 0);
	release(o);
}

bool rt_write_all(int fd, const void *data, size_t size)
{
	const char *at = data;
	while (size) {
		ssize_t n = write(fd, at, size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		size -= (size_t)n;
	}
	return true;
}
