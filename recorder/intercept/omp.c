/*
 * OpenMP as GCC compiles it: the entry points of libgomp, which is not instrumented and synchronises by system calls of
 * its own. libgomp's threads are made by pthread_create and recorded as any others; here is what orders them.
 *
 * A parallel region is a fork and a join of the team, said as happens-before annotations on the region's object: the
 * threads are libgomp's and serve many regions. Barriers are rounds of the team. A task begins after it was made, and
 * its end comes before the taskwait of its parent, the end of its task group, the next barrier of its team and the
 * tasks that depend on it; its function and its arguments are wrapped, as are those of a region. What libgomp does
 * beyond the standard (who takes which part of a loop comes after whom) is not said: it is not to be relied on.
 */
#include "recorder/intercept/sync.h"
#include "recorder/objects.h"
#include "recorder/runtime/core.h"

#include <stdarg.h>

/* Objects of annotations that have no address: a counter, so that each is new. */
static _Atomic uint64_t objects;

static uint64_t new_objects(unsigned n)
{
	return RT_OBJECT_OPENMP + atomic_fetch_add_explicit(&objects, n, memory_order_relaxed);
}

/* What of a region's object is which annotation's, in bytes from its address. */
#define PHASES 32u
enum { REGION_FORK = PHASES, REGION_JOIN, REGION_COPY, REGION_ORDERED, REGION_POSTED, REGION_OBJECTS };

/* One parallel region, on the stack of the thread that began it. */
struct region {
	void *first; /* the first word of the program's data, where libgomp looks for reductions */
	void (*body)(void *);
	void *data;
	uintptr_t pc;
	struct rt_thread *master;
	uint64_t object;
	_Atomic bool tasks;       /* any was made */
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
	uint64_t group[GROUPS];
	unsigned groups;
};
static __thread struct context *current;

static void before(uint64_t object, uintptr_t pc)
{
	rt_emit_sync(RT_OP_HB_BEFORE, object, 0, pc, 0);
}
static void after(uint64_t object, uintptr_t pc)
{
	rt_emit_sync(RT_OP_HB_AFTER, object, 0, pc, 0);
}

static uint64_t group_of(const struct context *c)
{
	if (c->groups == 0)
		return 0;
	return c->group[(c->groups < GROUPS ? c->groups : GROUPS) - 1];
}

static uint64_t phase_object(const struct region *r, unsigned phase)
{
	return r->object + phase % PHASES;
}

/*
 * By turns. libgomp's threads spin and sleep inside it, so a thread that is in there roams: it has no turn and needs
 * none, until it comes back to the program's code. Where libgomp lets a whole team go, all come before any goes on: so
 * it does not matter who is quicker. (Which thread runs a task is libgomp's.)
 */
static void roam(uintptr_t pc)
{
	if (RT_UNLIKELY(rt_controlled))
		rt_turn_roams(pc);
}

static void come(uintptr_t pc)
{
	if (RT_UNLIKELY(rt_controlled))
		rt_turn_comes(0, 0, pc);
}

static unsigned team_size(void)
{
	static void *real;

	return (unsigned)((int (*)(void))rt_real(&real, "omp_get_num_threads"))();
}

static void come_together(uint64_t object, uintptr_t pc)
{
	if (RT_UNLIKELY(rt_controlled))
		rt_turn_comes(object, team_size(), pc);
}

/* Regions */

static void run_region(void *argument)
{
	struct region *r = argument;
	struct context c = {.region = r, .outer = current, .children = new_objects(1)};

	come_together(r->object + REGION_FORK, r->pc);
	rt_emit(RT_OP_ENTER, 0, r->pc, 0); /* so that stacks show the program's call, in whichever thread this runs */
	after(r->object + REGION_FORK, r->pc);
	current = &c;
	r->body(r->data);
	current = c.outer;
	before(r->object + REGION_JOIN, r->pc);
	rt_emit(RT_OP_LEAVE, 0, 0, 0);
	if (r->master == &rt_thread)
		r->phase = c.phase;
	roam(r->pc);
}

static void region_begin(struct region *r, void (*body)(void *), void *data, uintptr_t pc)
{
	r->body = body;
	r->data = data;
	r->pc = pc;
	r->master = &rt_thread;
	r->object = new_objects(REGION_OBJECTS);
	before(r->object + REGION_FORK, pc);
	roam(pc);
}

