/*
 * Parts of events that a report needs and the model does not keep. One more pass over the trace looks them up for all
 * queried events, and for the events that these lead to. Those are the allocation of the block that an access falls
 * into, the acquires of the locks held, and the forks of the threads involved.
 */
#ifndef LIB_REPORT_DESCRIBE_H
#define LIB_REPORT_DESCRIBE_H

#include "lib/anomaly/limit.h"
#include "tracefmt/trace.h"

struct describe_query {
	uint64_t number; /* number of the event; 0: the query is about the address, for locks held there */
	uint64_t addr;   /* memory to describe as it is at the event: of an access, of a lock; 0: none */
	bool ordinal;    /* only the event's ordinal is wanted (addr is 0): a schedule needs very many */
	uint8_t waits;   /* of a deadlock's event that waits otherwise than its operation says: the operation; 0 */
};

/* A piece of memory that the program allocated, as it was at some event. */
struct memory_block {
	uint64_t address, size;
	uint64_t alloc; /* number of its ALLOC or MAP event, described too; 0: no such block */
	uint64_t freed; /* number of its FREE or UNMAP event, described too; 0: it is live */
	bool mapped;    /* MAP, not ALLOC */
};

/* A queried address, as it was at the event. */
struct memory_place {
	uint64_t addr;
	enum rt_memory_kind kind;
	uint32_t owner;   /* RT_MEMORY_STACK, RT_MEMORY_TLS: the thread that owns it */
	uint64_t tls_end; /* RT_MEMORY_TLS: the address that RT_TLS_END represents in this thread */
	uint64_t shared; /* RT_MEMORY_STACK: of the variable that an OpenMP region shares, see RT_SHARED_MAX; 0: none */
	struct memory_block block;
};

struct held_lock {
	uint64_t addr;
	bool shared;
	uint64_t acquired; /* number of the event that acquired it, described too */
	uint64_t taken; /* of the call that took it before a wait took it again, else of the same event; 0: unknown */
	struct memory_block block; /* the block that contains the lock, if its address was queried */
};

struct description {
	struct rt_event event; /* as read from the trace */
	uint64_t *stack;       /* pcs: the event's own, then the call sites outwards */
	size_t stack_count;
	bool stack_cut; /* it had more frames than are kept */
	struct memory_place *places;
	size_t place_count;
	struct held_lock *locks; /* held at the event, in the order of their acquires */
	size_t lock_count;
	bool is_lock;    /* of a SEM_WAIT: the semaphore is a lock that was asked about */
	uint8_t waits;   /* a query's, 0: none */
	uint32_t signal; /* in whose handler the event is; 0: in none */
	uint64_t fork;   /* number of the FORK of the event's thread, described too; 0: unknown */
};

/* True if the event is about this many bytes (arg) of memory (addr): an access, or the allocation of a race. */
static inline bool description_has_size(const struct description *d)
{
	return (rt_op_is_access(d->event.op) && d->event.op != RT_OP_FENCE) || d->event.op == RT_OP_ALLOC;
}

/* "SIGALRM", in whose handler the event is; "": in none. */
enum { DESCRIPTION_SIGNAL_MAX = 24 };
void description_signal(const struct description *d, char name[DESCRIPTION_SIGNAL_MAX]);

struct descriptions;

/*
 * Describes the events of the queries (any order, repeats allowed) and those that they lead to. Queries of event 0 have
 * the addresses of locks that are held. One pass over the trace, which is rewound first and read up to the last queried
 * event. On RT_OK the caller owns *out; it borrows nothing.
 */
enum rt_status describe(struct rt_trace *trace, const struct describe_query *queries, size_t n,
                        struct descriptions **out, struct rt_error *err);
/*
 * A trace that is described stretch by stretch: the state that the run had at the end of one is kept for the next, so
 * that each event is read once. Where that would take more than `most` bytes, later stretches are described from the
 * beginning of the trace. NULL without memory. The trace is borrowed.
 */
struct describe_pass;
struct describe_pass *describe_pass_create(struct rt_trace *trace, uint64_t most);
void describe_pass_free(struct describe_pass *pass);
/* Bytes that it may take beside those that it takes. */
uint64_t describe_pass_room(const struct describe_pass *pass);

/* The next stretch: up to event `last`, with the queries of its events. */
struct describe_stretch {
	struct describe_pass *pass;
	const struct rt_mark *from; /* of its first event, or before that; NULL: the trace's beginning */
	uint64_t last;
};
/* Like `describe`, of a stretch. */
enum rt_status describe_stretch(const struct describe_stretch *stretch, const struct describe_query *queries, size_t n,
                                struct descriptions **out, struct rt_error *err);

/* The description of an event; NULL if no query asks for it or leads to it. */
const struct description *description_of(const struct descriptions *d, uint64_t number);
/* Ordinal of a queried event; 0 if it was not queried. */
uint64_t description_ordinal(const struct descriptions *d, uint64_t number);
/* The answer to an event's query of this address; NULL if there is none. */
const struct memory_place *description_place(const struct description *d, uint64_t addr);
/* True if any stack was longer than LIMIT_STACK_FRAMES_MAX. */
bool descriptions_cut(const struct descriptions *d);
/* True if more than LIMIT_EVENT_LOCKS_MAX locks were held at some event. */
bool descriptions_locks_cut(const struct descriptions *d);
/* NULL is allowed. */
void descriptions_free(struct descriptions *d);

#endif
