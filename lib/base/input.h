/* Inputs: a file, standard input ("-") or a pipe. */
#ifndef LIB_BASE_INPUT_H
#define LIB_BASE_INPUT_H

#include "lib/base/error.h"

#include <stddef.h>
#include <stdio.h>

/*
 * Opens path for reading from its beginning; "-" is standard input. A pipe is copied to an unnamed temporary file (in
 * TMPDIR, else /tmp) first, because it is read more than once. On RT_OK the caller closes *fd.
 */
enum rt_status rt_input_open(const char *path, int *fd, struct rt_error *err);

/* The same as a stream, which the caller closes. NULL: see err. */
FILE *rt_input_file(const char *path, struct rt_error *err);

/* For what is read once, from where it stands: a stream of path, which the caller closes. NULL and errno on failure. */
FILE *rt_input_stream(const char *path);

/* Reads up to n bytes at the file's beginning without moving its offset; *got is their number. */
enum rt_status rt_input_start(int fd, const char *path, void *start, size_t n, size_t *got, struct rt_error *err);

#endif
