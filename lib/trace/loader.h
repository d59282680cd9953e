/*
 * The loader's internals, shared by its files: model.c (the passes), threads.c (a thread's locks and regions),
 * blocked.c (waits at the end), semaphores.c (semaphores that are locks), cells.c (cells and their generations),
 * objects.c (synchronisation objects as memory), alloc_uses.c (blocks used by another thread than the one that
 * allocated them), contract.c (orders). No other file includes this.
 */
#ifndef LIB_TRACE_LOADER_H
#define LIB_TRACE_LOADER_H

#include "lib/base/set.h"
#include "lib/trace/intern.h"
#include "lib/trace/jumps.h"
#include "lib/trace/own_code.h"
#include "lib/trace/reused.h"
#include "lib/trace/shadow.h"
#include "tracefmt/alias.h"

struct held_lock {
	uint32_t object, shared, depth;
	uint64_t number; /* of the acquiring event */
	uint64_t stray;  /* number of the first release of it by another thread; 0: none */
};

/* A wait that has not ended. */
struct blocked {
	uint64_t addr, number;
	uint8_t op;
};

/* The state of a thread when the trace ended. */
struct thread_end {
	uint64_t block; /* number of the BLOCK that it waits at; 0: it does not wait */
	bool ended, lost;
	bool accesses_local; /* any byte on whose accesses its HB_BEFORE and HB_AFTER depend */
};

/* A call that has not returned. */
struct activation {
	uint64_t caller,
	    outer;       /* the innermost call sites in the program's own code, as far as it; 0: none, or unwanted */
	uint32_t region; /* REGIONS_FUNCTIONS: MODEL_NONE while it has no event */
};

struct loader_thread {
	uint32_t pos;     /* of the next kept event */
	uint32_t last;    /* event index of the last kept event */
	uint32_t segment; /* of that event */
	uint32_t spun;    /* event index of a read that repeats the event before it; cells.c */
	uint64_t value;   /* of the last kept access, 0 if it has none */
	bool stale;       /* the next event begins a segment, whatever its operation */
	struct spin {
		uint64_t addr, pc, writes; /* pass one: of its last event, if that is an atomic load; else addr is 0 */
		uint32_t times;
	} spin;
	bool seen, forked;
	uint32_t locks;      /* pass one: acquires less releases */
	uint32_t fork, join; /* event indices, MODEL_NONE */
	bool forked_again;   /* after it began; the next event comes after that fork */
	uint32_t ignored[3]; /* depths: reads, writes, synchronisation */
	struct held_lock *held;
	uint32_t held_count, held_capacity;
	uint32_t gap;        /* pass two: the index of its epoch's entry in model.gaps + 1; 0: it has none */
	uint32_t wait_depth; /* recursion depth of the mutex that a wait has released */
	uint32_t lockset;
	uint32_t region;           /* open one, MODEL_NONE */
	uint32_t annotated;        /* depth of REGION_BEGIN */
	struct activation *frames; /* REGIONS_FUNCTIONS, and where callers count */
	uint32_t frame_count, frame_capacity;
	uint32_t unit; /* number of the outermost activation that the program's own source calls; 0: none is open */
	struct jumps jumps;
	struct blocked *blocked; /* pass one: the innermost wait last */
	uint64_t call;           /* pass two: see model_thread.call */
	uint32_t blocked_count, blocked_capacity;
	bool ended, lost;           /* pass one */
	uint64_t called_from;       /* contract.c: position of the call, if nothing was called or returned since */
	uint64_t local, local_size; /* pass one: these bytes */
	bool accesses_local;        /* pass one */
};

struct span {
	uint64_t addr, end;
};

/* Holds that one thread began and another ended (objects.c); they outlive a load that has found more of them. */
enum handed_part {
	HANDED_LOCK,    /* the address of a lock that has such holds */
	HANDED_ACQUIRE, /* the number of the event that begins one */
	HANDED_RELEASE  /* and of the one that ends it */
};
struct handed_entry;
struct handed {
	struct handed_entry *entries;
	bool grew;
};
void handed_release(struct handed *h);

enum { OBJECT_LINES = 1 << 20 };
struct objects;

