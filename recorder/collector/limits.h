/* Limits of the process (ulimit) that affect a recording. */
#ifndef RECORDER_COLLECTOR_LIMITS_H
#define RECORDER_COLLECTOR_LIMITS_H

#include "lib/base/error.h"

#include <stdint.h>

/* " (ulimit -n)": the limit that may have caused an errno, if it is set; otherwise "". Static. */
const char *limit_behind(int error);

/* Adds the same to the message of a failure, of memory or with this errno. Returns its status. */
enum rt_status limit_name(struct rt_error *err, int error);

/* The number of threads, at most the given one, whose rings of the given size fit into the address space that a process
 * may use beside its own memory, and into the largest file size. */
uint32_t limit_threads(uint32_t threads, uint64_t ring_bytes);

/* True if this process may use the memory that writing a trace takes, after limit_raise was called. */
bool limit_allows_collector(void);

/*
 * Raises the limits of this process as far as possible: of data, and of descriptors, of which each process of the
 * program needs some here. Processes started before keep theirs. malloc keeps less of what is freed from here on.
 */
void limit_raise(void);

/* True if a file of this size may be created. Where it may not, trying ends the process (SIGXFSZ). */
bool limit_allows_file(uint64_t size);

#endif
