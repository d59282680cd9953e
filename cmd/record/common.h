/* What recording a program and recording a process that runs (pid.c) have in common. */
#ifndef CMD_RECORD_COMMON_H
#define CMD_RECORD_COMMON_H

#include "recorder/collector/collect.h"

#include <signal.h>

/* Blocks the signals that end a recording; they are the set. */
void record_block_ends(sigset_t *ends);

/*
 * Creates the trace of the process options->pid. `output` may hold the process id and the like; a message says if the
 * trace has another name. The writer and the path are the caller's, also after an error.
 */
enum rt_status record_create_trace(const char *output, const char *program, const struct rt_writer_options *options,
                                   struct rt_writer **w, char **path, struct rt_error *err);

/* Reports at once that a trace cannot be written any further: the program may run on for long. */
void record_tell_error(struct rt_error *error);
void record_say_counts(const char *path, const struct rt_writer_result *result);
void record_say_broken(unsigned threads);
/* Names the next command. */
void record_say_trace(const char *path);

#endif
