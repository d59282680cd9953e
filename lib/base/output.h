/*
 * An output file. It is written under a temporary name in its own folder and takes its name when it is whole, so a file
 * that has the name is never half of another. All that this program writes to files goes through here.
 */
#ifndef LIB_BASE_OUTPUT_H
#define LIB_BASE_OUTPUT_H

#include "lib/base/error.h"

#include <stdbool.h>

/* How rt_output_create treats the name. */
enum rt_output_how {
	RT_OUTPUT_FILE,   /* refuse what is no regular file */
	RT_OUTPUT_STREAM, /* the same, but write directly to a character device, a pipe or a socket */
	/*
	 * Of a long run: the temporary file is NAME.part, so that it can be read if this process is killed. While
	 * another process writes NAME the output has the name with a number: "trace-2.zst".
	 */
	RT_OUTPUT_LONG
};

struct rt_output {
	char *path;  /* as given, or with the number */
	int fd;      /* to write to; -1: none */
	int folder;  /* descriptor of the file's folder, which may be moved meanwhile; -1: written directly */
	char *name;  /* in the folder */
	char *part;  /* the temporary name; NULL: written directly, or it has its name */
	bool hidden; /* the file has no name at all until it is whole, so that nothing is left if this process is killed
	              */
	bool number; /* the name got a number */
};

/*
 * Creates the output for path; a symbolic link is followed to the file that it names. The temporary file is new: no
 * link and no other file is ever written through, and one that a killed process left is removed. On RT_OK the caller
 * owns *o and ends it with commit or discard.
 */
enum rt_status rt_output_create(struct rt_output *o, const char *path, enum rt_output_how how, struct rt_error *err);

/* Syncs the file and gives it its name. The output is released whatever the outcome; on failure nothing is left. */
enum rt_status rt_output_commit(struct rt_output *o, struct rt_error *err);

/* Gives the file its name as it is. False, errno is set: it could not be done. Releases nothing. */
bool rt_output_name(struct rt_output *o);

/* Removes the file unless it has its name, and releases the output. One of which nothing was created is allowed. */
void rt_output_discard(struct rt_output *o);

#endif
