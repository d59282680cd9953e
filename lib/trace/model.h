/*
 * The loaded trace: the events that can matter to an analysis.
 *
 * Loading takes two passes over the file. The first finds which addresses more than one thread touches and some thread
 * writes after the first fork, and where accesses cut them. The second keeps the accesses of those and all
 * synchronisation. A later pass (describe.h) looks up the rest of an event: ordinal, stack, address.
 *
 * Everything is named by index, not by pointer: event (place among the kept events in global order, from 0), thread,
 * cell, lock, lockset, region, segment, site.
 */
#ifndef LIB_TRACE_MODEL_H
#define LIB_TRACE_MODEL_H

#include "lib/base/lower_bound.h"
#include "lib/trace/losses.h"
#include "tracefmt/trace.h"

#define MODEL_NONE UINT32_MAX

/*
 * The operations that the loader keeps no event of, as labels of a switch. Such a switch names these and each of the
 * others (-Wswitch-enum): a new operation is missing from all of them until it has its rule.
 */
#define MODEL_CASES_NEVER_KEPT                                                                                         \
	RT_CASES_RECORD:                                                                                               \
	case RT_OP_BEGIN:                                                                                              \
	case RT_OP_END:                                                                                                \
	case RT_OP_DETACH:                                                                                             \
	case RT_OP_FREE:                                                                                               \
	case RT_OP_MAP:                                                                                                \
	case RT_OP_UNMAP:                                                                                              \
	case RT_OP_ENTER:                                                                                              \
	case RT_OP_LEAVE:                                                                                              \
	case RT_OP_MODULE_LOAD:                                                                                        \
	case RT_OP_MODULE_UNLOAD:                                                                                      \
	case RT_OP_IGNORE_BEGIN:                                                                                       \
	case RT_OP_IGNORE_END:                                                                                         \
	case RT_OP_BENIGN:                                                                                             \
	case RT_OP_NEW_MEMORY:                                                                                         \
	case RT_OP_LOST:                                                                                               \
	case RT_OP_SETJMP:                                                                                             \
	case RT_OP_LONGJMP:                                                                                            \
	case RT_OP_TLS:                                                                                                \
	case RT_OP_FAULT:                                                                                              \
	case RT_OP_UNBLOCK:                                                                                            \
	case RT_OP_TRY_FAILED:                                                                                         \
	case RT_OP_ALIAS:                                                                                              \
	case RT_OP_SHARED

/* One kept event; 20 bytes. Events are in global order. */
struct model_event {
	uint32_t number;  /* rt_event.number */
	uint32_t segment; /* index: its thread, locks held, region */
	uint32_t object;  /* accesses: first cell; sync: lock, condition, barrier, ... index; fork, join (BLOCK for it):
	                     thread */
	uint32_t site;    /* index: position, operation, size */
	uint32_t pos;     /* place among the kept events of its thread, from 0 */
};

/* Operation and position, which many events share. Interned. */
struct model_site {
	uint64_t pc;
	/* Of what library code does: the innermost call site in the program's own code. Of acquires, which often are in
	 * a function of their own: the next one outwards, too. 0: none. */
	uint64_t caller, outer;
	uint32_t cells; /* accesses: number of consecutive cells from `object` on */
	enum rt_op op;
	uint8_t order, flags; /* flags: rt_event.flags without RT_F_VALUE, and MODEL_F_… */
};
/* The source position of the site's events, as a number: anomalies are told apart by it. The pc alone, without callers.
 */
static inline uint64_t model_position(const struct model_site *site)
{
	return site->caller || site->outer
	           ? ((site->pc * UINT64_C(0x9e3779b97f4a7c15) ^ site->caller) * UINT64_C(0x9e3779b97f4a7c15) ^
	              site->outer) *
	                 UINT64_C(0x9e3779b97f4a7c15)
	           : site->pc;
}
#define MODEL_F_CUT 8      /* an access: some of its bytes have no cell; others have RT_F_TIMEOUT there */
#define MODEL_F_SHARED 128 /* RELEASE: of a reader's hold; an access has RT_F_PLAIN there */

/*
 * A stretch of one thread between two synchronisation events; it includes the event that begins it. Fences and atomic
 * loads that may acquire begin one as well: a partial order that joins clocks at synchronisation events can keep its
 * clocks by segment.
 */