/* All tasks of the region have ended by now, in any thread and at any time. */
static void region_end(const struct region *r)
{
	come(r->pc);
	after(r->object + REGION_JOIN, r->pc);
	if (atomic_load_explicit(&r->tasks, memory_order_relaxed))
		after(phase_object(r, r->phase), r->pc);
}

#define REGION(name, parameters, arguments, plain)                                                                     \
	RT_INTERPOSE(void, name, parameters)                                                                           \
	{                                                                                                              \
		struct region r = {0};                                                                                 \
		if (!rt_recording()) {                                                                                 \
			RT_REAL(name) plain;                                                                           \
			return;                                                                                        \
		}                                                                                                      \
		region_begin(&r, fn, data, RT_PC);                                                                     \
		RT_REAL(name) arguments;                                                                               \
		region_end(&r);                                                                                        \
	}
#define LOOP(name)                                                                                                     \
	REGION(name,                                                                                                   \
	       (void (*fn)(void *), void *data, unsigned threads, long start, long end, long step, long chunk,         \
	        unsigned flags),                                                                                       \
	       (run_region, &r, threads, start, end, step, chunk, flags),                                              \
	       (fn, data, threads, start, end, step, chunk, flags))
#define LOOP_RUNTIME(name)                                                                                             \
	REGION(name,                                                                                                   \
	       (void (*fn)(void *), void *data, unsigned threads, long start, long end, long step, unsigned flags),    \
	       (run_region, &r, threads, start, end, step, flags), (fn, data, threads, start, end, step, flags))

REGION(GOMP_parallel, (void (*fn)(void *), void *data, unsigned threads, unsigned flags),
       (run_region, &r, threads, flags), (fn, data, threads, flags))
REGION(GOMP_parallel_sections, (void (*fn)(void *), void *data, unsigned threads, unsigned count, unsigned flags),
       (run_region, &r, threads, count, flags), (fn, data, threads, count, flags))
LOOP(GOMP_parallel_loop_static)
LOOP(GOMP_parallel_loop_dynamic)
LOOP(GOMP_parallel_loop_guided)
LOOP(GOMP_parallel_loop_nonmonotonic_dynamic)
LOOP(GOMP_parallel_loop_nonmonotonic_guided)
LOOP_RUNTIME(GOMP_parallel_loop_runtime)
LOOP_RUNTIME(GOMP_parallel_loop_nonmonotonic_runtime)
LOOP_RUNTIME(GOMP_parallel_loop_maybe_nonmonotonic_runtime)

RT_INTERPOSE(unsigned, GOMP_parallel_reductions, (void (*fn)(void *), void *data, unsigned threads, unsigned flags))
{
	struct region r = {.first = *(void **)data};
	unsigned result;

	if (!rt_recording())
		return RT_REAL(GOMP_parallel_reductions)(fn, data, threads, flags);
	region_begin(&r, fn, data, RT_PC);
	result = RT_REAL(GOMP_parallel_reductions)(run_region, &r, threads, flags);
	region_end(&r);
	return result;
}

/* Barriers */

static struct context *arrive(uintptr_t pc)
{
	struct context *c = current;

	if (c)
		rt_emit_sync(RT_OP_BARRIER_ARRIVE, (uintptr_t)c->region->barrier, team_size(), pc, 0);
	return c;
}

static void leave(struct context *c, uintptr_t pc)
{
	if (!c)
		return;
	rt_emit_sync(RT_OP_BARRIER_LEAVE, (uintptr_t)c->region->barrier, team_size(), pc, 0);
	if (atomic_load_explicit(&c->region->tasks, memory_order_relaxed))
		after(phase_object(c->region, c->phase), pc);
	c->phase++;
}

#define BARRIER(name)                                                                                                  \
	RT_INTERPOSE(void, name, (void))                                                                               \
	{                                                                                                              \
		struct context *c = arrive(RT_PC);                                                                     \
		roam(RT_PC);                                                                                           \
		RT_REAL(name)();                                                                                       \
		if (c)                                                                                                 \
			come_together((uintptr_t)c->region->barrier, RT_PC);                                           \
		leave(c, RT_PC);                                                                                       \
	}
