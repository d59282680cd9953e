/* The event vocabulary: all operations that a trace can hold. Every source (recorder, STD, JSON lines) uses it. */
#ifndef TRACEFMT_EVENT_H
#define TRACEFMT_EVENT_H

#include <stdbool.h>
#include <stdint.h>

/* What an operation does, as far as code asks that of several operations. */
enum rt_trait {
	RT_READS = 1,        /* memory: an access */
	RT_WRITES = 2,       /* memory: an access */
	RT_ATOMIC = 4,       /* an access that is a synchronisation operation of the language */
	RT_TAKES = 8,        /* its thread holds a lock afterwards: the object, or the condition's mutex */
	RT_RELEASES = 16,    /* its thread held such a lock before */
	RT_WAITS = 32,       /* its thread may have to wait for others' operations: BLOCK tells of it */
	RT_WAKES = 64,       /* ends waits of threads that wait already, and no others */
	RT_FOLLOWS = 128,    /* comes after operations of other threads by the partial order relation, lock or not */
	RT_OF_THREAD = 256,  /* the object is a thread's index */
	RT_RENEWS = 512,     /* what has the object's addresses from here on is other memory */
	RT_ON_OBJECT = 1024, /* a call on an object in memory: may have RT_F_OBJECT */
	RT_STEPS = 2048      /* a step of a controlled run, as plain accesses may be: plans mark it */
};

/*
 * One line for each operation: X(NAME, text name, group, traits). The numbers are part of the file format: append,
 * never reorder. "object" below is rt_event.addr, "arg" is rt_event.arg.
 *
 * Code that has a rule for each operation is a switch without a default, in files that the Makefile compiles with
 * -Wswitch-enum: the compiler names those that an operation is missing from.
 */
