/* How much memory an analysis may take: --max-memory, and the check before a trace is loaded. */
#ifndef CMD_BASE_MEMORY_H
#define CMD_BASE_MEMORY_H

#include "lib/trace/model.h"

#include <argp.h>

/* The option --max-memory; its input is a uint64_t: bytes, 0: the default. */
extern const struct argp cmd_memory_argp;

/* Bytes that --max-memory allows; if it was not given (0), three quarters of the free memory. */
uint64_t cmd_allowed_memory(uint64_t given);

/* Bytes of memory that the process has for itself at this time; what malloc has free is given back. */
uint64_t cmd_own_memory(void);

/* model_options.admit: RT_ELARGE if the analysis needs more than *most bytes (a uint64_t; 0: the default). */
enum rt_status cmd_admit(void *most, const struct rt_trace_info *info, const struct model_size *size,
                         struct rt_error *err);

#endif
