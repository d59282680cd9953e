/*
 * Shares of OpenMP's work: parts of loops, sections and singles, which libgomp gives to whichever thread comes first.
 * The first one of a team often has all of a short loop before the others have come, and what its parts do to one
 * another is no race of this run then. So a thread waits for a moment, before it takes a second share, for those of the
 * team that have had no chance of a first.
 */
#include "recorder/intercept/omp.h"
#include "recorder/runtime/syscall.h"

#include <limits.h>

/* A process waits in vain this often, so programs whose threads come late by design are not slowed down. */
enum { WAIT_MS = 100, WAITS_IN_VAIN = 10 };

static bool all_came(struct context *c)
{
	if (!c->all_came)
		c->all_came = atomic_load(&c->region->starts) >= c->constructs * rt_omp_team_size();
	return c->all_came;
}

static void await_others(struct context *c)
{
	static _Atomic unsigned in_vain;
	struct region *r = c->region;

	if (all_came(c) || rt_controlled || rt_guarded || atomic_load(&in_vain) >= WAITS_IN_VAIN)
		return;
	atomic_fetch_add(&r->waiters, 1);
	for (uint64_t end = rt_milliseconds() + WAIT_MS; !all_came(c);) {
		uint32_t starts = atomic_load(&r->starts);
		if (!all_came(c) && rt_futex_wait(&r->starts, starts, WAIT_MS) != 0 && rt_milliseconds() >= end)
			break;
	}
	atomic_fetch_sub(&r->waiters, 1);
	if (!c->all_came)
		atomic_fetch_add(&in_vain, 1);
	c->all_came = true;
}

/* After the first share of a loop or of sections, or there was none left. */
static void first_share(struct context *c)
{
	c->first_share = false;
	atomic_fetch_add(&c->region->starts, 1);
	if (RT_UNLIKELY(atomic_load(&c->region->waiters)))
		rt_futex_wake(&c->region->starts, INT_MAX);
}

static void construct_begun(void)
{
	struct context *c = rt_omp_current;

	if (!c)
		return;
	c->constructs++;
	c->all_came = false;
	first_share(c);
}

static void comes_again(void)
{
	struct context *c = rt_omp_current;

	if (c && !c->first_share)
		await_others(c);
}

static void came_again(void)
{
	struct context *c = rt_omp_current;

	if (c && c->first_share)
		first_share(c);
}

/*
 * That a share is taken orders nothing: the event has no counterpart. But a run that follows a schedule stops before
 * it. Parts of loops may be small, and have events by turns alone.
 */
void rt_omp_comes_for_share(uintptr_t pc)
{
	if (rt_omp_current)
		before(rt_omp_current->region->object + REGION_SHARE, pc);
}
static void comes_for_part(uintptr_t pc)
{
	if (RT_UNLIKELY(rt_controlled))
		rt_omp_comes_for_share(pc);
}

#define SHARES_OUT(comes, type, name, parameters, arguments, earlier, later)                                           \
	RT_INTERPOSE(type, name, parameters)                                                                           \
	{                                                                                                              \
		comes(RT_PC);                                                                                          \
		earlier;                                                                                               \
		type share = RT_REAL(name) arguments;                                                                  \
		later;                                                                                                 \
		return share;                                                                                          \
	}
#define SECTIONS(name, parameters, arguments)                                                                          \
	SHARES_OUT(rt_omp_comes_for_share, unsigned, name, parameters, arguments, , construct_begun())
#define START(name, parameters, arguments)                                                                             \
	SHARES_OUT(comes_for_part, bool, name, parameters, arguments, , construct_begun())
#define NEXT(name, parameters, arguments)                                                                              \
	SHARES_OUT(comes_for_part, bool, name, parameters, arguments, comes_again(), came_again())