#define RT_OPS(X)                                                                                                      \
	/* Bookkeeping of records (tracefmt/record.h); never returned as events. */                                    \
	X(NONE, "none", RECORD, 0)                                                                                     \
	X(EXT, "ext", RECORD, 0)                                                                                       \
	X(VALUE, "value", RECORD, 0)                                                                                   \
	X(SKIP, "skip", RECORD, 0)                                                                                     \
	/* Plain accesses. object: address. arg: size in bytes (1 to 16, or a range's length). */                      \
	X(READ, "read", MEMORY, RT_READS)                                                                              \
	X(WRITE, "write", MEMORY, RT_WRITES)                                                                           \
	/* Atomics. object: address, arg: size, order: C11 memory order as in <stdatomic.h>. */                        \
	X(ATOMIC_LOAD, "atomic-load", ATOMIC, RT_READS | RT_ATOMIC | RT_STEPS)                                         \
	X(ATOMIC_STORE, "atomic-store", ATOMIC, RT_WRITES | RT_ATOMIC | RT_STEPS)                                      \
	X(ATOMIC_RMW, "atomic-rmw", ATOMIC, RT_READS | RT_WRITES | RT_ATOMIC | RT_STEPS)                               \
	X(ATOMIC_CAS, "atomic-cas", ATOMIC, RT_READS | RT_WRITES | RT_ATOMIC | RT_STEPS) /* succeeded */               \
	X(ATOMIC_CAS_FAIL, "atomic-cas-fail", ATOMIC,                                                                  \
	  RT_READS | RT_ATOMIC | RT_STEPS)  /* failed: a load with the failure order */                                \
	X(FENCE, "fence", ATOMIC, RT_STEPS) /* object: 0 */                                                            \
	/* Locks. object: the lock. Only outermost levels of a recursive lock. Shared: reader locks. arg of ACQUIRE:   \
	 * 0, or the address that a task of OpenMP depends on, if the lock stands for this dependence. */              \
	X(ACQUIRE, "acquire", LOCK, RT_TAKES | RT_WAITS | RT_ON_OBJECT | RT_STEPS)                                     \
	X(ACQUIRE_SHARED, "acquire-shared", LOCK, RT_TAKES | RT_WAITS | RT_ON_OBJECT | RT_STEPS)                       \
	X(RELEASE, "release", LOCK, RT_RELEASES | RT_ON_OBJECT | RT_STEPS) /* of whichever mode is held */             \
	/* Conditions. object: the condition, arg: the mutex. WAIT_BEGIN also releases the mutex, WAIT_END also        \
	 * takes it again (no RELEASE, ACQUIRE of their own). WAIT_END: RT_F_TIMED if it may return unsignalled. */    \
	X(WAIT_BEGIN, "wait-begin", CONDITION, RT_RELEASES | RT_ON_OBJECT | RT_STEPS)                                  \
	X(WAIT_END, "wait-end", CONDITION, RT_TAKES | RT_WAITS | RT_FOLLOWS | RT_ON_OBJECT | RT_STEPS)                 \
	X(SIGNAL, "signal", CONDITION, RT_WAKES | RT_ON_OBJECT | RT_STEPS)                                             \
	X(BROADCAST, "broadcast", CONDITION, RT_WAKES | RT_ON_OBJECT | RT_STEPS)                                       \
	/* Barrier: object; arg: number of parties on arrival (0: unknown). */                                         \
	X(BARRIER_ARRIVE, "barrier-arrive", BARRIER, RT_ON_OBJECT | RT_STEPS)                                          \
	X(BARRIER_LEAVE, "barrier-leave", BARRIER, RT_WAITS | RT_FOLLOWS)                                              \
	/* Semaphores. arg of init: the initial value. */                                                              \
	X(SEM_INIT, "sem-init", SEMAPHORE, 0)                                                                          \
	X(SEM_POST, "sem-post", SEMAPHORE, RT_FOLLOWS | RT_ON_OBJECT | RT_STEPS)                                       \
	X(SEM_WAIT, "sem-wait", SEMAPHORE, RT_WAITS | RT_FOLLOWS | RT_ON_OBJECT | RT_STEPS)                            \
	/* Once, static-initialisation guards. BEGIN: this thread runs it. END: it ran (by this thread). ONCE_SEEN:    \
	 * this thread came later and sees that it ran. */                                                             \
	X(ONCE_BEGIN, "once-begin", ONCE, RT_STEPS)                                                                    \
	X(ONCE_END, "once-end", ONCE, RT_STEPS)                                                                        \
	X(ONCE_SEEN, "once-seen", ONCE, RT_WAITS | RT_FOLLOWS | RT_STEPS)                                              \
	/* Threads. object of fork, join, detach: the other thread's index. */                                         \
	X(FORK, "fork", THREAD, RT_OF_THREAD | RT_STEPS)                                                               \
	X(JOIN, "join", THREAD, RT_OF_THREAD | RT_WAITS | RT_FOLLOWS | RT_STEPS)                                       \
	X(BEGIN, "begin", THREAD, RT_RENEWS) /* object: stack base, arg: stack size (0: unknown) */                    \
	X(END, "end", THREAD, 0)                                                                                       \
	X(DETACH, "detach", THREAD, RT_OF_THREAD)                                                                      \
	/* Heap and address space. object: block, arg: size. REALLOC is FREE, ALLOC, then a WRITE of what is kept. */  \
	X(ALLOC, "alloc", HEAP, RT_RENEWS)                                                                             \
	X(FREE, "free", HEAP, 0)                                                                                       \
	X(MAP, "map", HEAP, RT_RENEWS)                                                                                 \
	X(UNMAP, "unmap", HEAP, RT_RENEWS)                                                                             \
	/* Code. ENTER: pc is the call site in the caller. */                                                          \
	X(ENTER, "enter", CODE, 0)                                                                                     \
	X(LEAVE, "leave", CODE, 0)                                                                                     \
	X(MODULE_LOAD, "module-load", CODE, 0)                                                                         \
	X(MODULE_UNLOAD, "module-unload", CODE, 0)                                                                     \
	/* Annotations. object: address or 0; REGION: an explicit atomic region. HB_BEFORE(x) happens-before every     \
	 * later HB_AFTER(x). Their arg: 0, or a size: it holds only if the thread accesses one of that many bytes.    \
	 * NEW_MEMORY: object, arg size. */                                                                            \
	X(REGION_BEGIN, "region-begin", ANNOTATION, 0)                                                                 \
	X(REGION_END, "region-end", ANNOTATION, 0)                                                                     \
	X(HB_BEFORE, "hb-before", ANNOTATION, RT_STEPS)                                                                \
	X(HB_AFTER, "hb-after", ANNOTATION, RT_FOLLOWS)                                                                \
	X(IGNORE_BEGIN, "ignore-begin", ANNOTATION, 0) /* arg: bit 0 reads, bit 1 writes, bit 2 synchronisation */     \
	X(IGNORE_END, "ignore-end", ANNOTATION, 0)                                                                     \
	X(BENIGN, "benign", ANNOTATION, 0)                                                                             \
	X(NEW_MEMORY, "new-memory", ANNOTATION, RT_RENEWS)                                                             \
	/* arg: number of events of this thread that are missing here; object: enum rt_lost. */                        \
	X(LOST, "lost", BOOKKEEPING, 0)                                                                                \
	/* LONGJMP: the calls that are open are those that were at the thread's last SETJMP of the object. */          \
	X(SETJMP, "setjmp", CODE, 0)                                                                                   \
	X(LONGJMP, "longjmp", CODE, 0)                                                                                 \
	/* Where the thread's thread-local memory begins, arg: its size. The thread pointer is at its end. */          \
	X(TLS, "tls", THREAD, 0)                                                                                       \
	/* An access as of READ or WRITE that faulted and so did not take place. */                                    \
	X(FAULT, "fault", MEMORY, 0)                                                                                   \
	/* arg: the operation that the thread waits to do to the object: ACQUIRE, ACQUIRE_SHARED, WAIT_END,            \
	 * BARRIER_LEAVE, SEM_WAIT, ONCE_SEEN or JOIN. BLOCK: it waits from here until it does it (ONCE_BEGIN also     \
	 * does), or until UNBLOCK: it has not (RT_F_TIMEOUT: in time). RT_F_TIMED: others than this process's threads \
	 * may end the wait: a time, another process. TRY_FAILED: it would have had to wait, and did not. Of a wait in \
	 * the kernel arg is HB_AFTER, and value an rt_call_value: it was asleep there, and is when the trace ends. So \
	 * is one for WAIT_END with a value. */                                                                        \
	X(BLOCK, "block", BLOCKING, 0)                                                                                 \
	X(UNBLOCK, "unblock", BLOCKING, 0)                                                                             \
	X(TRY_FAILED, "try-failed", BLOCKING, 0)                                                                       \
	/* Memory of arg bytes is mapped at several addresses: what plain accesses do at the object, from here on,     \
	 * they do at the address `value`; if that is the object, it ends. All other events have that address          \
	 * themselves. */                                                                                              \
	X(ALIAS, "alias", HEAP, 0)                                                                                     \
	/* The object is memory that has the variables which threads of an OpenMP region share; arg: where its         \
	 * function begins, pc: behind that. */                                                                        \
	X(SHARED, "shared", BOOKKEEPING, 0)