struct model_segment {
	uint32_t thread;
	uint32_t first;   /* pos of its first event */
	uint32_t lockset; /* locks held by its accesses, index into locksets */
	uint32_t region;  /* atomic region, MODEL_NONE: none */
};

/* The largest piece of memory that no access cuts, between two allocations. */
struct model_cell {
	uint64_t addr;
	uint32_t size;
	uint32_t first, count; /* its accesses: model.cell_events[first .. first + count), in global order */
	uint32_t lockset;      /* the lockset of all its accesses; MODEL_NONE: they differ */
	bool renewed;          /* allocated or mapped in the trace: its initial content is of no fixed value */
};

enum model_object_kind {
	OBJECT_LOCK,
	OBJECT_CONDITION,
	OBJECT_BARRIER,
	OBJECT_SEMAPHORE,
	OBJECT_ONCE,
	OBJECT_ANNOTATION
};
struct model_object {
	uint64_t addr;
	enum model_object_kind kind;
	bool stray; /* OBJECT_LOCK: when the trace ends, a thread other than its holder has released it */
	bool lock;  /* OBJECT_SEMAPHORE: it is used as one (semaphores.c): waits take it, posts release it */
};

struct model_lock {
	uint32_t object; /* index into objects */
	uint32_t shared; /* held as a reader */
};
/* An interned set of locks held, sorted by object. Set 0 is the empty one. */
struct model_lockset {
	const struct model_lock *locks;
	uint32_t count;
};

/* One atomic region: events [first, last] of a thread by pos; last is MODEL_NONE while open at the end of the trace. */
struct model_region {
	uint32_t thread, first, last;
};

/* The second operand of a synchronisation event. */
struct model_arg {
	uint32_t event; /* index; rising */
	uint32_t value; /* WAIT_BEGIN, WAIT_END: the mutex (object index); SEM_INIT: value; BARRIER_ARRIVE: parties;
	                 * BLOCK: the operation */
};

/* The values of accesses of up to 8 bytes, where they are recorded: the one read, or else the one written. */
struct model_values {
	uint64_t *bits;   /* in the order of the events; the lowest byte is the first one of the access's first cell */
	uint64_t *has;    /* by event, bits: it has one */
	uint32_t *before; /* by MODEL_VALUES_GROUP events: number of values before theirs */
};
enum { MODEL_VALUES_GROUP = 64 };

/*
 * The first use of a block by another thread than the one that allocated it, in memory not used before. The allocation
 * is no access: it comes before every use in each run. The question is only whether some order makes it visible to the
 * user.
 */
struct model_alloc_use {
	uint32_t alloc; /* event index of the ALLOC */
	uint32_t use;   /* event index of the thread's first such access of the block; rising */
	uint32_t meets; /* number of the user's first access that conflicts with an access of the owner in the block; 0:
	                   none */
	/* The block that had the memory before. The user's pointer may be one of it. */
	uint32_t freed;                /* event index of its free; MODEL_NONE: there is none */
	uint32_t former_owner, former; /* thread and number of its ALLOC, which is no kept event; 0: there is none */
};

/* Events of one thread that follow one another in the trace, up to the next thread's turn. */
struct model_turn {
	uint32_t first; /* event index */
	uint32_t thread;
};

struct model_thread {
	const uint32_t *events; /* event indices by pos */
	uint32_t count;
	uint32_t fork, join; /* event indices of its FORK and JOIN in other threads, MODEL_NONE: none */
	uint32_t block;      /* event index of the BLOCK that it waits at when the trace ends, MODEL_NONE: none */
	uint64_t call;       /* if it was asleep at that: an rt_call_value */
	bool ended;          /* it has an END */
	bool lost;           /* events of it are missing */
};

enum model_regions { REGIONS_LOCKS, REGIONS_FUNCTIONS, REGIONS_ANNOTATED };

/* What is known of a model after the first pass, and after the second. */
struct model_size {
	uint64_t events; /* that are kept, at most */
	uint64_t syncs;  /* of these, all but plain accesses */
	uint64_t bytes;  /* that are needed until the model is loaded: of the shadow memory, and of cells */
	uint64_t cells, entries, values; /* lengths of these arrays; 0: not known yet */
	uint64_t receives;               /* reads of what another thread wrote, of each such thread; 0: not known yet */
};

/* An event, by its thread's index and its ordinal there. */
struct model_wanted {
	uint32_t thread;
	uint64_t ordinal;
};

