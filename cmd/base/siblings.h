/* The traces of a recording's other processes: TRACE.PID beside TRACE, see racetrace-record(1). */
#ifndef CMD_BASE_SIBLINGS_H
#define CMD_BASE_SIBLINGS_H

#include <stddef.h>
#include <time.h>

/* Now, as file times have it. */
struct timespec siblings_now(void);
/* Removes those that were written before `since`: they are of an earlier recording under the same name, and would be
 * analyzed with this one by mistake. Returns their number. */
size_t siblings_remove_old(const char *trace, struct timespec since);
/* Number of those that are there. */
size_t siblings_count(const char *trace);
/* The one of a process that had several threads, the most of all; the caller frees it. NULL: there is none, or no
 * memory. */
char *siblings_threaded(const char *trace);

#endif