#define BARRIER_CANCEL(name)                                                                                           \
	RT_INTERPOSE(bool, name, (void))                                                                               \
	{                                                                                                              \
		struct context *c = arrive(RT_PC);                                                                     \
		roam(RT_PC);                                                                                           \
		bool cancelled = RT_REAL(name)();                                                                      \
		come(RT_PC);                                                                                           \
		leave(c, RT_PC);                                                                                       \
		return cancelled;                                                                                      \
	}
BARRIER(GOMP_barrier)
BARRIER(GOMP_loop_end)
BARRIER(GOMP_sections_end)
BARRIER_CANCEL(GOMP_barrier_cancel)
BARRIER_CANCEL(GOMP_loop_end_cancel)
BARRIER_CANCEL(GOMP_sections_end_cancel)

RT_INTERPOSE(void, GOMP_workshare_task_reduction_unregister, (bool cancelled))
{
	struct context *c = cancelled ? NULL : arrive(RT_PC);

	roam(RT_PC);
	RT_REAL(GOMP_workshare_task_reduction_unregister)(cancelled);
	come(RT_PC);
	leave(c, RT_PC);
}

/* copyprivate: the others get the address of what the one thread has. */
RT_INTERPOSE(void *, GOMP_single_copy_start, (void))
{
	roam(RT_PC);
	void *data = RT_REAL(GOMP_single_copy_start)();
	come(RT_PC);

	if (data && current)
		after(current->region->object + REGION_COPY, RT_PC);
	return data;
}
RT_INTERPOSE(void, GOMP_single_copy_end, (void *data))
{
	if (current)
		before(current->region->object + REGION_COPY, RT_PC);
	roam(RT_PC);
	RT_REAL(GOMP_single_copy_end)(data);
	come(RT_PC);
}

/* ordered, and its form for loops that depend on their own iterations: which one waits for which is not kept. */
RT_INTERPOSE(void, GOMP_ordered_start, (void))
{
	roam(RT_PC);
	RT_REAL(GOMP_ordered_start)();
	come(RT_PC);
	if (current)
		after(current->region->object + REGION_ORDERED, RT_PC);
}
RT_INTERPOSE(void, GOMP_ordered_end, (void))
{
	if (current)
		before(current->region->object + REGION_ORDERED, RT_PC);
	RT_REAL(GOMP_ordered_end)();
}

#define POST(name, type)                                                                                               \
	RT_INTERPOSE(void, name, (type * counts))                                                                      \
	{                                                                                                              \
		if (current)                                                                                           \
			before(current->region->object + REGION_POSTED, RT_PC);                                        \
		RT_REAL(name)(counts);                                                                                 \
	}
POST(GOMP_doacross_post, long)
POST(GOMP_doacross_ull_post, unsigned long long)

/* It takes one argument for each loop of the nest, and knows itself how many: enough are handed on. */
#define WAIT(name, type)                                                                                               \
	RT_INTERPOSE(void, name, (type first, ...))                                                                    \
	{                                                                                                              \
		va_list args;                                                                                          \
		type a[15];                                                                                            \
		va_start(args, first);                                                                                 \
		for (unsigned i = 0; i < sizeof a / sizeof *a; i++)                                                    \
			a[i] = va_arg(args, type);                                                                     \
		va_end(args);                                                                                          \
		roam(RT_PC);                                                                                           \
		RT_REAL(name)                                                                                          \
		(first, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13],        \
		 a[14]);                                                                                               \
		come(RT_PC);                                                                                           \
		if (current)                                                                                           \
			after(current->region->object + REGION_POSTED, RT_PC);                                         \
	}
WAIT(GOMP_doacross_wait, long)
WAIT(GOMP_doacross_ull_wait, unsigned long long)

/* Tasks */

#define FLAG_DEPEND 8u
#define FLAG_NOGROUP (1u << 11)

/*
 * What is put before the program's arguments of a task; libgomp copies it with them. The first three words are where
 * libgomp puts the event of a detached task and the bounds of a taskloop, and looks for reductions.
 */
