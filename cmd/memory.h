/* How much memory an analysis may take: --max-memory, and the check before a trace is loaded. */
#ifndef CMD_MEMORY_H
#define CMD_MEMORY_H

#include "tracefmt/trace.h"

#include <argp.h>

/* The option --max-memory; its input is a uint64_t: bytes, 0: the default. */
extern const struct argp cmd_memory_argp;

/* Fails if the trace's analysis needs more than `most` bytes; if `most` is 0, more than three quarters of the free
 * memory. */
enum rt_status cmd_check_memory(const struct rt_trace *trace, uint64_t most, struct rt_error *err);

#endif
