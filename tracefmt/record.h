/*
 * Records: the 16 bytes that a hook writes into its thread's ring, and what a chunk of the file decodes to.
 *
 *   word 0: operand (48 bits) | op << 48 | skip << 56
 *   word 1: pc (48 bits) | aux << 48
 *
 * op is an enum rt_op. skip: how many repeated accesses of this thread were left out right before this record.
 * aux, for plain accesses and atomics: size code (low 5 bits: size in bytes 1..16; 0: the size is the preceding EXT's
 * arg), memory order << 5 (3 bits), flags << 8 (rt_event.flags, 8 bits). For other operations: flags << 8.
 *
 * Records that are not events themselves:
 *   EXT    word 0 operand: arg of the next event; word 1: stamp, 64 bits. Begins a new run (see below).
 *   VALUE  word 1: value of the next event, 64 bits.
 *   SKIP   word 0 operand: number of further accesses left out here (when skip overflows).
 * A record sequence EXT, VALUE, EVENT is written with one commit, so it is never torn.
 *
 * A run is the stretch from one EXT to the next. Its events stand together in the global order, at its stamp. Every
 * synchronisation event has an EXT of its own with a stamp that is unique and exact. The recorder also writes an EXT at
 * the beginning of each block of 64 records and after blocking calls, so plain accesses carry a recent time. A stamp
 * that is lower than its predecessor in the same thread counts as equal to it.
 */
#ifndef TRACEFMT_RECORD_H
#define TRACEFMT_RECORD_H

#include "tracefmt/event.h"

struct rt_record {
	uint64_t w0, w1;
};

#define RT_RECORD_SKIP_MAX 255

static inline struct rt_record rt_record_make(unsigned op, uint64_t operand, uint64_t pc, unsigned aux, unsigned skip)
{
	struct rt_record r = {(operand & RT_OPERAND_MAX) | (uint64_t)op << 48 | (uint64_t)skip << 56,
	                      (pc & RT_OPERAND_MAX) | (uint64_t)aux << 48};
	return r;
}
static inline struct rt_record rt_record_ext(uint64_t stamp, uint64_t arg)
{
	struct rt_record r = {(arg & RT_OPERAND_MAX) | (uint64_t)RT_OP_EXT << 48, stamp};
	return r;
}
static inline unsigned rt_record_aux(unsigned size, unsigned order, unsigned flags)
{
	return (size & 31) | (order & 7) << 5 | (flags & 255) << 8;
}
static inline unsigned rt_record_op(struct rt_record r)
{
	return (unsigned)(r.w0 >> 48) & 255;
}
static inline unsigned rt_record_skip(struct rt_record r)
{
	return (unsigned)(r.w0 >> 56);
}
static inline uint64_t rt_record_operand(struct rt_record r)
{
	return r.w0 & RT_OPERAND_MAX;
}
static inline uint64_t rt_record_pc(struct rt_record r)
{
	return r.w1 & RT_OPERAND_MAX;
}
static inline unsigned rt_record_aux_of(struct rt_record r)
{
	return (unsigned)(r.w1 >> 48);
}

#endif
