/* Progress on a terminal's standard error, of what takes more than two seconds; nothing elsewhere. One line, which the
 * next message replaces. */
#ifndef CMD_BASE_PROGRESS_H
#define CMD_BASE_PROGRESS_H

#include <stddef.h>

void progress_begin(void);
/* What is being done: step `number` of `count`. The text must live on. */
void progress_step(const char *doing, unsigned number, unsigned count);
/* How much of the step is done. Cheap; may be called very often. */
void progress_count(size_t done, size_t count);
struct rt_trace;
/* Begins, as a step of its own, what reads a trace from its beginning to its end once. */
void progress_begin_reading(void);
/* The same of what writes to standard output meanwhile: not where that is a terminal, or a pipe, behind which there may
 * be a pager. */
void progress_begin_copying(void);
/* Counts the events that are read of the trace from now on. */
void progress_watch(struct rt_trace *trace);
/* Clears the line. A second call does nothing. */
void progress_end(void);

#endif
