/* PECAN's schedules; see pecan.h. */
#include "lib/prove/pecan.h"

#include "lib/relation/sections.h"

#include <stdlib.h>
#include <string.h>

/* BLOCKED: most threads that may be suspended at a lock. LINE: the rest of the trace, which is not suspended. */
enum { BLOCKED = 32, CUTS = ANOMALY_EVENTS_MAX + BLOCKED, LINE = CUTS };
enum { FREE, SHARED, EXCLUSIVE };

struct pecan {
	const struct model *m;
	const struct segment_order *por;
	const struct goal *goal;
	struct schedule *out;
	/* Where threads are suspended: those of the goal first, then those that stopped at a lock. */
	uint32_t cuts[CUTS];
	uint32_t held_up, cut_count;
	uint32_t cursors[ANOMALY_EVENTS_MAX]; /* position in the trace of what is suspended */
	uint32_t line;                        /* position in the trace of the rest */
	uint32_t *done;                       /* by thread: number of its events in the schedule */
	uint32_t *holder;                     /* by object: thread that holds it exclusively + 1 */
	uint32_t *readers;                    /* by object: threads that share it */
	uint8_t *needed;                      /* by object: the thread that is to come next */
	bool ok;                              /* false: gave up, or no memory */
	bool no_memory;
};

/* Locks held by a thread whose next event is the one at pos. */
static uint32_t held_before(const struct model *m, uint32_t thread, uint32_t pos)
{
	return pos ? model_lockset_of(m, m->threads[thread].events[pos - 1]) : 0;
}

/* The beginning of the outermost critical section of an event; the event itself if it is in none. */
static uint32_t outermost_lock(const struct model *m, uint32_t e)
{
	uint32_t thread = model_thread_of(m, e), pos = m->events[e].pos;
	while (pos && m->locksets[held_before(m, thread, pos)].count)
		pos--;
	return m->threads[thread].events[pos];
}

/* The suspended thread that a goal event belongs to, or LINE. */
static uint32_t part_of_goal(const struct pecan *p, uint32_t e)
{
	for (uint32_t i = 0; i < p->held_up; i++)
		if (model_thread_of(p->m, p->cuts[i]) == model_thread_of(p->m, e))
			return i;
	return LINE;
}

/* The first cut that comes before an event, or LINE. */
static uint32_t part_of(const struct pecan *p, uint32_t e)
{
	for (uint32_t i = 0; i < p->cut_count; i++)
		if (e >= p->cuts[i] && segment_order_before(p->por, p->cuts[i], e))
			return i;
	return LINE;
}

/*
 * Where the thread of goal event i is suspended so that earlier goal events may come first: where it takes the
 * outermost lock that protects the event. If its own previous goal event is in the same section, it is the last point
 * after that at which it excludes none of them (v_x of Algorithm 4).
 */
static uint32_t find_cut(const struct pecan *p, uint32_t i)
{
	const struct model *m = p->m;
	const struct goal *g = p->goal;
	uint32_t e = g->events[i], thread = model_thread_of(m, e), cut = outermost_lock(m, e), own = i;
	while (own && model_thread_of(m, g->events[own - 1]) != thread)
		own--;
	if (!own || cut > g->events[own - 1])
		return cut;
	for (uint32_t pos = m->events[e].pos; pos > m->events[g->events[own - 1]].pos; pos--) {
		bool excludes = false;
		for (uint32_t k = own; k < i; k++)
			excludes |=
			    model_locksets_exclude(m, held_before(m, thread, pos), model_lockset_of(m, g->events[k]));
		if (!excludes)
			return m->threads[thread].events[pos];
	}
	return e;
}

/* For a sequence: suspends the threads whose events must wait for events that come later in the trace. */
static void hold_up_sequence(struct pecan *p)
{
	const struct goal *g = p->goal;
	uint32_t last = g->events[0];
	for (uint32_t i = 1; i < g->count; i++) {
		uint32_t e = g->events[i];
		if (e < last && part_of_goal(p, e) == LINE) {
			p->cuts[p->held_up] = find_cut(p, i);
			p->held_up++;
		}
		last = e > last ? e : last;
	}
}

