/*
 * Passages of code that leaves no events: of atomic instructions that are not events (struct rt_hidden_atomic), and of
 * modules that are not instrumented.
 *
 * A passage is the stretch of a thread's events in which the instruction was executed, once or more: from the ENTER of
 * its function, or the last event before it, to the first event after it, or the LEAVE. While a call lasts its caller
 * executes nothing. Of a module that is not instrumented it is any stretch between its own events, which are its calls
 * of functions that are recorded.
 */
#ifndef LIB_SEARCH_PASSAGES_H
#define LIB_SEARCH_PASSAGES_H

#include "lib/trace/model.h"

struct passage {
	uint64_t open, close; /* event numbers; close is UINT64_MAX if the trace ends inside */
	uint32_t atomic;      /* index */
};

struct passages_thread {
	struct passage *items; /* one after the other */
	uint32_t count, capacity;
	uint64_t lock_open;   /* of the first one that may take a lock; UINT64_MAX if there is none */
	uint32_t lock_atomic; /* its atomic */
	/*
	 * By pos, bits, of PASSAGES_WRITE alone: behind the kept event before it the thread accessed memory of which
	 * the model has no events, as no other thread accesses it. writes: it wrote some. reads: it read a variable of
	 * a module that no event had written. Memory that has no name comes to a thread by what is recorded, or by a
	 * passage of its own.
	 */
	uint8_t *reads, *writes;
};

struct passages {
	const struct model *m;
	struct rt_hidden_atomic *atomics; /* by start; their texts are borrowed from the trace */
	bool *plain;                      /* of each: it is a whole module that is not instrumented */
	size_t atomic_count;
	struct passages_thread *threads; /* of the model; NULL: there are no atomics */
};

/* What the code of the passages may do. The latter two: of uninstrumented modules, and accesses without hooks. */
enum passages_kind { PASSAGES_ORDER, PASSAGES_WRITE, PASSAGES_READ, PASSAGES_KINDS };

/* Reads the trace once if it has any. All must be zeroed; the caller releases them in any case. */
enum rt_status passages_load(const struct model *m, struct passages of[PASSAGES_KINDS], struct rt_error *err);
void passages_release(struct passages *p);

/* pos of the first kept event of a thread with this number or a higher one. */
uint32_t passages_kept_from(const struct model *m, uint32_t thread, uint64_t number);
/* Number of the thread's passages that end at the number or before. */
uint32_t passages_ended(const struct passages_thread *t, uint64_t number);

#endif
