/* OpenMP's regions and what their threads run: shared by omp.c and omp_tasks.c. */
#ifndef RECORDER_INTERCEPT_OMP_H
#define RECORDER_INTERCEPT_OMP_H

#include "recorder/intercept/sync.h"
#include "recorder/objects.h"
#include "recorder/runtime/core.h"

/* Objects of annotations that have no address: a counter, so that each is new. */
uint64_t rt_omp_objects(unsigned n);
unsigned rt_omp_team_size(void); /* of the thread's innermost region */
void rt_omp_comes_for_share(uintptr_t pc);

/* What of a region's object is which annotation's, in bytes from its address. */
#define PHASES 32u
enum { REGION_FORK = PHASES, REGION_JOIN, REGION_COPY, REGION_ORDERED, REGION_POSTED, REGION_SHARE, REGION_OBJECTS };

/* One parallel region, on the stack of the thread that began it. */
struct region {
	void *first; /* the first word of the program's data, where libgomp looks for reductions */
	void (*body)(void *);
	void *data;
	uintptr_t pc;
	struct rt_thread *master;
	uint64_t object;
	_Atomic bool tasks;       /* any was made */
	bool shares;              /* it is one loop or sections */
	_Atomic uint32_t starts;  /* of loops and sections, by all its threads */
	_Atomic uint32_t waiters; /* that wait for these */
	unsigned phase;           /* the master's last */
	unsigned char barrier[8]; /* its address is the barrier's */
};

#define GROUPS 16
/* What a thread runs: its part of a region, or a task. */
struct context {
	struct region *region;
	struct context *outer;
	unsigned phase;    /* how many barriers of the region came before */
	uint64_t children; /* object: ends of the tasks that it made */
	bool final;        /* its tasks are part of it */
	bool is_thread;    /* of the trace: a task */
	bool bound;        /* a task that is, to the thread that runs it: it comes after those that ran before */
	uint64_t group[GROUPS];
	unsigned groups;
	unsigned constructs; /* loops and sections that it has come to */
	bool first_share;    /* it has had none of this one yet */
	bool all_came;       /* all threads have come to this one */
};
extern __thread struct context *rt_omp_current;

static inline void before(uint64_t object, uintptr_t pc)
{
	rt_emit_sync(RT_OP_HB_BEFORE, object, 0, pc, 0);
}
static inline void after(uint64_t object, uintptr_t pc)
{
	rt_emit_sync(RT_OP_HB_AFTER, object, 0, pc, 0);
}

/* An event of a detached task has been fulfilled, in any thread: what may have waited for the task comes after. */
extern _Atomic bool rt_omp_detached; /* there are such tasks; its address is the object */
static inline void rt_omp_fulfilled(uintptr_t pc)
{
	if (atomic_load_explicit(&rt_omp_detached, memory_order_relaxed))
		after((uintptr_t)&rt_omp_detached, pc);
}

static inline uint64_t phase_object(const struct region *r, unsigned phase)
{
	return r->object + phase % PHASES;
}

/*
 * By turns. libgomp's threads spin and sleep inside it, so a thread that is in there roams: it has no turn and needs
 * none, until it comes back to the program's code. Where libgomp lets a whole team go, all come before any goes on: so
 * it does not matter which is quicker. While a thread is in there, no other gets the turn before all that roam are
 * back or sleep: which of them run a task, or go on, does not depend on the moment.
 */
static inline void roam(uintptr_t pc)
{
	if (RT_UNLIKELY(rt_controlled))
		rt_turn_roams(pc);
}

/*
 * The same where no event of the thread comes right before: a run that follows a schedule is to know when the thread
 * goes in. What it finds to do there depends on that. Nothing comes after the event.
 */
static inline void go_in(uintptr_t pc)
{
	if (RT_UNLIKELY(rt_controlled) && rt_omp_current)
		before(rt_omp_current->region->object + REGION_SHARE, pc);
	roam(pc);
}

static inline void come(uintptr_t pc)
{
	if (RT_UNLIKELY(rt_controlled))
		rt_turn_comes(0, 0, pc);
}

/* Before a call that may wake threads that roam. */
static inline void wakes(void)
{
	if (RT_UNLIKELY(rt_controlled))
		rt_turn_woke();
}

#endif