struct task {
	uintptr_t head[3];
	void (*body)(void *);
	void (*copy)(void *, void *); /* the program's, or NULL: bytes */
	void *data;                   /* while being made: the program's arguments */
	size_t size, offset;          /* of the arguments; where they are, from here */
	size_t heads;                 /* how many words of head are the arguments', too */
	uintptr_t pc;
	struct region *region;
	unsigned phase;
	uint64_t object; /* it was made */
	uint64_t children, group;
	void *const *depend; /* while being made */
	size_t out, in;      /* how many addresses follow */
	uint64_t address[];
};

/* The two forms of libgomp's list of dependences. Returns the first address. */
static void *const *depend_list(void *const *depend, size_t *out, size_t *in)
{
	size_t n = (uintptr_t)depend[0];

	if (n) {
		*out = (uintptr_t)depend[1];
		*in = n - *out;
		return depend + 2;
	}
	/* Mutually exclusive ones count as out, which says too much rather than too little. Then objects (depobj). */
	*out = (uintptr_t)depend[2] + (uintptr_t)depend[3];
	*in = (uintptr_t)depend[4];
	return depend + 5;
}

/* Of an address that tasks depend on: what comes from those that write there, and from those that only read. */
static uint64_t dependence(uint64_t address, bool read)
{
	return rt_object_hashed(RT_OBJECT_DEPENDENCE, rt_object_mix(address << 1 | read));
}

static void depend_after(uint64_t address, bool out, uintptr_t pc)
{
	after(dependence(address, false), pc);
	if (out)
		after(dependence(address, true), pc);
}

static void run_task(void *argument)
{
	struct task *t = argument;
	struct context c = {.region = t->region,
	                    .outer = current,
	                    .phase = t->phase,
	                    .children = new_objects(1),
	                    .group = {t->group},
	                    .groups = t->group ? 1 : 0};
	uintptr_t *data = (uintptr_t *)(void *)((char *)t + t->offset);

	bool roams = RT_UNLIKELY(rt_controlled) && rt_turn_is_roaming();
	come(t->pc);
	for (size_t i = 0; i < t->heads; i++)
		data[i] = t->head[i];
	rt_emit(RT_OP_ENTER, 0, t->pc, 0);
	after(t->object, t->pc);
	for (size_t i = 0; i < t->out + t->in; i++)
		depend_after(t->address[i], i < t->out, t->pc);
	current = &c;
	t->body(data);
	current = c.outer;
	for (size_t i = 0; i < t->out + t->in; i++)
		before(dependence(t->address[i], i >= t->out), t->pc);
	before(t->children, t->pc);
	if (t->group)
		before(t->group, t->pc);
	before(phase_object(t->region, t->phase), t->pc);
	rt_emit(RT_OP_LEAVE, 0, 0, 0);
	if (roams)
		roam(t->pc);
}

static void copy_words(void *to, const void *from, size_t size)
{
	for (size_t i = 0; i < size; i++)
		((volatile char *)to)[i] = ((const char *)from)[i];
}

/* libgomp calls it where it would copy the arguments. */
static void copy_task(void *to, void *from)
{
	struct task *t = to, *source = from;
	char *data = (char *)to + source->offset;

	copy_words(t, source, sizeof *t);
	if (t->depend) {
		void *const *list = depend_list(t->depend, &t->out, &t->in);

		for (size_t i = 0; i < t->out + t->in; i++)
			t->address[i] = (uintptr_t)list[i];
	}
	for (size_t i = 0; i < t->heads; i++)
		((uintptr_t *)t->data)[i] = t->head[i];
	if (t->copy)
		t->copy(data, t->data);
	else
		copy_words(data, t->data, t->size);
	before(t->object, t->pc);
}

/* Fills in what is handed to libgomp; returns the size of its arguments, and raises their alignment. */
static long make_task(struct task *t, long size, long *align, unsigned flags, void *const *depend)
{
	size_t at = sizeof *t;

	if (*align < (long)_Alignof(struct task))
		*align = (long)_Alignof(struct task);
	t->size = (size_t)size;
	if ((flags & FLAG_DEPEND) && depend) {
		t->depend = depend;
		depend_list(depend, &t->out, &t->in);
		at += (t->out + t->in) * sizeof *t->address;
	}
	t->offset = (at + (size_t)*align - 1) / (size_t)*align * (size_t)*align;
	t->object = new_objects(1);
	t->region = current->region;
	t->phase = current->phase;
	t->children = current->children;
	t->group = group_of(current);
	for (size_t i = 0; i < t->heads; i++)
		t->head[i] = ((uintptr_t *)t->data)[i];
	atomic_store_explicit(&t->region->tasks, true, memory_order_relaxed);
	return (long)t->offset + size;
}