/* alloc_uses.c */
struct used_block;
struct alloc_use;
struct used_alloc;
struct alloc_meeting;
/* An event that stays whatever its cells are: its index in pass two, and in the end. */
struct held_event {
	uint32_t from, to;
};
struct alloc_uses {
	uint64_t number; /* of the current access, pass one; 0: it does not count */
	uint64_t addr;   /* of the same */
	struct used_block *blocks;
	struct alloc_use *uses; /* by number of the use */
	struct alloc_meeting *meetings;
	struct used_alloc *allocs; /* after pass one: the ALLOCs of the uses, each once, by number */
	uint32_t block_count, use_count, meeting_count, alloc_count;
	uint32_t block_capacity, use_capacity, meeting_capacity;
	uint32_t use, alloc;        /* pass two: the next ones */
	uint64_t next_use;          /* number of that use, UINT64_MAX if there is none */
	struct alloc_use **by_addr; /* after pass one: the uses, by address, then by their ALLOC */
	struct held_event *held;    /* after pass two: by index */
	uint32_t held_count;
	uint64_t skipped_first, skipped_last; /* numbers of ALLOCs that alloc_uses_former looked at in part; 0: none */
};

struct machine;
struct loader {
	struct rt_trace *trace;
	struct rt_aliases aliases; /* as of the event that is read */
	struct model *m;
	enum model_regions regions;
	struct ownership *ownership; /* NULL: every access counts */
	bool callers;                /* some event's position depends on its callers */
	struct own_code own;
	struct shadow shadow;
	struct intern intern;
	struct loader_thread *threads;
	uint32_t thread_count, thread_capacity;
	uint32_t event_capacity, segment_capacity, region_capacity, arg_capacity, cell_capacity, value_capacity,
	    valued_capacity;
	struct {
		struct set inside, neither;    /* positions */
		struct set waiters, elsewhere; /* positions */
		bool of_caller;                /* some position's callers tell */
	} contract;
	struct machine *machine; /* NULL: the trace tells plain accesses from atomic ones */
	bool lossy;              /* pass one: there is a LOST event */
	bool all;                /* cells of a single thread, and cells without writes, are kept too */
	bool gaps;               /* what the recorder left out matters: gaps.c */
	bool all_reads;          /* plain reads that repeat others are kept, too */
	const struct model_wanted *wanted;
	uint32_t wanted_count;
	bool early; /* some thread has no fork: writes before the first fork matter */
	uint32_t roots;
	/* cells.c */
	uint32_t *now;   /* by cell as numbered by shadow: the cell of its present generation; NULL: itself */
	uint32_t *touch; /* by cell: first thread + 1, and TOUCH_ flags */
	uint32_t touch_capacity;
	uint32_t *written; /* by cell: event index + 1 of the last write, 0: none */
	uint32_t written_capacity;
	uint32_t shadow_cell_count;
	uint64_t writes;     /* pass one: number of atomic writes */
	uint64_t atomics;    /* pass one: number of atomic accesses */
	uint64_t spins;      /* pass one: number of loads that pass two leaves out for certain */
	uint64_t counted;    /* pass one: events other than accesses that may be kept */
	uint64_t entries;    /* of all cells: their accesses */
	struct span *benign; /* declared as such by annotations */
	uint32_t benign_count, benign_capacity;
	struct objects *objects; /* objects.c */
	struct alloc_uses alloc_uses;
	struct semaphore *semaphores; /* by address; after pass one they are as they stay */
	struct reused reused;         /* after pass one */
	struct thread_end *ends;      /* by thread, after pass one */
	uint32_t end_count;
	struct handed *handed; /* borrowed */
	uint32_t strays;       /* holds that another thread has released, but their own thread has not */
	bool thinned;          /* some events are dead already: they have no site */
	const char *excess;    /* why the trace is too large to be loaded; NULL: it is not */
	bool failed;           /* no memory, or an excess */
};

/* Threads. */
struct loader_thread *loader_thread(struct loader *l, uint32_t index); /* NULL: no memory (failed), or no such thread */
void loader_ignore(struct loader_thread *t, const struct rt_event *e);
void loader_release_threads(struct loader *l);

/* model.c: appends a kept event; returns its index. begins: it begins a segment. */
uint32_t loader_push(struct loader *l, const struct rt_event *e, uint32_t object, uint32_t cells, uint8_t flags,
                     bool begins);
