/*
 * Coverage: orders of turns at an object that no run had, after "Maple: A Coverage-Driven Testing Tool for
 * Multithreaded Programs" (Yu, Narayanasamy, Pereira, Pokam 2012). The places say the orders: one with location 0
 * begins an order, those with 1 and 2 continue it. Of two, the first turn is another thread's, directly before; of
 * three, the second comes between two of one thread. All threads go on until each is about to take a lock, to access an
 * atomic variable, to change a file, or at a place. Of them one goes on whose turn completes an order; else one that no
 * order needs behind another; else any. Of several it is that of the highest priority, which is random.
 */
#include "recorder/objects.h"
#include "recorder/sched/sched.h"
#include "recorder/sched/strategy.h"

enum { OBJECTS = 4096, CHANGES = 8 }; /* CHANGES: mean number of turns until a thread has another priority */

/* The last turn at an object, or the last of a thread there. The latest that falls there has the place. */
struct turn {
	uint64_t object;
	uintptr_t pc;
	uint32_t thread;
};
static RT_OF_RUN struct turn *objects, *own;
static RT_OF_RUN bool *had; /* by place: the order that ends there */

static struct turn *entry(struct turn *table, uint64_t object, uint32_t thread)
{
	return &table[((object + thread) * UINT64_C(0x9e3779b97f4a7c15) >> 32) % OBJECTS];
}

static const struct turn *last_at(const struct rt_task *t)
{
	uint64_t object = rt_step_lock(&t->next);
	const struct turn *at = entry(objects, object, 0);

	return at->object == object ? at : NULL;
}

static const struct turn *last_of(const struct rt_task *t)
{
	uint64_t object = rt_step_lock(&t->next);
	const struct turn *at = entry(own, object, t->thread + 1);

	return at->object == object && at->thread == t->thread ? at : NULL;
}

/* It makes, changes or removes a file or its name, or writes to it. Others may have looked at it. */
static bool changes_file(const struct rt_step *s)
{
	return s->op == RT_OP_HB_BEFORE && s->object >= RT_OBJECT_NAMED && s->object < RT_OBJECT_NAMED_END;
}

static bool is_turn(const struct rt_task *t)
{
	const struct rt_step *s = &t->next;

	return rt_step_acquires(s) || s->op == RT_OP_WAIT_END || rt_op_is_atomic(s->op) || changes_file(s) ||
	       rt_sched_place(s, 0) != RT_NO_PLACE;
}

/* True if an order that did not come about yet ends at the place. */
static bool is_due(uint32_t place)
{
	const struct rt_place *places = rt_aims_places(rt_sched_aims);

	return places[place].location && !had[place] &&
	       (place + 1 == rt_sched_aims->place_count || !places[place + 1].location);
}

/* The order that ends at the place comes about if the task goes on. */
static bool completes(const struct rt_task *t, uint32_t place)
{
	const struct turn *at = last_at(t), *mine = last_of(t);

	if (!is_due(place) || !at || at->thread == t->thread || at->pc != rt_sched_place_pc(place - 1))
		return false;
	return rt_aims_places(rt_sched_aims)[place].location == 1 || (mine && mine->pc == rt_sched_place_pc(place - 2));
}

/* It may if the task waits. */
static bool needs_another(const struct rt_task *t, uint32_t place)
{
	const struct turn *mine = last_of(t);

	if (!is_due(place) || completes(t, place))
		return false;
	return rt_aims_places(rt_sched_aims)[place].location == 1 || (mine && mine->pc == rt_sched_place_pc(place - 2));
}

static bool any_order(const struct rt_task *t, bool (*is)(const struct rt_task *t, uint32_t place))
{
	for (uint32_t i = rt_sched_place(&t->next, 0); i != RT_NO_PLACE; i = rt_sched_place(&t->next, i + 1))
		if (is(t, i))
			return true;
	return false;
}

static void take(struct rt_task *t)
{
	uint64_t object = rt_step_lock(&t->next);

	for (uint32_t i = rt_sched_place(&t->next, 0); i != RT_NO_PLACE; i = rt_sched_place(&t->next, i + 1))
		had[i] |= completes(t, i);
	*entry(objects, object, 0) = *entry(own, object, t->thread + 1) = (struct turn){object, t->next.pc, t->thread};
	if (rt_sched_random() % CHANGES == 0)
		t->since = 0;
}

static bool goes_on(struct rt_task *current)
{
	return !is_turn(current);
}

/* The higher, the earlier the task goes on. */
static uint64_t priority(struct rt_task *t)
{
	enum { SHIFT = 8 };
	uint64_t kind = any_order(t, completes) ? 2 : !any_order(t, needs_another);

	if (!t->since)
		t->since = rt_sched_random() | 1;
	return kind << (64 - SHIFT) | t->since >> SHIFT;
}

static struct rt_task *choose(struct rt_task *current, struct rt_task *const *enabled, unsigned n)
{
	struct rt_task *t = rt_sched_any_that(enabled, n, is_turn, false);

	(void)current;
	if (t)
		return t;
	if (rt_sched_awaits_sleeper())
		return NULL;
	t = rt_sched_highest(enabled, n, priority);
	take(t);
	return t;
}

static bool init(const struct rt_control *control)
{
	(void)control;
	objects = rt_sched_memory(OBJECTS * sizeof *objects);
	own = rt_sched_memory(OBJECTS * sizeof *own);
	had = rt_sched_memory((rt_sched_aims->place_count + 1) * sizeof *had);
	return objects && own && had;
}

const struct rt_strategy rt_strategy_coverage = {.name = "coverage",
                                                 .timeless = true,
                                                 .init = init,
                                                 .goes_on = goes_on,
                                                 .choose = choose,
                                                 .wakes = rt_sched_wakes_any};