static size_t heads(long size, size_t most)
{
	size_t n = (size_t)size / sizeof(uintptr_t);

	return n < most ? n : most;
}

RT_INTERPOSE(void, GOMP_task,
             (void (*fn)(void *), void *data, void (*copy)(void *, void *), long size, long align, bool deferred,
              unsigned flags, void **depend, int priority, void *detach))
{
	struct task t = {.body = fn, .copy = copy, .data = data, .pc = RT_PC, .heads = data ? heads(size, 1) : 0};

	if (!current || !rt_recording()) {
		RT_REAL(GOMP_task)(fn, data, copy, size, align, deferred, flags, depend, priority, detach);
		return;
	}
	size = make_task(&t, size, &align, flags, depend);
	bool waits = !deferred && flags & FLAG_DEPEND;
	if (waits)
		roam(RT_PC);
	RT_REAL(GOMP_task)(run_task, &t, copy_task, size, align, deferred, flags, depend, priority, detach);
	if (waits)
		come(RT_PC);
}

static void group_begin(struct context *c)
{
	if (c->groups < GROUPS)
		c->group[c->groups] = new_objects(1);
	c->groups++;
}
static void group_end(struct context *c, uintptr_t pc)
{
	after(group_of(c), pc);
	c->groups--;
}

#define TASKLOOP(name, type)                                                                                           \
	RT_INTERPOSE(void, name,                                                                                       \
	             (void (*fn)(void *), void *data, void (*copy)(void *, void *), long size, long align,             \
	              unsigned flags, unsigned long tasks, int priority, type start, type end, type step))             \
	{                                                                                                              \
		struct task t = {.body = fn, .copy = copy, .data = data, .pc = RT_PC, .heads = heads(size, 3)};        \
		struct context *c = current;                                                                           \
		if (!c || !rt_recording()) {                                                                           \
			RT_REAL(name)(fn, data, copy, size, align, flags, tasks, priority, start, end, step);          \
			return;                                                                                        \
		}                                                                                                      \
		if (!(flags & FLAG_NOGROUP))                                                                           \
			group_begin(c);                                                                                \
		size = make_task(&t, size, &align, 0, NULL);                                                           \
		roam(RT_PC);                                                                                           \
		RT_REAL(name)(run_task, &t, copy_task, size, align, flags, tasks, priority, start, end, step);         \
		come(RT_PC);                                                                                           \
		if (!(flags & FLAG_NOGROUP))                                                                           \
			group_end(c, RT_PC);                                                                           \
	}
TASKLOOP(GOMP_taskloop, long)
TASKLOOP(GOMP_taskloop_ull, unsigned long long)

RT_INTERPOSE(void, GOMP_taskwait, (void))
{
	roam(RT_PC);
	RT_REAL(GOMP_taskwait)();
	come(RT_PC);
	if (current)
		after(current->children, RT_PC);
}
RT_INTERPOSE(void, GOMP_taskwait_depend, (void **depend))
{
	size_t out, in;
	void *const *list = depend_list(depend, &out, &in);

	roam(RT_PC);
	RT_REAL(GOMP_taskwait_depend)(depend);
	come(RT_PC);
	for (size_t i = 0; current && i < out + in; i++)
		depend_after((uintptr_t)list[i], i < out, RT_PC);
}

RT_INTERPOSE(void, GOMP_taskgroup_start, (void))
{
	if (current)
		group_begin(current);
	RT_REAL(GOMP_taskgroup_start)();
}
RT_INTERPOSE(void, GOMP_taskgroup_end, (void))
{
	roam(RT_PC);
	RT_REAL(GOMP_taskgroup_end)();
	come(RT_PC);
	if (current && current->groups)
		group_end(current, RT_PC);
}

/* The task that waits for the event ends now: recorded for the next barrier. */
RT_INTERPOSE(void, omp_fulfill_event, (uintptr_t event))
{
	if (current)
		before(phase_object(current->region, current->phase), RT_PC);
	RT_REAL(omp_fulfill_event)(event);
}