void loader_arg(struct loader *l, uint32_t event, uint32_t value);
/* threads.c: a synchronisation or code event (not an access). */
void loader_sync(struct loader *l, const struct rt_event *e);
/* threads.c: before an event of a thread that was forked after it began. */
void loader_forked_again(struct loader *l, const struct rt_event *e);
/* threads.c: a try that failed. */
void loader_try(struct loader *l, const struct rt_event *e);
/* gaps.c, of each event of pass two but plain accesses without a gap before them. */
void loader_gap(struct loader *l, const struct rt_event *e);
/* threads.c: the region that an event of the thread belongs to; opens the function's if needed. */
uint32_t loader_region(struct loader *l, uint32_t thread);

/* cells.c */
bool loader_cut(struct loader *l);                                   /* between the passes */
void loader_access(struct loader *l, const struct rt_event *e);      /* pass two: keeps it or not */
void loader_renew(struct loader *l, uint64_t addr, uint64_t size);   /* pass two: new memory */
void loader_benign(struct loader *l, uint64_t addr, uint64_t size);  /* pass one */
uint64_t loader_cell_bytes(const struct loader *l);                  /* pass two: that all cells take so far */
bool loader_compact(struct loader *l);                               /* after pass two */
bool loader_count_values(struct loader *l);                          /* after that */
uint32_t loader_first_thread(const struct loader *l, uint32_t cell); /* the same: that has touched it */
void loader_object_cell(struct loader *l, uint32_t cell);            /* tell loader_object_written of its writes */

/* contract.c: before each event is looked at, gives it the order that its library vouches for. */
void loader_contract(struct loader *l, struct rt_event *e);
void loader_contract_release(struct loader *l);

/* semaphores.c */
void semaphores_event(struct loader *l, const struct rt_event *e); /* pass one: of a semaphore */
bool semaphores_is_lock(const struct loader *l, uint64_t addr);    /* after pass one */
void semaphores_release(struct loader *l);

/* updates.c: after the events have their indices */
bool loader_updates(struct loader *l);

/* guards.c: after that, too */
bool loader_guards(struct loader *l);

/* blocked.c */
void blocked_event(struct loader *l, const struct rt_event *e);         /* pass one: whatever is no access */
bool blocked_keep(struct loader *l);                                    /* between the passes */
bool blocked_is_last(const struct loader *l, const struct rt_event *e); /* pass two: true if this BLOCK is kept */

/* alloc_uses.c */
void alloc_uses_init(struct loader *l);
void alloc_uses_release(struct loader *l);
void alloc_uses_alloc(struct loader *l, const struct rt_event *e, uint64_t size);     /* pass one */
bool alloc_uses_sort(struct loader *l);                                               /* between the passes */
void alloc_uses_keep_alloc(struct loader *l, const struct rt_event *e);               /* pass two */
void alloc_uses_keep_use(struct loader *l, const struct rt_event *e, uint32_t event); /* pass two: from next_use on */
void alloc_uses_move_alloc(struct loader *l, uint32_t from, uint32_t to); /* an ALLOC's event index changes */
/* Pass two: a renewal or a free (RT_F_FREE), kept as the events from `from` on, of memory that may be used again. */
void alloc_uses_former(struct loader *l, const struct rt_event *e, uint32_t from);
bool alloc_uses_settle(struct loader *l); /* after pass two: model.alloc_uses, with indices into allocs and held */
void alloc_uses_finish(struct loader *l); /* at the end: with event indices */

/* objects.c */
bool loader_objects_init(struct loader *l);
void loader_objects_release(struct loader *l);
void loader_touch_object(struct loader *l, const struct rt_event *e); /* pass one: an event with RT_F_OBJECT */
void loader_use_object(struct loader *l, const struct rt_event *e);   /* pass two: the same, before its sync event */
void loader_object_written(struct loader *l, uint32_t cell);
/* The object of this kind at this address that the event is about. */
uint32_t loader_object(struct loader *l, const struct rt_event *e, uint64_t addr, enum model_object_kind kind);
/* The object at this address, or its memory, is initialised again. */
void loader_new_objects(struct loader *l, uint64_t addr, uint64_t size);
bool loader_is_handed(const struct loader *l, enum handed_part part, uint64_t what);
/* These two events began and ended a hold of the lock at addr. */
void loader_hand_over(struct loader *l, uint64_t addr, uint64_t acquire, uint64_t release);

#endif
