/* Atomic operations of the C++ library that order less than their memory order says; see contract.c. */
#ifndef LIB_TRACE_CONTRACT_H
#define LIB_TRACE_CONTRACT_H

#include "tracefmt/trace.h"

/* True if an atomic operation at the position counts, or wakes, threads that wait for an atomic: it orders nothing. */
bool contract_counts_waiters(const struct rt_trace *trace, uint64_t pc);

#endif
