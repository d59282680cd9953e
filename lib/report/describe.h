/*
 * Everything that a report says of an event and the model does not keep: looked up in one more pass over the trace, for
 * all events asked about at once, and for what they lead to: the allocation of the block that an access falls into, the
 * acquires of the locks held, the forks of the threads involved.
 */
#ifndef LIB_REPORT_DESCRIBE_H
#define LIB_REPORT_DESCRIBE_H

#include "tracefmt/trace.h"

/* Innermost frames kept of one stack. */
#define DESCRIBE_STACK_MAX 256
/* Locks of one event that are kept, of those held then: the ones that were taken last. */
#define DESCRIBE_LOCKS_MAX 64

struct describe_query {
	uint64_t number; /* the event's; 0: only the address is asked about, for the locks held that lie there */
	uint64_t addr;   /* whose memory is to be told as it stands at the event: in an access, of a lock; 0: none */
	bool ordinal;    /* no more than the event's ordinal is wanted (addr is 0): a schedule asks for very many */
};

/* A stretch of memory that the program asked for, as it stood at some event. */
struct memory_block {
	uint64_t address, size;
	uint64_t alloc; /* number of its ALLOC or MAP event, described too; 0: no such block */
	uint64_t freed; /* number of its FREE or UNMAP event, described too; 0: it is live */
	bool mapped;    /* MAP, not ALLOC */
};

/* An address that a query asked about, as it stood at the event. */
struct memory_place {
	uint64_t addr;
	enum rt_memory_kind kind;
	uint32_t owner;   /* RT_MEMORY_STACK, RT_MEMORY_TLS: the thread whose it is */
	uint64_t tls_end; /* RT_MEMORY_TLS: where RT_TLS_END stands for, in this thread */
	struct memory_block block;
};

struct held_lock {
	uint64_t addr;
	bool shared;
	uint64_t acquired;         /* number of the event that took it, described too */
	struct memory_block block; /* that the lock lies in, if its address was asked about */
};

struct description {
	struct rt_event event; /* as read from the trace */
	uint64_t *stack;       /* pcs: the event's own, then the call sites outwards */
	size_t stack_count;
	bool stack_cut; /* it had more frames than are kept */
	struct memory_place *places;
	size_t place_count;
	struct held_lock *locks; /* held at the event, in the order in which they were taken */
	size_t lock_count;
	uint64_t fork; /* number of the FORK of the event's thread, described too; 0: unknown */
};

/* Is the event of so many bytes (arg) of memory (addr): an access, or the allocation that a race is with? */
static inline bool description_has_size(const struct description *d)
{
	return (rt_op_is_access(d->event.op) && d->event.op != RT_OP_FENCE) || d->event.op == RT_OP_ALLOC;
}

struct descriptions;

/*
 * Describes the events of the queries (any order, repeats allowed) and what they lead to. One pass over the trace,
 * which is rewound first and read up to the last event asked about. On RT_OK *out is owned by the caller; it borrows
 * nothing.
 */
enum rt_status describe(struct rt_trace *trace, const struct describe_query *queries, size_t n,
                        struct descriptions **out, struct rt_error *err);
/* The description of an event; NULL if it was neither asked for nor led to. */
const struct description *description_of(const struct descriptions *d, uint64_t number);
/* Ordinal of an event that was asked about, 0 if it was not. */
uint64_t description_ordinal(const struct descriptions *d, uint64_t number);
/* What the queries of an event asked about this address; NULL: nothing. */
const struct memory_place *description_place(const struct description *d, uint64_t addr);
/* Was any stack longer than DESCRIBE_STACK_MAX? */
bool descriptions_cut(const struct descriptions *d);
/* True if more than DESCRIBE_LOCKS_MAX locks were held at some event. */
bool descriptions_locks_cut(const struct descriptions *d);
/* NULL is allowed. */
void descriptions_free(struct descriptions *d);

#endif
