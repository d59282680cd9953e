/* PECAN's schedules; see pecan.h. */
#include "lib/prove/pecan.h"

#include "lib/relation/sections.h"

#include <stdlib.h>
#include <string.h>

/* BLOCKED: so many threads may be left behind. LINE: the part of the trace that nobody holds up. */
enum { BLOCKED = 32, CUTS = ANOMALY_EVENTS_MAX + BLOCKED, LINE = CUTS };
enum { FREE, SHARED, EXCLUSIVE };

struct pecan {
	const struct model *m;
	const struct segment_order *por;
	const struct goal *goal;
	struct schedule *out;
	/* Where threads are held up, those of the goal first; then where those stopped that a lock leaves behind. */
	uint32_t cuts[CUTS];
	uint32_t held_up, cut_count;
	uint32_t cursors[ANOMALY_EVENTS_MAX]; /* where what is held up is now, in the trace */
	uint32_t line;                        /* where the rest of the trace is now */
	uint32_t *done;                       /* by thread: so many events are in the schedule */
	uint32_t *holder;                     /* by object: thread that holds it exclusively + 1 */
	uint32_t *readers;                    /* by object: threads that share it */
	uint8_t *needed;                      /* by object: by who is to come next */
	bool ok;                              /* false: gave up, or no memory */
	bool no_memory;
};

/* Locks held by a thread that stands before the event at pos. */
static uint32_t held_before(const struct model *m, uint32_t thread, uint32_t pos)
{
	return pos ? model_lockset_of(m, m->threads[thread].events[pos - 1]) : 0;
}

/* Where the outermost critical section that an event is in begins; the event itself without one. */
static uint32_t outermost_lock(const struct model *m, uint32_t e)
{
	uint32_t thread = model_thread_of(m, e), pos = m->events[e].pos;
	while (pos && m->locksets[held_before(m, thread, pos)].count)
		pos--;
	return m->threads[thread].events[pos];
}

/* The held-up thread that a goal event belongs to, or LINE. */
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
 * Where the thread of goal event i is to be held up, so that those before it in the goal may come first: where it takes
 * the outermost lock that protects the event; or, if its own goal event before is in the same section, the last point
 * after that where it excludes none of them (v_x of Algorithm 4).
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

/* Of a sequence: holds up the threads whose events must wait for some that come later in the trace. */
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

/* Of events that all come last: all threads but that of the last one in the trace. */
static void hold_up_others(struct pecan *p)
{
	const struct goal *g = p->goal;
	uint32_t last = g->events[0];
	for (uint32_t i = 1; i < g->count; i++)
		last = g->events[i] > last ? g->events[i] : last;
	for (uint32_t i = 0; i < g->count; i++)
		if (g->events[i] != last)
			p->cuts[p->held_up++] = outermost_lock(p->m, g->events[i]);
}

/* Takes or lets go the event's lock; false if another thread has it. */
static bool move_lock(struct pecan *p, uint32_t e)
{
	const struct model *m = p->m;
	uint32_t lock = section_lock_taken(m, e), let_go = section_lock_let_go(m, e), owner = model_thread_of(m, e) + 1;
	if (let_go != MODEL_NONE) {
		if (p->holder[let_go] == owner)
			p->holder[let_go] = 0;
		else
			p->readers[let_go] -= p->readers[let_go] ? 1 : 0;
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

/* Appends an event. Who asks for a lock that is taken stays behind, with all that depends on it. */
static void push(struct pecan *p, uint32_t e)
{
	const struct model *m = p->m;
	uint32_t thread = model_thread_of(m, e);
	if (m->events[e].pos < p->done[thread])
		return; /* it let go a lock ahead of its turn */
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

/* Appends what is left of a part of the trace before `end`. */
static void advance(struct pecan *p, uint32_t part, uint32_t end)
{
	uint32_t *at = part == LINE ? &p->line : &p->cursors[part];
	for (; *at < end && p->ok; ++*at)
		if (part_of(p, *at) == part)
			push(p, *at);
}

/* The first goal event that a thread has still to execute: how far it may be run. Its end if there is none. */
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

/* Runs a thread on until it holds nothing that is needed, if that is before its next goal event. */
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

/* Does a thread go on with this part? */
static bool goes_on(const struct pecan *p, uint32_t thread, uint32_t part)
{
	const struct model_thread *t = &p->m->threads[thread];
	return p->done[thread] < t->count && part_of(p, t->events[p->done[thread]]) == part;
}

/* Lets the locks go that a goal event's thread takes on its way there and others hold, who do not go on before. */
static void make_way(struct pecan *p, uint32_t e, uint32_t part)
{
	const struct model *m = p->m;
	uint32_t thread = model_thread_of(m, e), end = m->events[e].pos;
	memset(p->needed, FREE, m->object_count);
	for (uint32_t pos = p->done[thread]; pos < end; pos++) {
		uint32_t step = m->threads[thread].events[pos], lock = section_lock_taken(m, step);
		if (lock == MODEL_NONE)
			continue;
		uint8_t mode = model_op(m, step) == RT_OP_ACQUIRE_SHARED ? SHARED : EXCLUSIVE;
		p->needed[lock] = mode > p->needed[lock] ? mode : p->needed[lock];
	}
	for (uint32_t t = 0; t < m->thread_count && p->ok; t++)
		if (t != thread && in_the_way(p, held_before(m, t, p->done[t])) && !goes_on(p, t, part))
			run_out(p, t);
}

/* A sequence's events, each after what the trace has before it in its part. */
static void build_sequence(struct pecan *p)
{
	for (uint32_t i = 0; i < p->goal->count && p->ok; i++) {
		uint32_t e = p->goal->events[i], part = part_of_goal(p, e);
		make_way(p, e, part);
		advance(p, part, e + 1);
	}
}

/* Events that all come last: the line first, then each of those that were held up. */
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

static bool prepare(struct pecan *p)
{
	const struct model *m = p->m;
	p->done = calloc((size_t)m->thread_count + 1, sizeof *p->done);
	p->holder = calloc((size_t)m->object_count + 1, sizeof *p->holder);
	p->readers = calloc((size_t)m->object_count + 1, sizeof *p->readers);
	p->needed = calloc((size_t)m->object_count + 1, sizeof *p->needed);
	return p->done && p->holder && p->readers && p->needed;
}

bool pecan_schedule(const struct segment_order *por, const struct goal *goal, struct schedule *out)
{
	struct pecan p = {.m = por->m, .por = por, .goal = goal, .out = out, .ok = true};
	p.no_memory = !prepare(&p);
	if (!p.no_memory) {
		if (goal->kind == GOAL_SEQUENCE)
			hold_up_sequence(&p);
		else
			hold_up_others(&p);
		p.cut_count = p.held_up;
		memcpy(p.cursors, p.cuts, sizeof p.cursors);
		if (goal->kind == GOAL_SEQUENCE)
			build_sequence(&p);
		else
			build_state(&p);
	}
	free(p.done);
	free(p.holder);
	free(p.readers);
	free(p.needed);
	return !p.no_memory;
}
