/*
 * Everything that a report says of an event and the model does not keep: looked up in one more pass over the trace, for
 * all events asked about at once.
 */
#ifndef LIB_REPORT_DESCRIBE_H
#define LIB_REPORT_DESCRIBE_H

#include "lib/trace/model.h"

struct description {
	struct rt_event event; /* as read from the trace */
	uint64_t *stack;       /* pcs: the event's own, then the call sites outwards */
	size_t stack_count;
	/* Accesses: the heap block they fall into, if any. */
	uint64_t block, block_size;
	uint64_t block_event; /* number of its ALLOC, 0: none */
	enum rt_memory_kind memory;
};

struct descriptions;

/* Describes the events with these numbers (any order, repeats allowed), and what they lead to: allocations, forks of
 * their threads. */
enum rt_status describe(struct rt_trace *trace, const uint64_t *numbers, size_t n, struct descriptions **out,
                        struct rt_error *err);
/* The description of one of them; NULL if it was not asked for. */
const struct description *description_of(const struct descriptions *d, uint64_t number);
void descriptions_free(struct descriptions *d);

#endif
