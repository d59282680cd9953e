/* Reads a file line by line in bounded memory. Lines end in LF or CRLF; the last one may end with the file. */
#ifndef LIB_BASE_LINES_H
#define LIB_BASE_LINES_H

#include "lib/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lines {
	const char *path; /* borrowed */
	int fd;
	bool ended;
	bool cut; /* the last returned line ended with the file, not with a line feed */
	char *buffer;
	size_t start, end, room;
	size_t longest;  /* most bytes of a line */
	uint64_t number; /* number of the last returned line, from 1 */
	uint64_t bytes;  /* bytes read so far */
};

/* Takes ownership of fd, also on failure; path is for messages. After RT_OK the caller calls lines_release. */
enum rt_status lines_init(struct lines *lines, int fd, const char *path, size_t longest, struct rt_error *err);
/* Returns the next line without its end; *line is NULL at the end of the file. Valid (and writable) until the next
 * call. */
enum rt_status lines_next(struct lines *lines, char **line, size_t *length, struct rt_error *err);
void lines_release(struct lines *lines);

#endif