enum rt_op {
#define X(name, text, group, traits) RT_OP_##name,
	RT_OPS(X)
#undef X
} __attribute__((packed)); /* one byte, as a field */

enum {
#define X(name, text, group, traits) +1
	RT_OP_COUNT_ = RT_OPS(X)
#undef X
};
#define RT_OP_COUNT ((unsigned)RT_OP_COUNT_)

/* Operations that rules treat alike, as labels of a switch: those that are no events, and accesses. */
#define RT_CASES_RECORD                                                                                                \
	case RT_OP_NONE:                                                                                               \
	case RT_OP_EXT:                                                                                                \
	case RT_OP_VALUE:                                                                                              \
	case RT_OP_SKIP
#define RT_CASES_ACCESS                                                                                                \
	case RT_OP_READ:                                                                                               \
	case RT_OP_WRITE:                                                                                              \
	case RT_OP_ATOMIC_LOAD:                                                                                        \
	case RT_OP_ATOMIC_STORE:                                                                                       \
	case RT_OP_ATOMIC_RMW:                                                                                         \
	case RT_OP_ATOMIC_CAS:                                                                                         \
	case RT_OP_ATOMIC_CAS_FAIL

enum rt_group {
	RT_GROUP_RECORD,
	RT_GROUP_MEMORY,
	RT_GROUP_ATOMIC,
	RT_GROUP_LOCK,
	RT_GROUP_CONDITION,
	RT_GROUP_BARRIER,
	RT_GROUP_SEMAPHORE,
	RT_GROUP_ONCE,
	RT_GROUP_THREAD,
	RT_GROUP_HEAP,
	RT_GROUP_CODE,
	RT_GROUP_ANNOTATION,
	RT_GROUP_BOOKKEEPING,
	RT_GROUP_BLOCKING,
	RT_GROUP_COUNT
};

