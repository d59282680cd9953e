/*
 * An output file. It is written under a temporary name in its own folder and renamed when it is complete: no file is
 * ever half of another. Everything that this program writes to files is written through here.
 */
#ifndef LIB_BASE_OUTPUT_H
#define LIB_BASE_OUTPUT_H

#include "lib/base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* How rt_output_create treats the name. */
enum rt_output_how {
	RT_OUTPUT_FILE,   /* refuse anything but a regular file */
	RT_OUTPUT_STREAM, /* the same, but write directly to a character device, a pipe or a socket */
	/*
	 * For a long run: the temporary file is NAME.part, which can be read if this process is killed. While another
	 * process writes NAME, the output gets a numbered name: "trace-2.zst".
	 */
	RT_OUTPUT_LONG
};

struct rt_output {
	char *path;  /* as given, or with the number */
	int fd;      /* to write to; -1: none */
	int folder;  /* descriptor of the file's folder, which may be moved while the file is written; -1: written
	                directly */
	char *name;  /* in the folder */
	char *part;  /* the temporary name; NULL: written directly, or renamed already */
	bool hidden; /* the file has no name until it is complete, so nothing is left if this process is killed */
};

/*
 * Creates the output for path; a symbolic link is followed to its file. The temporary file is always new: no link and
 * no other file is written through, and one that a killed process left is removed. On RT_OK the caller owns *o and ends
 * it with commit or discard.
 */
enum rt_status rt_output_create(struct rt_output *o, const char *path, enum rt_output_how how, struct rt_error *err);

/* Syncs the file and renames it. Releases the output, whatever the result; on failure no file is left. */
enum rt_status rt_output_commit(struct rt_output *o, struct rt_error *err);

/* True if the file was removed while it is written, or its folder: it can have no name any more. */
bool rt_output_removed(const struct rt_output *o);

/* Renames the file in its present state. False on failure, with errno set. Releases nothing. */
bool rt_output_name(struct rt_output *o);

/* Removes the file unless it was renamed, and releases the output. A zeroed output is allowed. */
void rt_output_discard(struct rt_output *o);

/* Writes all of it, whatever interrupts. False, errno is set: it could not be done. */
bool rt_write_all(int fd, const void *data, size_t size);

#endif
