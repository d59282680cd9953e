/*
 * OpenMP as GCC compiles it: the entry points of libgomp, which is not instrumented and synchronises by system calls of
 * its own. Its threads are made by pthread_create and recorded as any others; here is what orders them.
 *
 * A parallel region is a fork and a join of the team, said as happens-before annotations on the region's object: the
 * threads are libgomp's and serve many regions. Barriers are rounds of the team. A region's function and its arguments
 * are wrapped. What libgomp does beyond the standard (which thread takes which part of a loop after which) is not said:
 * it is not to be relied on. Shares of work: omp_shares.c.
 * Tasks: omp_tasks.c.
 */
#include "recorder/intercept/omp.h"

#include <link.h>
#include <stdarg.h>

__thread struct context *rt_omp_current;

uint64_t rt_omp_objects(unsigned n)
{
	static _Atomic uint64_t objects;

	return RT_OBJECT_OPENMP + atomic_fetch_add_explicit(&objects, n, memory_order_relaxed);
}

unsigned rt_omp_team_size(void)
{
	static void *real;

	return (unsigned)((int (*)(void))rt_real(&real, "omp_get_num_threads"))();
}

static void come_together(uint64_t object, uintptr_t pc)
{
	if (RT_UNLIKELY(rt_controlled))
		rt_turn_comes(object, rt_omp_team_size(), pc);
}

/* Regions */

static void run_region(void *argument)
{
	struct region *r = argument;
	struct context c = {.region = r, .outer = rt_omp_current, .first_share = r->shares, .constructs = r->shares};

	come_together(r->object + REGION_FORK, r->pc);
	c.children = rt_omp_objects(1);
	rt_emit(RT_OP_ENTER, 0, r->pc, 0); /* so that stacks show the program's call, in whichever thread this runs */
	after(r->object + REGION_FORK, r->pc);
	rt_omp_current = &c;
	r->body(r->data);
	rt_omp_current = c.outer;
	before(r->object + REGION_JOIN, r->pc);
	rt_emit(RT_OP_LEAVE, 0, 0, 0);
	if (r->master == &rt_thread)
		r->phase = c.phase;
	roam(r->pc);
}

static int find_code(struct dl_phdr_info *module, size_t size, void *function)
{
	uintptr_t begin = rt_module_code(module, (uintptr_t)function, &size);

	if (!begin)
		return 0;
	__atomic_store_n(&rt_inner[RT_INNER_LIBGOMP].begin, begin, __ATOMIC_RELAXED);
	__atomic_store_n(&rt_inner[RT_INNER_LIBGOMP].size, size, __ATOMIC_RELAXED);
	return 1;
}

/* Where libgomp's own code is, from the first region on. */
static void find_libgomp(void *function)
{
	static _Atomic bool found;

	if (!atomic_exchange_explicit(&found, true, memory_order_relaxed))
		dl_iterate_phdr(find_code, function);
}

static void region_begin(struct region *r, void (*body)(void *), void *data, uintptr_t pc)
{
	r->body = body;
	r->data = data;
	r->pc = pc;
	r->master = &rt_thread;
	r->object = rt_omp_objects(REGION_OBJECTS);
	if (data) /* one byte behind the function's begin, as behind a call in it */
		rt_emit_sync(RT_OP_SHARED, (uintptr_t)data, (uintptr_t)body, (uintptr_t)body + 1, 0);
	before(r->object + REGION_FORK, pc);
	roam(pc);
}

/* All tasks of the region have ended by now, in any thread and at any time. */
static void region_end(const struct region *r)
{
	come(r->pc);
	after(r->object + REGION_JOIN, r->pc);
	if (atomic_load_explicit(&r->tasks, memory_order_relaxed)) {
		after(phase_object(r, r->phase), r->pc);
		rt_omp_fulfilled(r->pc);
	}
}

#define REGION(name, parameters, arguments, plain) REGION_OF(name, parameters, arguments, plain, {0})
/* A region that is one loop or sections begins with them. */
#define SHARED_REGION(name, parameters, arguments, plain)                                                              \
	REGION_OF(name, parameters, arguments, plain, {.shares = true})
