/* Source positions of a trace whose recording was cut short, from the files that the program had loaded. */
#ifndef RECORDER_COLLECTOR_LATE_H
#define RECORDER_COLLECTOR_LATE_H

#include "tracefmt/trace.h"

/*
 * Resolves what resolver_write would have, as far as files with the same build ids exist. Reads the trace once and
 * rewinds it. RT_OK also if nothing can be resolved, or if the trace has its positions.
 */
enum rt_status late_resolve(struct rt_trace *trace, struct rt_error *err);

/* The build id of an ELF file in hexadecimal, owned by the caller; NULL: it has none, or is not an ELF file. */
char *build_id_of(const char *path);

#endif
