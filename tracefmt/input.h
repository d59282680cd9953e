/* Inputs of a trace: a file, standard input ("-") or a pipe. */
#ifndef TRACEFMT_INPUT_H
#define TRACEFMT_INPUT_H

#include "lib/base/error.h"

#include <stddef.h>

/*
 * Opens path for reading from its beginning; "-" is standard input. A pipe is copied to an unnamed temporary file (in
 * TMPDIR, else /tmp) first, because a trace is read more than once. On RT_OK the caller closes *fd.
 */
enum rt_status rt_input_open(const char *path, int *fd, struct rt_error *err);

/* Reads up to n bytes at the file's beginning without moving its offset; *got is their number. */
enum rt_status rt_input_start(int fd, const char *path, void *start, size_t n, size_t *got, struct rt_error *err);

#endif
