/* Atomic instructions in machine code (x86-64). */
#ifndef RECORDER_COLLECTOR_ATOMIC_CODE_H
#define RECORDER_COLLECTOR_ATOMIC_CODE_H

#include "recorder/collector/code.h"

#include <capstone/capstone.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True if one may begin at the n bytes, or have its opcode there. */
bool atomic_code_may_begin(const uint8_t *p, size_t n);
/* True if it is one that may order something. A load fence, which orders loads of its own thread, is none, and neither
 * is what the compiler counts for a profile. */
bool atomic_code_orders(const struct code *code, const cs_insn *insn);
bool atomic_code_reads_clock(const cs_insn *insn);
/* Locks are taken by exchanging, comparing or setting a bit, or are waited for. */
bool atomic_code_may_lock(const cs_insn *insn);
/* True if a function has one that may order something. Overwrites insn. */
bool atomic_code_in(csh capstone, cs_insn *insn, const struct code *code, const struct code_function *function);

#endif