/* For events that all come last: suspends all threads but that of the last one in the trace. */
static void hold_up_others(struct pecan *p)
{
	const struct goal *g = p->goal;
	uint32_t last = goal_last(g);
	for (uint32_t i = 0; i < g->count; i++)
		if (g->events[i] != last)
			p->cuts[p->held_up++] = outermost_lock(p->m, g->events[i]);
}

/* Acquires or releases the event's lock; false if another thread holds it. */
static bool move_lock(struct pecan *p, uint32_t e)
{
	const struct model *m = p->m;
	uint32_t lock = model_lock_taken(m, e), released = model_lock_released(m, e), owner = model_thread_of(m, e) + 1;
	if (released != MODEL_NONE) {
		if (p->holder[released] == owner)
			p->holder[released] = 0;
		else
			p->readers[released] -= p->readers[released] ? 1 : 0;
	}
	if (lock == MODEL_NONE)
		return true;
	bool shared = model_op(m, e) == RT_OP_ACQUIRE_SHARED;
	if (p->holder[lock] || (!shared && p->readers[lock]))
		return false;
	if (shared)
		p->readers[lock]++;
	else
		p->holder[lock] = owner;
	return true;
}

/* Appends an event. A thread that would block on a lock is left behind, with all events that depend on it. */
static void push(struct pecan *p, uint32_t e)
{
	const struct model *m = p->m;
	uint32_t thread = model_thread_of(m, e);
	if (m->events[e].pos < p->done[thread])
		return; /* it released a lock ahead of its turn */
	if (m->events[e].pos == p->done[thread] && move_lock(p, e)) {
		p->done[thread]++;
		p->no_memory = !schedule_push(p->out, m, e);
		p->ok = !p->no_memory;
		return;
	}
	if (p->cut_count == CUTS)
		p->ok = false;
	else
		p->cuts[p->cut_count++] = e;
}

/* Appends the rest of a part of the trace before `end`. */
static void advance(struct pecan *p, uint32_t part, uint32_t end)
{
	uint32_t *at = part == LINE ? &p->line : &p->cursors[part];
	for (; *at < end && p->ok; ++*at)
		if (part_of(p, *at) == part)
			push(p, *at);
}

/* The first goal event that a thread still has to execute, the limit for running it; its end if there is none. */
static uint32_t next_goal(const struct pecan *p, uint32_t thread)
{
	uint32_t next = p->m->threads[thread].count;
	for (uint32_t i = 0; i < p->goal->count; i++) {
		uint32_t e = p->goal->events[i], pos = p->m->events[e].pos;
		if (model_thread_of(p->m, e) == thread && pos >= p->done[thread] && pos < next)
			next = pos;
	}
	return next;
}

static bool in_the_way(const struct pecan *p, uint32_t lockset)
{
	const struct model_lockset *s = &p->m->locksets[lockset];
	for (uint32_t i = 0; i < s->count; i++)
		if (p->needed[s->locks[i].object] > (s->locks[i].shared ? SHARED : FREE))
			return true;
	return false;
}

/* Runs a thread until it holds no needed lock, if it can do so before its next goal event. */
static void run_out(struct pecan *p, uint32_t thread)
{
	const struct model *m = p->m;
	uint32_t end = next_goal(p, thread), pos = p->done[thread];
	while (pos <= end && in_the_way(p, held_before(m, thread, pos)))
		pos++;
	while (pos <= end && p->done[thread] < pos && p->ok) {
		uint32_t e = m->threads[thread].events[p->done[thread]], cuts = p->cut_count;
		push(p, e);
		if (p->cut_count > cuts)
			return;
	}
}

/* True if a thread continues with this part. */
static bool goes_on(const struct pecan *p, uint32_t thread, uint32_t part)
{
	const struct model_thread *t = &p->m->threads[thread];
	return p->done[thread] < t->count && part_of(p, t->events[p->done[thread]]) == part;
}

/* Runs threads until they release the locks that a goal event's thread needs on its way, if they would not run
 * before. */
