/* Source positions of a trace whose recording was cut short, from the files that the program had loaded. */
#ifndef RECORDER_COLLECTOR_LATE_H
#define RECORDER_COLLECTOR_LATE_H

#include "tracefmt/trace.h"

/*
 * Resolves what resolver_write would have, as far as files with the same build ids are there. The trace is read once,
 * and stands at its beginning afterwards. RT_OK also where nothing can be resolved, or the trace has its positions.
 */
enum rt_status late_resolve(struct rt_trace *trace, struct rt_error *err);

/* The build id of an ELF file in hexadecimal, owned by the caller; NULL: it has none, or is no such file. */
char *build_id_of(const char *path);

#endif
