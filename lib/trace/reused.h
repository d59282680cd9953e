/*
 * Memory that the allocator gave out several times. A pointer to it does not tell by its number which of the blocks it
 * leads to. In another order of the trace's events the blocks would have other addresses, as what is not free yet is
 * not given out again. So such a pointer counts as no value: of two writes of the number, each may mean another block.
 */
#ifndef LIB_TRACE_REUSED_H
#define LIB_TRACE_REUSED_H

#include <stdbool.h>
#include <stdint.h>

struct reused_block {
	uint64_t at, end;
	uint32_t number; /* in the order of the trace */
	bool is_free;    /* else it was allocated */
};

/* All zero: nothing was allocated. */
struct reused {
	struct reused_block *blocks;
	uint32_t count, capacity;
};

/* The next allocation or free of the trace. False without memory. */
bool reused_add(struct reused *r, uint64_t at, uint64_t size, bool is_free);
/* All have been added: keeps the memory of several blocks, sorted and disjoint. */
void reused_settle(struct reused *r);
/* True if the address is in such memory, or just behind it. */
bool reused_has(const struct reused *r, uint64_t address);
void reused_release(struct reused *r);

#endif
