/* What the makers of traces share. */
#ifndef TESTS_BENCH_GEN_H
#define TESTS_BENCH_GEN_H

#include "tracefmt/native/writer.h"

#include <stdio.h>
#include <stdlib.h>

enum { VARIABLES = 0x10000000, LOCKS = 0x8000000, CODE = 0x400000 };

/* Xorshift: the next of the numbers that the state makes, below 2^53. */
static inline uint64_t gen_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state >> 11;
}

/* Writes one event of a thread; ends the program if that fails. */
static inline void gen_sized(struct rt_writer *writer, uint64_t stamp, uint64_t ordinal, uint32_t thread, unsigned op,
                             uint64_t addr, uint64_t arg, uint32_t position)
{
	struct rt_event e = {.ordinal = ordinal,
	                     .stamp = stamp,
	                     .addr = addr,
	                     .arg = arg,
	                     .pc = CODE + position,
	                     .thread = thread,
	                     .op = (uint8_t)op};
	struct rt_error err;
	if (rt_writer_event(writer, &e, &err)) {
		fprintf(stderr, "no trace is made: %s\n", err.message);
		exit(1);
	}
}

/* The same; accesses have 8 bytes, and other events no argument. */
static inline void gen_event(struct rt_writer *writer, uint64_t stamp, uint64_t ordinal, uint32_t thread, unsigned op,
                             uint64_t addr, uint32_t position)
{
	gen_sized(writer, stamp, ordinal, thread, op, addr, op == RT_OP_READ || op == RT_OP_WRITE ? 8 : 0, position);
}

#endif
