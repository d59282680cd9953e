/* Where a command's result goes: standard output, or a file that gets its name when it is complete. */
#ifndef CMD_BASE_OUTPUT_H
#define CMD_BASE_OUTPUT_H

#include "lib/base/output.h"

#include <stdio.h>

struct cmd_output {
	FILE *file;          /* to write to */
	struct rt_output to; /* behind it, unless that is standard output */
};

/* path: NULL or "-" is standard output. On RT_OK the output is ended by cmd_output_close. */
enum rt_status cmd_output_open(struct cmd_output *o, const char *path, struct rt_error *err);

/* Ends the output. A file is kept only if status, the result of writing it, is RT_OK. Returns the first error. */
enum rt_status cmd_output_close(struct cmd_output *o, enum rt_status status, struct rt_error *err);

/* The errno of a descriptor that could not be written to: a stream forgets it. Something is written once more. */
int cmd_output_failure(int fd);

#endif
