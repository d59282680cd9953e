/* Opens files, standard input and pipes alike; see input.h. */
#include "lib/base/input.h"

#include "lib/base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER = 1 << 16 };

static enum rt_status cannot(const char *what, const char *path, int cause, struct rt_error *err)
{
	return rt_error_set(err, RT_ESYSTEM, "cannot %s '%s': %s", what, path, strerror(cause));
}

/* Creates an unnamed file. -1 and errno on failure. */
static int open_unnamed(void)
{
	const char *set = getenv("TMPDIR"), *folder = set && *set ? set : "/tmp";
	int fd = open(folder, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
		return fd;
	/* A file system without unnamed files. */
	char *path;
	if (asprintf(&path, "%s/racetrace.XXXXXX", folder) < 0)
		return -1;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	free(path);
	return fd;
}

/* Copies the rest of one file to another. */
static enum rt_status copy(int from, int to, const char *path, struct rt_error *err)
{
	char *buffer = malloc(BUFFER);
	if (!buffer)
		return rt_error_set(err, RT_EMEMORY, "no memory to read '%s'", path);
	enum rt_status status = RT_OK;
	while (!status) {
		ssize_t n = read(from, buffer, BUFFER);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			status = cannot("read", path, errno, err);
		else if (n == 0)
			break;
		else if (!rt_write_all(to, buffer, (size_t)n))
			status = rt_error_set(err, RT_ESYSTEM,
			                      "cannot keep a copy of '%s': %s: set TMPDIR to a larger place", path,
			                      strerror(errno));
	}
	free(buffer);
	return status;
}

enum rt_status rt_input_open(const char *path, int *out, struct rt_error *err)
{
	struct stat st;
	int fd = strcmp(path, "-") != 0 ? open(path, O_RDONLY | O_CLOEXEC) : fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return cannot("open", path, errno, err);
	if (fstat(fd, &st) || S_ISDIR(st.st_mode)) {
		int cause = S_ISDIR(st.st_mode) ? EISDIR : errno;
		close(fd);
		return cannot("read", path, cause, err);
	}
	/* A file that standard input has been read from already is read like a pipe: from the current position on. */
	if (S_ISREG(st.st_mode) && lseek(fd, 0, SEEK_CUR) == 0) {
		*out = fd;
		return RT_OK;
	}
	int kept = open_unnamed();
	enum rt_status status =
	    kept < 0 ? cannot("make a temporary file for", path, errno, err) : copy(fd, kept, path, err);
	close(fd);
	if (!status && lseek(kept, 0, SEEK_SET) != 0)
		status = cannot("read", path, errno, err);
	if (!status)
		*out = kept;
	else if (kept >= 0)
		close(kept);
	return status;
}

FILE *rt_input_file(const char *path, struct rt_error *err)
{
	int fd;
	if (rt_input_open(path, &fd, err))
		return NULL;
	FILE *file = fdopen(fd, "r");
	if (!file) {
		cannot("open", path, errno, err);
		close(fd);
	}
	return file;
}

FILE *rt_input_stream(const char *path)
{
	if (strcmp(path, "-") != 0)
		return fopen(path, "re");
	int fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
	FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;
	if (!file && fd >= 0)
		close(fd);
	return file;
}

enum rt_status rt_input_start(int fd, const char *path, void *start, size_t n, size_t *got, struct rt_error *err)
{
	ssize_t k;
	do
		k = pread(fd, start, n, 0);
	while (k < 0 && errno == EINTR);
	if (k < 0)
		return cannot("read", path, errno, err);
	*got = (size_t)k;
	return RT_OK;
}
