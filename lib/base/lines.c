/* A file line by line; see lines.h. */
#include "lib/base/lines.h"

#include "lib/base/vec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIRST_ROOM = 128 << 10 };

enum rt_status lines_init(struct lines *lines, int fd, const char *path, size_t longest, struct rt_error *err)
{
	*lines = (struct lines){.path = path, .fd = fd, .longest = longest};
	lines->buffer = malloc(FIRST_ROOM);
	lines->room = FIRST_ROOM;
	if (lines->buffer)
		return RT_OK;
	lines_release(lines);
	return rt_error_set(err, RT_EMEMORY, "no memory to read '%s'", path);
}

void lines_release(struct lines *lines)
{
	if (lines->fd >= 0)
		close(lines->fd);
	free(lines->buffer);
	*lines = (struct lines){.fd = -1};
}

/* Reads more bytes after the buffered ones, after making room. */
static enum rt_status fill(struct lines *lines, struct rt_error *err)
{
	size_t left = lines->end - lines->start;
	memmove(lines->buffer, lines->buffer + lines->start, left);
	lines->start = 0;
	lines->end = left;
	if (left > lines->longest)
		return rt_error_set(err, RT_EINPUT, "'%s' line %llu is longer than %zu bytes: not a trace", lines->path,
		                    (unsigned long long)lines->number + 1, lines->longest);
	if (left > lines->room / 2 && !vec_reserve(&lines->buffer, &lines->room, lines->room + 1, 1))
		return rt_error_set(err, RT_EMEMORY, "no memory to read '%s'", lines->path);
	ssize_t n;
	do
		n = read(lines->fd, lines->buffer + lines->end, lines->room - lines->end);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return rt_error_set(err, RT_ESYSTEM, "cannot read '%s': %s", lines->path, strerror(errno));
	lines->ended = n == 0;
	lines->end += (size_t)n;
	lines->bytes += (uint64_t)n;
	return RT_OK;
}

enum rt_status lines_next(struct lines *lines, char **line, size_t *length, struct rt_error *err)
{
	size_t searched = 0;
	char *newline;
	for (;;) {
		char *from = lines->buffer + lines->start;
		size_t have = lines->end - lines->start;
		newline = memchr(from + searched, '\n', have - searched);
		if (newline || lines->ended)
			break;
		searched = have;
		enum rt_status status = fill(lines, err);
		if (status)
			return status;
	}
	*line = lines->buffer + lines->start;
	size_t n = newline ? (size_t)(newline - *line) : lines->end - lines->start;
	if (n == 0 && !newline) {
		*line = NULL;
		*length = 0;
		return RT_OK;
	}
	lines->start += n + (newline != NULL);
	lines->number++;
	lines->cut = !newline;
	if (n && (*line)[n - 1] == '\r')
		n--;
	*length = n;
	return RT_OK;
}
