/* Limits of the process (ulimit) that a recording meets. */
#ifndef RECORDER_COLLECTOR_LIMITS_H
#define RECORDER_COLLECTOR_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

/* " (ulimit -n)": the limit that may be the cause of an errno, if it is set; "" if none is. Static. */
const char *limit_behind(int error);

/* The number of threads, at most the given one, whose rings of the given size fit into the address space that a process
 * may have beside its own memory, and into the size that files may have. */
uint32_t limit_threads(uint32_t threads, uint64_t ring_bytes);

/* True if a program may have the data that the recorder has in it. Where it may not, the program cannot even be loaded.
 */
bool limit_allows_recorder(void);

/* True if a file of this size may be made. Where it may not, trying ends the process (SIGXFSZ). */
bool limit_allows_file(uint64_t size);

#endif