struct model_options {
	enum model_regions regions;
	bool part;      /* the trace is a part of another one: any thread may post a semaphore later */
	bool objects;   /* leave out accesses of objects that keep the ownership rule (ownership.h) */
	bool ahead;     /* read the trace in a thread of its own (tracefmt/ahead.h), where it can be */
	bool all_cells; /* also cells that only one thread accesses, or none writes */
	bool all_reads; /* also third and later plain reads in a row that see the same write */
	/* Events that are kept, if their cells are, though they are third or later of such a row. */
	const struct model_wanted *wanted;
	uint32_t wanted_count;
	/* Asked in each pass, of what is known so far, and after it, before anything large is made: RT_OK, or why the
	 * model is not to be loaded. NULL: it is. */
	enum rt_status (*admit)(void *arg, const struct rt_trace_info *info, const struct model_size *size,
	                        struct rt_error *err);
	void *admit_arg;
};

struct model {
	struct rt_trace *trace; /* borrowed */
	struct model_event *events;
	uint32_t event_count;
	struct model_site *sites;
	uint32_t site_count;
	struct model_segment *segments;
	uint32_t segment_count;
	struct model_cell *cells;
	uint32_t cell_count;
	uint32_t *cell_events; /* event indices, cell by cell */
	struct model_object *objects;
	uint32_t object_count;
	struct model_lockset *locksets;
	uint32_t lockset_count;
	struct model_region *regions;
	uint32_t region_count;
	struct model_thread *threads;
	uint32_t thread_count;
	uint32_t *sync; /* event indices of all but plain accesses, in global order */
	uint32_t sync_count;
	struct model_turn *turns; /* all of the trace's */
	uint32_t turn_count;
	uint64_t ops; /* bit i: an event with operation i was kept */
	bool part;    /* of another trace: see model_options */
	bool program; /* recorded from one: what a thread reads may decide what it does next */
	struct model_arg *args;
	uint32_t arg_count;
	struct model_values values; /* zero: the trace has none */
	uint32_t value_count;
	uint8_t *updates; /* by event, bits: reads that may see any write, see updates.c. NULL: there are none */
	uint8_t
	    *raced; /* by entry of cell_events, bits: lib/relation/raced.h. NULL: the order is exact, or not known */
	struct model_alloc_use *alloc_uses;
	uint32_t alloc_use_count;
	struct model_granularity {
		uint64_t objects, shared, refined; /* objects 0: bytes alone were looked at */
	} granularity;
	/* Loads that find a static local initialised, or a future's result set, which would wait for that before; by
	 * event. */
	struct model_pass {
		uint32_t event, once; /* once: object */
		uint32_t set, from; /* of a future: the end of the routine that sets it; from where (pos) on its thread
		                       certainly is the one to do it. set is MODEL_NONE else */
	} * passes;
	uint32_t pass_count, pass_capacity;
	struct losses losses; /* orders that the trace lacks */
	/* Tries of locks and semaphores that failed, in the trace's order. */
	struct model_try {
		uint32_t thread, number, object; /* number: rt_event.number */
		uint8_t op;                      /* what was tried: ACQUIRE, ACQUIRE_SHARED, SEM_WAIT */
	} * tries;
	uint32_t try_count, try_capacity;
	/* Where threads repeated accesses that the recorder left out: by thread, those of one epoch in the trace's
	 * order (gaps.c). None in a trace with values, where repeats see and leave the same, but for those that
	 * Valgrind recorded: there, what has no value may not. */
	struct model_gap {
		uint32_t thread, first, last; /* numbers of the first and the last event that repeats come before */
	} * gaps;
	uint32_t gap_count, gap_capacity;
	struct model_size size;  /* as it was known before the model was indexed */
	uint64_t dropped;        /* accesses that were dropped early */
	uint32_t *thread_events; /* the memory that threads[].events point into */
	/* Of a window that begins later than its trace: number of the event before it, and by thread the ordinal of its
	 * last event up to there (0: none). 0 and NULL: it begins with the trace. */
	uint64_t recorded, *ordinals_before;
};

/* Loads a trace (rewinds it first). On RT_OK *out is owned by the caller; the trace must outlive it. */
enum rt_status model_load(struct rt_trace *trace, const struct model_options *options, struct model **out,
                          struct rt_error *err);