/* Why events are missing (object of LOST). */
enum rt_lost {
	RT_LOST_SIGNAL = 1, /* a signal handler ran inside the recorder */
	RT_LOST_COLLECTOR,  /* the collector could not read on */
	RT_LOST_THREAD,     /* an unrecorded thread is created here (arg: 1), or joined (0) */
	RT_LOST_UNSEEN,     /* number of unrecorded threads whose creation was not seen */
	RT_LOST_CALL,       /* a call whose orders are not understood (io_uring) */
	RT_LOST_START,      /* the trace begins in the middle of the run: what came before is known as a state */
	RT_LOST_ORDER       /* all that other threads have done comes before it (__tsan_java_finalize) */
};

/* rt_event.flags */
enum {
	RT_F_VALUE = 1,    /* rt_event.value holds the value read; of what only writes, the value written */
	RT_F_VOLATILE = 2, /* a volatile access */
	RT_F_TIMED = 4,    /* WAIT_END that needs no signal to return; timed or try lock, join */
	RT_F_TIMEOUT = 8,  /* WAIT_END that timed out: no signal woke it */
	RT_F_VPTR = 16,    /* access to a C++ object's vtable pointer */
	/* WRITE: init or destroy of a synchronisation object. READ: a call on one. Synchronisation: the call also reads
	 * its object's memory (WAIT_END: its mutex's), as an atomic does; it must not race with those writes or with
	 * free(). */
	RT_F_OBJECT = 32,
	RT_F_FREE = 64,      /* WRITE that stands for free() of the block */
	RT_F_PLAIN = 128,    /* READ, WRITE of machine code: no atomic access is compiled to this instruction */
	RT_F_SIGNALLED = 128 /* WAIT_END that may return unsignalled, but something else then: it returned in time */
};

/*
 * Objects of HB_BEFORE and HB_AFTER that have no memory. RT_SIGNAL_OBJECT + number: a signal; BEFORE: sent, or its
 * handler installed; AFTER: delivered. With number 0: a function that the C library calls in another thread.
 */
#define RT_SIGNAL_OBJECT 8192u
#define RT_SIGNAL_OBJECTS 65u

/*
 * What a thread waits for in a call of the kernel: X(NAME, name, text before what it waits in). The numbers are part of
 * the file format.
 */
#define RT_CALLS(X)                                                                                                    \
	X(READ, "read", "data from")                                                                                   \
	X(WRITE, "write", "room in")                                                                                   \
	X(POLL, "poll", "events of descriptors")                                                                       \
	X(ACCEPT, "accept", "a connection to")                                                                         \
	X(CONNECT, "connect", "the connection of")                                                                     \
	X(FUTEX, "futex", "a wake of the futex")                                                                       \
	X(FILE_LOCK, "file-lock", "the lock of the file of")                                                           \
	X(MESSAGE, "message", "a message queue of System V")                                                           \
	X(SEMAPHORE, "semaphore", "semaphores of System V")                                                            \
	X(SIGNAL, "signal", "a signal to this process")                                                                \
	X(CHILD, "child", "the end of another process")                                                                \
	X(TIME, "time", "a time")                                                                                      \
	X(OUTSIDE, "outside", "something outside of the program")

enum rt_call_kind {
	RT_CALL_NONE,
#define X(name, text, what) RT_CALL_##name,
	RT_CALLS(X)
#undef X
	    RT_CALL_COUNT
};

/*
 * Value of such a BLOCK: the kind; the descriptor, -1: none; of a lock of a file the index of the thread that took it
 * as it is, RT_CALL_NO_HOLDER: unknown. Its object is the one that HB_BEFORE of what would end the wait has;
 * RT_SEVERAL_OBJECTS: one of those without memory, but for signals.
 */
#define RT_CALL_NO_HOLDER UINT32_MAX
#define RT_SEVERAL_OBJECTS 1u
/* Programs have no memory below the lowest page that may be mapped, nor in the kernel's half. */
static inline bool rt_is_one_of_several(uint64_t object)
{
	bool signal = object >= RT_SIGNAL_OBJECT && object < RT_SIGNAL_OBJECT + RT_SIGNAL_OBJECTS;
	return (object < 65536 && !signal) || object >= UINT64_C(1) << 47;
}
static inline uint64_t rt_call_value(unsigned kind, int32_t descriptor, uint32_t holder)
{
	return (uint64_t)(kind & 255) | (uint64_t)((uint32_t)(descriptor + 1)) << 8 |
	       (uint64_t)(holder < 0xffffff ? holder + 1 : 0) << 40;
}
static inline unsigned rt_call_kind(uint64_t value)
{
	return value & 255;
}
static inline int32_t rt_call_descriptor(uint64_t value)
{
	return (int32_t)((uint32_t)(value >> 8) - 1);
}
static inline uint32_t rt_call_holder(uint64_t value)
{
	return value >> 40 ? (uint32_t)(value >> 40) - 1 : RT_CALL_NO_HOLDER;
}
/* Name of a kind ("read"), and in words ("data from"); never NULL: numbers out of range are OUTSIDE. */
const char *rt_call_name(unsigned kind);
const char *rt_call_text(unsigned kind);