#define REGION_OF(name, parameters, arguments, plain, ...)                                                             \
	RT_INTERPOSE(void, name, parameters)                                                                           \
	{                                                                                                              \
		struct region r = __VA_ARGS__;                                                                         \
		if (!rt_recording()) {                                                                                 \
			RT_REAL(name) plain;                                                                           \
			return;                                                                                        \
		}                                                                                                      \
		find_libgomp((void *)RT_REAL(name));                                                                   \
		region_begin(&r, fn, data, RT_PC);                                                                     \
		RT_REAL(name) arguments;                                                                               \
		region_end(&r);                                                                                        \
	}
#define LOOP(name)                                                                                                     \
	SHARED_REGION(name,                                                                                            \
	              (void (*fn)(void *), void *data, unsigned threads, long start, long end, long step, long chunk,  \
	               unsigned flags),                                                                                \
	              (run_region, &r, threads, start, end, step, chunk, flags),                                       \
	              (fn, data, threads, start, end, step, chunk, flags))
#define LOOP_RUNTIME(name)                                                                                             \
	SHARED_REGION(                                                                                                 \
	    name, (void (*fn)(void *), void *data, unsigned threads, long start, long end, long step, unsigned flags), \
	    (run_region, &r, threads, start, end, step, flags), (fn, data, threads, start, end, step, flags))

REGION(GOMP_parallel, (void (*fn)(void *), void *data, unsigned threads, unsigned flags),
       (run_region, &r, threads, flags), (fn, data, threads, flags))
SHARED_REGION(GOMP_parallel_sections,
              (void (*fn)(void *), void *data, unsigned threads, unsigned count, unsigned flags),
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
	find_libgomp((void *)RT_REAL(GOMP_parallel_reductions));
	region_begin(&r, fn, data, RT_PC);
	result = RT_REAL(GOMP_parallel_reductions)(run_region, &r, threads, flags);
	region_end(&r);
	return result;
}

/* Barriers */

static struct context *arrive(uintptr_t pc)
{
	struct context *c = rt_omp_current;

	if (c)
		rt_emit_sync(RT_OP_BARRIER_ARRIVE, (uintptr_t)c->region->barrier, rt_omp_team_size(), pc, 0);
	return c;
}

static void leave(struct context *c, uintptr_t pc)
{
	if (!c)
		return;
	rt_emit_sync(RT_OP_BARRIER_LEAVE, (uintptr_t)c->region->barrier, rt_omp_team_size(), pc, 0);
	if (atomic_load_explicit(&c->region->tasks, memory_order_relaxed)) {
		after(phase_object(c->region, c->phase), pc);
		rt_omp_fulfilled(pc);
	}
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
	rt_omp_comes_for_share(RT_PC);
	roam(RT_PC);
	void *data = RT_REAL(GOMP_single_copy_start)();
	come(RT_PC);

	if (data && rt_omp_current)
		after(rt_omp_current->region->object + REGION_COPY, RT_PC);
	return data;
}
RT_INTERPOSE(void, GOMP_single_copy_end, (void *data))
{
	if (rt_omp_current)
		before(rt_omp_current->region->object + REGION_COPY, RT_PC);
	roam(RT_PC);
	RT_REAL(GOMP_single_copy_end)(data);
	come(RT_PC);
}

/* ordered, and its form for loops that depend on their own iterations: which one waits for which is not kept. */
RT_INTERPOSE(void, GOMP_ordered_start, (void))
{
	go_in(RT_PC);
	RT_REAL(GOMP_ordered_start)();
	come(RT_PC);
	if (rt_omp_current)
		after(rt_omp_current->region->object + REGION_ORDERED, RT_PC);
}
RT_INTERPOSE(void, GOMP_ordered_end, (void))
{
	if (rt_omp_current)
		before(rt_omp_current->region->object + REGION_ORDERED, RT_PC);
	wakes();
	RT_REAL(GOMP_ordered_end)();
}

#define POST(name, type)                                                                                               \
	RT_INTERPOSE(void, name, (type * counts))                                                                      \
	{                                                                                                              \
		if (rt_omp_current)                                                                                    \
			before(rt_omp_current->region->object + REGION_POSTED, RT_PC);                                 \
		wakes();                                                                                               \
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
		go_in(RT_PC);                                                                                          \
		RT_REAL(name)                                                                                          \
		(first, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13],        \
		 a[14]);                                                                                               \
		come(RT_PC);                                                                                           \
		if (rt_omp_current)                                                                                    \
			after(rt_omp_current->region->object + REGION_POSTED, RT_PC);                                  \
	}
WAIT(GOMP_doacross_wait, long)
WAIT(GOMP_doacross_ull_wait, unsigned long long)