SHARES_OUT(rt_omp_comes_for_share, bool, GOMP_single_start, (void), (), , )
SHARES_OUT(rt_omp_comes_for_share, unsigned, GOMP_sections_next, (void), (), comes_again(), came_again())
SECTIONS(GOMP_sections_start, (unsigned count), (count))
SECTIONS(GOMP_sections2_start, (unsigned count, uintptr_t *reductions, void **memory), (count, reductions, memory))

typedef unsigned long long ull;
#define PART_NEXT(kind)                                                                                                \
	NEXT(GOMP_loop_##kind##_next, (long *start, long *end), (start, end))                                          \
	NEXT(GOMP_loop_ull_##kind##_next, (ull * start, ull * end), (start, end))
#define PART_START(kind)                                                                                               \
	START(GOMP_loop_##kind##_start, (long first, long last, long step, long chunk, long *start, long *end),        \
	      (first, last, step, chunk, start, end))                                                                  \
	START(GOMP_loop_ull_##kind##_start, (bool up, ull first, ull last, ull step, ull chunk, ull *start, ull *end), \
	      (up, first, last, step, chunk, start, end))
#define PART_START_RUNTIME(kind)                                                                                       \
	START(GOMP_loop_##kind##_start, (long first, long last, long step, long *start, long *end),                    \
	      (first, last, step, start, end))                                                                         \
	START(GOMP_loop_ull_##kind##_start, (bool up, ull first, ull last, ull step, ull *start, ull *end),            \
	      (up, first, last, step, start, end))
#define PARTS(kind) PART_START(kind) PART_NEXT(kind)
#define PARTS_RUNTIME(kind) PART_START_RUNTIME(kind) PART_NEXT(kind)
PARTS(dynamic)
PARTS(guided)
PARTS(nonmonotonic_dynamic)
PARTS(nonmonotonic_guided)
PARTS_RUNTIME(runtime)
PARTS_RUNTIME(nonmonotonic_runtime)
PARTS_RUNTIME(maybe_nonmonotonic_runtime)
PART_START(ordered_dynamic)
PART_START(ordered_guided)
PART_START_RUNTIME(ordered_runtime)
/* With reductions; those of a fixed schedule come this way, too. */
#define PART_START_REDUCTIONS(kind)                                                                                    \
	START(GOMP_loop_##kind##start,                                                                                 \
	      (long first, long last, long step, long schedule, long chunk, long *start, long *end,                    \
	       uintptr_t *reductions, void **memory),                                                                  \
	      (first, last, step, schedule, chunk, start, end, reductions, memory))                                    \
	START(GOMP_loop_ull_##kind##start,                                                                             \
	      (bool up, ull first, ull last, ull step, long schedule, ull chunk, ull *start, ull *end,                 \
	       uintptr_t *reductions, void **memory),                                                                  \
	      (up, first, last, step, schedule, chunk, start, end, reductions, memory))
PART_START_REDUCTIONS()
PART_START_REDUCTIONS(ordered_)

/* A loop's next part: the thread whose turn in the order it is goes on. */
#define ORDERED_NEXT(kind, earlier, later)                                                                             \
	ORDERED_NEXT_OF(GOMP_loop_ordered_##kind##_next, long, earlier, later)                                         \
	ORDERED_NEXT_OF(GOMP_loop_ull_ordered_##kind##_next, ull, earlier, later)
#define ORDERED_NEXT_OF(name, type, earlier, later)                                                                    \
	RT_INTERPOSE(bool, name, (type * start, type * end))                                                           \
	{                                                                                                              \
		earlier;                                                                                               \
		wakes();                                                                                               \
		bool share = RT_REAL(name)(start, end);                                                                \
		later;                                                                                                 \
		return share;                                                                                          \
	}
#define ORDERED_NEXT_OF_PARTS(kind) ORDERED_NEXT(kind, (comes_for_part(RT_PC), comes_again()), came_again())
ORDERED_NEXT(static, (void)0, (void)0)
ORDERED_NEXT_OF_PARTS(dynamic)
ORDERED_NEXT_OF_PARTS(guided)
ORDERED_NEXT_OF_PARTS(runtime)