#define RT_OPERAND_BITS 48
#define RT_OPERAND_MAX ((UINT64_C(1) << RT_OPERAND_BITS) - 1)

/* Names of memory at addresses by which other memory is still known; programs have nothing there. */
#define RT_RENAMED UINT64_C(0x300000000000)
#define RT_RENAMED_END UINT64_C(0x400000000000)

/* True if the operand is where memory begins or ends that has arg bytes: ALIAS says by what it is known. */
static inline bool rt_op_is_range(unsigned op)
{
	return op == RT_OP_BEGIN || op == RT_OP_ALLOC || op == RT_OP_FREE || op == RT_OP_MAP || op == RT_OP_UNMAP ||
	       op == RT_OP_NEW_MEMORY;
}

/* One event, decoded. */
struct rt_event {
	uint64_t number;  /* place in the trace's global order, from 1; the line number in an STD file */
	uint64_t ordinal; /* place in its thread, from 1, counting the accesses that were left out as repeats */
	uint64_t stamp;   /* global clock; comparable between threads; exact at synchronisation events */
	uint64_t addr;    /* object, 48 bits */
	uint64_t arg;     /* second operand: size, mutex, ... */
	uint64_t pc;      /* source position's key: code address, or index of an STD location */
	uint64_t value;   /* if RT_F_VALUE */
	uint32_t thread;  /* index into the trace's thread table; 0 is main */
	enum rt_op op;
	uint8_t order; /* C11 memory order, atomics only */
	uint8_t flags;
	uint8_t reserved : 7;
	bool gap : 1; /* its thread repeated accesses, which were left out, since its last event that was returned */
};

_Static_assert(sizeof(struct rt_event) == 64, "an event is a line of the cache");

/* Text name of an operation ("acquire"), never NULL; "unknown" for numbers out of range. */
const char *rt_op_name(unsigned op);
/* Text name of a C11 memory order ("seq_cst"); NULL for numbers out of range. */
const char *rt_memory_order_name(unsigned order);
/* Text name of the operation's flag with this number of a bit, below 8 ("volatile"). */
const char *rt_flag_name(unsigned op, unsigned bit);
/* Group of an operation; RT_GROUP_RECORD for numbers out of range. */
enum rt_group rt_op_group(unsigned op);
/* Text name of a group ("lock"). */
const char *rt_group_name(enum rt_group group);
/* Operation with this text name; RT_OP_NONE if there is none. */
enum rt_op rt_op_parse(const char *name);

/* The operations that have one of the traits, as a mask: bit i is operation i. */
__attribute__((always_inline)) static inline uint64_t rt_ops_with(unsigned traits)
{
#define X(name, text, group, has) | (uint64_t)(((has)&traits) != 0) << RT_OP_##name
	return 0 RT_OPS(X);
#undef X
}

/* True if the operation has one of the traits. None has, of a number out of range. */
static inline bool rt_op_has(unsigned op, unsigned traits)
{
	return op < RT_OP_COUNT && rt_ops_with(traits) >> op & 1;
}

/* True if the operation reads or writes memory (plain or atomic). A failed compare-exchange only reads. */
static inline bool rt_op_is_access(unsigned op)
{
	return rt_op_has(op, RT_READS | RT_WRITES);
}
static inline bool rt_op_writes(unsigned op)
{
	return rt_op_has(op, RT_WRITES);
}
static inline bool rt_op_reads(unsigned op)
{
	return rt_op_has(op, RT_READS);
}
static inline bool rt_op_is_atomic(unsigned op)
{
	return rt_op_has(op, RT_ATOMIC);
}

/* True if the event's object is a thread's index. */
static inline bool rt_event_is_of_thread(const struct rt_event *e)
{
	return rt_op_has(e->op, RT_OF_THREAD) || (rt_op_group(e->op) == RT_GROUP_BLOCKING && e->arg == RT_OP_JOIN);
}

#endif