static void make_way(struct pecan *p, uint32_t e, uint32_t part)
{
	const struct model *m = p->m;
	uint32_t thread = model_thread_of(m, e), end = m->events[e].pos;
	memset(p->needed, FREE, m->object_count);
	for (uint32_t pos = p->done[thread]; pos < end; pos++) {
		uint32_t step = m->threads[thread].events[pos], lock = model_lock_taken(m, step);
		if (lock == MODEL_NONE)
			continue;
		uint8_t mode = model_op(m, step) == RT_OP_ACQUIRE_SHARED ? SHARED : EXCLUSIVE;
		p->needed[lock] = mode > p->needed[lock] ? mode : p->needed[lock];
	}
	for (uint32_t t = 0; t < m->thread_count && p->ok; t++)
		if (t != thread && in_the_way(p, held_before(m, t, p->done[t])) && !goes_on(p, t, part))
			run_out(p, t);
}

/* A sequence's events, each after the events of its part that precede it in the trace. */
static void build_sequence(struct pecan *p)
{
	for (uint32_t i = 0; i < p->goal->count && p->ok; i++) {
		uint32_t e = p->goal->events[i], part = part_of_goal(p, e);
		make_way(p, e, part);
		advance(p, part, e + 1);
	}
}

/* Events that all come last: the line first, then each suspended thread. */
static void build_state(struct pecan *p)
{
	const struct goal *g = p->goal;
	for (uint32_t i = 0; i < g->count && p->ok; i++)
		if (part_of_goal(p, g->events[i]) == LINE)
			advance(p, LINE, g->events[i]);
	for (uint32_t i = 0; i < g->count && p->ok; i++) {
		uint32_t part = part_of_goal(p, g->events[i]);
		if (part == LINE)
			continue;
		make_way(p, g->events[i], part);
		advance(p, part, g->events[i]);
	}
}

/* The event before which no thread is held up: until then the schedule is the trace itself. */
static uint32_t first_cut(const struct pecan *p)
{
	uint32_t first = goal_last(p->goal);
	for (uint32_t i = 0; i < p->held_up; i++)
		first = p->cuts[i] < first ? p->cuts[i] : first;
	return first;
}

/* Begins as the trace does; the state that this leaves is known. */
static void begin_recorded(struct pecan *p, uint32_t end)
{
	const struct model *m = p->m;
	for (uint32_t t = 0; t < m->thread_count; t++) {
		p->done[t] = model_executed(m, t, end);
		const struct model_lockset *held = &m->locksets[held_before(m, t, p->done[t])];
		for (uint32_t i = 0; i < held->count; i++) {
			if (held->locks[i].shared)
				p->readers[held->locks[i].object]++;
			else
				p->holder[held->locks[i].object] = t + 1;
		}
	}
	p->line = end;
	p->no_memory = !schedule_push_recorded(p->out, m, p->done, end);
	p->ok = !p->no_memory;
}

static void hold_up(struct pecan *p)
{
	if (p->goal->kind == GOAL_SEQUENCE)
		hold_up_sequence(p);
	else
		hold_up_others(p);
	p->cut_count = p->held_up;
	memcpy(p->cursors, p->cuts, sizeof p->cursors);
}

static bool prepare(struct pecan *p)
{
	const struct model *m = p->m;
	p->done = calloc((size_t)m->thread_count + 1, sizeof *p->done);
	p->holder = calloc((size_t)m->object_count + 1, sizeof *p->holder);
	p->readers = calloc((size_t)m->object_count + 1, sizeof *p->readers);
	p->needed = calloc((size_t)m->object_count + 1, sizeof *p->needed);
	return p->done && p->holder && p->readers && p->needed;
}

enum search_answer pecan_schedule(const struct segment_order *por, const struct goal *goal, uint64_t budget,
                                  struct schedule *out, uint64_t *built)
{
	struct pecan p = {.m = por->m, .por = por, .goal = goal, .out = out, .ok = true};
	hold_up(&p);
	uint32_t first = first_cut(&p);
	*built = (uint64_t)goal_last(goal) - first + 1;
	if (*built > budget)
		return SEARCH_GAVE_UP;
	p.no_memory = !prepare(&p);
	p.ok = !p.no_memory;
	if (p.ok)
		begin_recorded(&p, first);
	if (p.ok && goal->kind == GOAL_SEQUENCE)
		build_sequence(&p);
	else if (p.ok)
		build_state(&p);
	free(p.done);
	free(p.holder);
	free(p.readers);
	free(p.needed);
	return p.no_memory ? SEARCH_NO_MEMORY : SEARCH_FOUND;
}
