/* How much memory an analysis may take: --max-memory, and the check before a trace is loaded. */
#ifndef CMD_MEMORY_H
#define CMD_MEMORY_H

#include "lib/trace/model.h"

#include <argp.h>

/* The option --max-memory; its input is a uint64_t: bytes, 0: the default. */
extern const struct argp cmd_memory_argp;

/* model_options.admit: fails if the analysis needs more than *most bytes (a uint64_t); if *most is 0, more than three
 * quarters of the free memory. */
enum rt_status cmd_admit(void *most, const struct rt_trace_info *info, const struct model_size *size,
                         struct rt_error *err);

#endif
