/*
 * Reads that only update: `x++;`, whose result is used nowhere. The machine code around the hook of such a read shows
 * that what it read goes nowhere but into the write of the same memory that comes next.
 */
#ifndef RECORDER_COLLECTOR_CODE_UPDATES_H
#define RECORDER_COLLECTOR_CODE_UPDATES_H

#include "recorder/collector/debug.h"
#include "tracefmt/trace.h"

struct code_updates;

/* NULL without memory. The debug information must outlive it. */
struct code_updates *code_updates_create(struct debug *d);
void code_updates_free(struct code_updates *u);
/*
 * True if pc is in the call of a read's hook, its last byte, the next hook is a write's, and what is loaded between the
 * two reaches nothing but what is stored after the second: no other memory, no address, no jump that depends on it, no
 * argument and no result. *out gets both pcs. That both hooks are told the same memory is for the trace to show. In a
 * module without hooks, a pc is one byte behind where the instruction that reads, or writes, begins.
 */
bool code_updates_find(struct code_updates *u, uint64_t pc, struct rt_update *out);

#endif
