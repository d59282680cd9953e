/* How much memory an analysis may take: --max-memory, and what is told before anything is loaded. */
#ifndef CMD_MEMORY_H
#define CMD_MEMORY_H

#include "tracefmt/trace.h"

#include <argp.h>

/* The option --max-memory; its input is a uint64_t: bytes, 0: the default. */
extern const struct argp cmd_memory_argp;

/* Refuses a trace whose analysis needs more than `most` bytes, or, if that is 0, than three quarters of what is free.
 */
enum rt_status cmd_check_memory(const struct rt_trace *trace, uint64_t most, struct rt_error *err);

#endif