void model_free(struct model *m);
/* Bytes of the model's arrays, as far as they are used. */
uint64_t model_bytes(const struct model *m);
/* What is wrong with the model's arrays, for tests; NULL: each is as it is described here. */
const char *model_broken(const struct model *m);

static inline enum rt_op model_op(const struct model *m, uint32_t e)
{
	return m->sites[m->events[e].site].op;
}
static inline uint32_t model_thread_of(const struct model *m, uint32_t e)
{
	return m->segments[m->events[e].segment].thread;
}
static inline uint32_t model_lockset_of(const struct model *m, uint32_t e)
{
	return m->segments[m->events[e].segment].lockset;
}
/* The lock, if it is in the lockset; NULL: it is not. */
static inline const struct model_lock *model_lockset_lock(const struct model *m, uint32_t lockset, uint32_t lock)
{
	const struct model_lockset *s = &m->locksets[lockset];
	uint32_t at = lower_bound(i, 0, s->count, s->locks[i].object < lock);
	return at < s->count && s->locks[at].object == lock ? &s->locks[at] : NULL;
}
/* The source position of an event, see model_position. */
static inline uint64_t model_position_of(const struct model *m, uint32_t e)
{
	return model_position(&m->sites[m->events[e].site]);
}
/* Second operand of a synchronisation event (struct model_arg); MODEL_NONE if it has none. */
uint32_t model_arg(const struct model *m, uint32_t e);
/* The lock that an event acquires or releases (object index); MODEL_NONE if it does neither. */
uint32_t model_lock_taken(const struct model *m, uint32_t e);
uint32_t model_lock_released(const struct model *m, uint32_t e);
/* The once flag whose routine the event comes after, and would wait for; MODEL_NONE: none. */
uint32_t model_once_passed(const struct model *m, uint32_t e);
/* The entry of an event that finds a future's result set; NULL: it is none. */
const struct model_pass *model_result_passed(const struct model *m, uint32_t e);
/* True if the event is a read that may see any write, as its value decides only what its thread writes next. */
static inline bool model_is_update(const struct model *m, uint32_t e)
{
	return m->updates && m->updates[e / 8] >> e % 8 & 1;
}

/* True if the access's value was recorded. For traces with values. */
static inline bool model_has_value(const struct model *m, uint32_t e)
{
	return m->values.has[e / MODEL_VALUES_GROUP] >> e % MODEL_VALUES_GROUP & 1;
}
/* The part of an access's value that belongs to one of its cells. False if it was not recorded. */
bool model_value(const struct model *m, uint32_t e, uint32_t cell, uint64_t *bits);
/* True if the access at this entry of cell_events may race with a write, so that its value is uncertain. */
bool model_raced(const struct model *m, uint32_t entry);
/* True if the two sets have a common lock that excludes the holders (not both as readers). */
int model_locksets_exclude(const struct model *m, uint32_t a, uint32_t b);
/* True if the accesses conflict: different threads, at least one write, not both atomic. That both access the same cell
 * is up to the caller. */
int model_conflict(const struct model *m, uint32_t e1, uint32_t e2);
/* The event that the thread executes after its first `executed` events; MODEL_NONE if that was its last. Its earlier
 * events are those of lower index. */
static inline uint32_t model_next(const struct model *m, uint32_t thread, uint32_t executed)
{
	return executed < m->threads[thread].count ? m->threads[thread].events[executed] : MODEL_NONE;
}
/* Number of the thread's events that come before `event` in the trace. */
uint32_t model_executed(const struct model *m, uint32_t thread, uint32_t event);
/* Length of cell_events. */
static inline uint32_t model_entries(const struct model *m)
{
	return m->cell_count ? m->cells[m->cell_count - 1].first + m->cells[m->cell_count - 1].count : 0;
}
/* Entry of an access in the list of a cell that it touches: an index into cell_events. */
uint32_t model_entry(const struct model *m, uint32_t cell, uint32_t e);
/* The same; entry: e's in the cell before. Cells that are accessed together have it at the same place. */
uint32_t model_entry_behind(const struct model *m, uint32_t cell, uint32_t e, uint32_t entry);
/* The event of e's thread right before it, MODEL_NONE if it is the first. */
static inline uint32_t model_pred(const struct model *m, uint32_t e)
{
	uint32_t pos = m->events[e].pos;
	return pos ? m->threads[model_thread_of(m, e)].events[pos - 1] : MODEL_NONE;
}

#endif
