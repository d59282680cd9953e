/* What the parts of describe.h share: the state of the pass over the trace, its call stacks and its memory. */
#ifndef LIB_REPORT_DESCRIBE_PARTS_H
#define LIB_REPORT_DESCRIBE_PARTS_H

#include "lib/base/hash.h"
#include "lib/report/describe.h"
#include "lib/trace/jumps.h"
#include "tracefmt/alias.h"

enum { DESCRIBE_ROOT = 0 }; /* node 0: outside of every call */

/* One call: the position of its call site, and the call that it was made in. */
struct call_node {
	uint64_t pc;
	uint32_t parent; /* next free node while unused */
	uint32_t references;
	uint32_t signal; /* whose handler it is a call of; 0: none */
};

/* An event with its stack at the time, kept until it is known whether a query leads to it. */
struct saved_event {
	struct rt_event event;
	uint32_t node;
	bool used;
};

struct lock_held {
	uint64_t addr;
	bool shared;
	uint32_t depth; /* STD files have inner acquires of a held lock; the recorder leaves them out */
	bool waits;     /* for a condition: it is not held meanwhile */
	struct saved_event acquired;
	struct saved_event taken; /* its acquire by a call that is no wait */
};

struct described_thread {
	uint32_t node;
	uint32_t delivered; /* the signal of its last event; 0: that was another one */
	uint64_t uncounted; /* calls open beyond what the node table holds */
	uint64_t depth;     /* calls open */
	struct jumps jumps;
	struct lock_held *held;
	size_t held_count, held_capacity;
	struct saved_event fork;
	uint64_t stack_base, stack_size; /* of a running thread; 0: unknown */
	uint64_t tls_base, tls_size;
};

/* Events that begin and end a block. */
struct slot_block {
	struct saved_event alloc, freed;
};

/* One queried address: the blocks that it is currently in, heap inside mapping. */
struct memory_slot {
	uint64_t addr;
	struct slot_block heap, map;
	uint64_t shared; /* the address of a variable there that a region shares, see RT_SHARED_MAX; 0: none */
	uint64_t region; /* position of that region's function */
};

/* The blocks that any address is in, or was in last. */
struct block_map {
	struct block_piece *root;
	uint64_t random; /* not 0 */
};

struct described {
	struct description d;
	UT_hash_handle hh;
};

struct numbered {
	uint64_t number, ordinal;
};

struct descriptions {
	struct described *entries;
	struct numbered *ordinals; /* of all queried events, by number */
	size_t ordinal_count;
	bool cut, locks_cut;
};

struct describing {
	struct rt_trace *trace;
	struct descriptions *out;
	struct call_node *nodes;
	uint32_t node_count, node_capacity, node_free;
	struct described_thread *threads;
	uint32_t thread_count;
	const struct describe_query *locks; /* queries of no event, by address */
	size_t lock_count;
	struct memory_slot *slots;
	size_t slot_count;
	struct rt_aliases aliases; /* as of the event that is read */
	bool no_memory;
	/* For later stretches of the trace, if it is described by these. */
	uint64_t most;                         /* bytes that the maps may take; 0: there are none */
	struct block_map heap, mapped, shared; /* shared: the block of each piece is a region's SHARED event */
	uint64_t piece_count;                  /* of all three */
};

/* ---- describe_stack.c ---- */

/* Makes room for the first calls; describe.c frees the nodes. False without memory. */
bool describe_stacks_init(struct describing *p);
/* A call begins in a thread, at this call site. */
void describe_enter(struct describing *p, struct described_thread *t, uint64_t pc);
/* A LEAVE without its ENTER (the recording began inside the call) changes nothing. */
void describe_leave(struct describing *p, struct described_thread *t);
/* Forgets a saved event, and the stack that only it refers to. */
void describe_forget(struct describing *p, struct saved_event *s);
/* One more copy of a saved event refers to its stack. */
void describe_refer(struct describing *p, const struct saved_event *s);
/* Saves an event with its thread's stack, in place of the one before. */
void describe_save(struct describing *p, struct saved_event *s, const struct rt_event *event);
/* The entry of an event; created if absent, with its stack only. NULL without memory. */
struct description *describe_entry(struct describing *p, const struct rt_event *event, uint32_t node, bool *is_new);
/* Describes a saved event that a query leads to; returns its number, 0 if there is none. */
uint64_t describe_saved(struct describing *p, const struct saved_event *s);

/* ---- describe_memory.c ---- */

/* An event that begins or ends a block or a mapping. */
void describe_memory(struct describing *p, const struct rt_event *event);
/* A region of OpenMP begins that shares variables. */
void describe_shared(struct describing *p, const struct rt_event *event);
/* The block that a queried address is in, or was in last. */
struct memory_block describe_block(struct describing *p, uint64_t addr);
/* Describes the memory of an event; queries: all n of it, sorted by address. */
void describe_places(struct describing *p, const struct describe_query *queries, size_t n, struct description *d);
/* Gives the slots what is known of their addresses. */
void describe_slots_find(struct describing *p);

/* ---- describe_blocks.c ---- */

/* A block of that size begins at the event's address, in place of what was there. */
void describe_block_begins(struct describing *d, struct block_map *map, const struct rt_event *event, uint64_t size);
/* The blocks in the event's range end. */
void describe_range_ends(struct describing *d, struct block_map *map, const struct rt_event *event);
/* The block ends that began at the event's address. */
void describe_block_ends(struct describing *d, struct block_map *map, const struct rt_event *event);
/* Finds the block of an address, as a copy that refers to its events' stacks; zeros: none. */
void describe_block_find(struct describing *d, const struct block_map *map, uint64_t addr, struct slot_block *out);
/* Empties the maps, and stops to carry them. */
void describe_blocks_forget(struct describing *d);
/* Bytes that the maps take. */
uint64_t describe_blocks_memory(const struct describing *d);

#endif
