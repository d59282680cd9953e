/* The events that a goal needs; see needs.h. */
#include "lib/prove/needs.h"
#include "lib/base/free.h"

#include <stdlib.h>
#include <string.h>

bool needs_init(struct needs *n, const struct base *base, const struct reads *reads)
{
	const struct model *m = base->m;
	size_t threads = (size_t)m->thread_count + 1;
	size_t entries = model_entries(m);
	*n = (struct needs){.m = m, .trf = base->trf, .base = base, .reads = reads};
	n->must = calloc(threads, sizeof *n->must);
	n->bound = calloc(threads, sizeof *n->bound);
	n->target = calloc(threads, sizeof *n->target);
	n->looked = calloc(threads, sizeof *n->looked);
	if (reads->values) {
		n->asking = calloc(entries + 1, sizeof *n->asking);
		n->asking_first = calloc((size_t)m->cell_count + 1, sizeof *n->asking_first);
	}
	return n->must && n->bound && n->target && n->looked && (!reads->values || (n->asking && n->asking_first));
}

void needs_release(struct needs *n)
{
	free_all(n->must, n->bound, n->target, n->looked, n->asking, n->asking_first);
}

/* A set that is raised. */
struct raising {
	uint32_t *set;
	uint64_t looked_at;
	bool raised;
};

static void raise_thread(void *arg, uint32_t thread, uint32_t count)
{
	struct raising *r = arg;
	r->looked_at++;
	if (count > r->set[thread]) {
		r->set[thread] = count;
		r->raised = true;
	}
}

/* Adds what a clock has. Only what it does not share with the clock that the set was last raised to is looked at: with
 * many threads, two clocks in a row are mostly the same. */
static void raise_to(uint32_t *set, struct needs *n, uint32_t clock)
{
	uint32_t *last = set == n->must ? &n->must_clock : &n->bound_clock;
	struct raising r = {.set = set, .looked_at = 1};
	clock_each_other(&n->trf->clocks, clock, *last, raise_thread, &r);
	n->looked_at += r.looked_at;
	if (r.raised)
		*last = clock;
}

/* Adds an event and all events that it needs. */
static void include(uint32_t *set, struct needs *n, uint32_t e)
{
	uint32_t thread = model_thread_of(n->m, e);
	raise_to(set, n, trf_clock(n->trf, e));
	if (n->m->events[e].pos + 1 > set[thread])
		set[thread] = n->m->events[e].pos + 1;
}

uint32_t needs_clock(const struct trf *trf, const struct goal *g, uint32_t i)
{
	bool unsignalled = g->kind == GOAL_DEADLOCK && goal_awaits_signal(trf->m, g->events, g->count, i);
	return unsignalled ? trf_clock_unsignalled(trf, g->events[i]) : trf_clock_before(trf, g->events[i]);
}

/* Adds the events that must have occurred for e to be next, of this clock. */
static void include_before(uint32_t *set, struct needs *n, uint32_t e, uint32_t clock)
{
	uint32_t thread = model_thread_of(n->m, e);
	raise_to(set, n, clock);
	if (n->m->events[e].pos > set[thread])
		set[thread] = n->m->events[e].pos;
}

/* True if this event may occur before the goal. */
static bool may_occur(const struct needs *n, uint32_t e)
{
	const struct goal *g = n->goal;
	uint32_t clock = trf_clock(n->trf, e);
	uint32_t first = g->kind == GOAL_SEQUENCE ? g->count - 1 : 0;
	for (uint32_t i = first; i < g->count; i++) {
		uint32_t x = g->events[i], thread = model_thread_of(n->m, x);
		uint32_t known = thread == model_thread_of(n->m, e) ? n->m->events[e].pos + 1
		                                                    : clock_get(&n->trf->clocks, clock, thread);
		if (known > n->m->events[x].pos)
			return false;
	}
	return true;
}

/* Adds what the goal's events themselves need. */
static void needs_of_goal(struct needs *n)
{
	const struct model *m = n->m;
	const struct goal *g = n->goal;
	memset(n->must, 0, m->thread_count * sizeof *n->must);
	n->must_clock = 0;
	memset(n->target, 0xff, m->thread_count * sizeof *n->target);
	for (uint32_t i = 0; i < g->count; i++) {
		uint32_t e = g->events[i], thread = model_thread_of(m, e);
		if (g->kind != GOAL_SEQUENCE)
			n->target[thread] = m->events[e].pos;
		if (g->kind != GOAL_SEQUENCE || !goal_continues(g, m, i))
			include_before(n->must, n, e, needs_clock(n->trf, g, i));
		if (g->kind == GOAL_SEQUENCE && m->events[e].pos + 1 > n->must[thread])
			n->must[thread] = m->events[e].pos + 1;
	}
}

/* True if the goal needs no event that it excludes. */
static bool needs_possible(const struct needs *n)
{
	const struct goal *g = n->goal;
	for (uint32_t t = 0; t < n->m->thread_count; t++)
		if (n->target[t] != MODEL_NONE && n->must[t] > n->target[t])
			return false;
	if (g->kind != GOAL_SEQUENCE)
		return true;
	/* The last event of a sequence comes after all others. */
	uint32_t final = g->events[g->count - 1];
	return n->must[model_thread_of(n->m, final)] == n->m->events[final].pos + 1;
}

/* The last needed event of a section that the needed part has begun: its release, if that is needed. A goal's own read
 * need not see what it saw, so that of an open section only the acquire counts in a sequence. */
static uint32_t last_needed(const struct needs *n, const struct section *section)
{
	const struct model *m = n->m;
	uint32_t needed = n->must[section->thread];
	if (section->release != MODEL_NONE && m->events[section->release].pos < needed)
		return section->release;
	return n->goal->kind == GOAL_SEQUENCE ? section->acquire : m->threads[section->thread].events[needed - 1];
}

/* True if a needed section, after the open one, excludes it and ends after its beginning. */
static bool ends_after(struct needs *n, const struct section *other, const struct section *open)
{
	n->looked_at++;
	return sections_exclude(other, open) && !goal_runs(n->goal, other->acquire) &&
	       clock_get(&n->trf->clocks, trf_clock(n->trf, last_needed(n, other)), open->thread) >
	           n->m->events[open->acquire].pos;
}

/* True if the needed part must contain the end of this section, which is open there: another thread has, in the needed
 * part, a section that it excludes and that ends after its beginning. Often one of the next sections is such; if not,
 * those of each thread are looked at, the last first. */
static bool must_close(struct needs *n, const struct section *open)
{
	const struct sections *all = n->base->sections;
	uint32_t next = open->place;
	for (const struct section *other; (other = base_next(n->base, open, n->must, &next));)
		if (ends_after(n, other, open))
			return true;
	for (uint32_t i = all->lock_first[open->lock]; i < all->lock_first[open->lock + 1]; i++) {
		const struct section_group *g = &all->groups[i];
		n->looked_at++;
		if (!base_has_later(n->base, g, open))
			continue;
		for (uint32_t k = base_count(n->base, g, n->must[g->thread]); k; k--) {
			const struct section *other = &all->items[all->sorted[g->first + k - 1]];
			if (other->place < open->place)
				break;
			if (ends_after(n, other, open))
				return true;
		}
	}
	return false;
}

/* Adds the ends of a thread's holds that must be needed. *possible: all of these ends exist. */
static bool close_needed(struct needs *n, uint32_t thread, bool *possible)
{
	const struct model_lockset *held = base_held(n->m, thread, n->must[thread]);
	for (uint32_t i = 0; i < held->count; i++) {
		const struct section *open = base_section(n->base, thread, held->locks[i].object, n->must[thread]);
		if (!open || !must_close(n, open))
			continue;
		if (open->release == MODEL_NONE || !may_occur(n, open->release)) {
			*possible = false;
			return false;
		}
		include(n->must, n, open->release);
		return true;
	}
	return false;
}

/* Adds further needs of the needed part. False: an event that the goal excludes is among them. */
static bool close_all(struct needs *n)
{
	bool possible = true;
	for (bool more = true; more && possible && needs_possible(n);) {
		more = false;
		n->looked_at += n->m->thread_count;
		for (uint32_t t = 0; t < n->m->thread_count; t++)
			more |= close_needed(n, t, &possible);
	}
	return possible && needs_possible(n);
}

bool needs_find(struct needs *n, const struct goal *goal)
{
	n->goal = goal;
	needs_of_goal(n);
	return close_all(n);
}

bool needs_require(struct needs *n, uint32_t e)
{
	include(n->must, n, e);
	return may_occur(n, e) && close_all(n);
}

/* Adds the ends of the holds that a thread has when its relevant part ends, as far as these may occur. */
static bool close_holds(struct needs *n, uint32_t thread)
{
	const struct model *m = n->m;
	const struct model_lockset *held = base_held(m, thread, n->bound[thread]);
	bool more = false;
	for (uint32_t i = 0; i < held->count; i++) {
		const struct section *open = base_section(n->base, thread, held->locks[i].object, n->bound[thread]);
		if (!open || open->release == MODEL_NONE || m->events[open->release].pos < n->bound[thread] ||
		    !may_occur(n, open->release))
			continue;
		include(n->bound, n, open->release);
		more = true;
	}
	return more;
}

/* Adds the writes that a read of this cell may see, as far as these may occur. */
static void include_writes(struct needs *n, uint32_t cell, uint32_t like)
{
	const struct values *values = n->reads->values;
	uint32_t *asking = like == MODEL_NONE ? &n->asking_first[cell] : &n->asking[like];
	if (*asking == n->goals)
		return;
	*asking = n->goals;
	for (uint32_t i = values_first(values, cell, like); i != MODEL_NONE; i = values_next(values, i))
		if (may_occur(n, n->m->cell_events[i]))
			include(n->bound, n, n->m->cell_events[i]);
}

/* Adds the writes that the thread's relevant reads may see, from pos on. */
static void include_seen(struct needs *n, uint32_t thread, uint32_t pos)
{
	const struct model *m = n->m;
	for (; pos < n->bound[thread]; pos++) {
		uint32_t e = m->threads[thread].events[pos];
		/* The goal's own reads too: their threads continue only if these see what they saw. */
		if (!rt_op_reads(model_op(m, e)) || !(reads_must(n->reads, n->goal, e) || goal_runs(n->goal, e)))
			continue;
		uint32_t end = m->events[e].object + m->sites[m->events[e].site].cells;
		for (uint32_t cell = m->events[e].object, entry = MODEL_NONE; cell < end; cell++) {
			entry = reads_entry(n->reads, e, cell, entry);
			include_writes(n, cell, reads_wanted(n->reads, entry));
		}
	}
}

void needs_relevant(struct needs *n)
{
	uint32_t threads = n->m->thread_count;
	memcpy(n->bound, n->must, threads * sizeof *n->bound);
	n->bound_clock = n->must_clock;
	memset(n->looked, 0, threads * sizeof *n->looked);
	n->goals++;
	for (bool more = true; more;) {
		more = false;
		n->looked_at += threads;
		for (uint32_t t = 0; t < threads; t++)
			more |= close_holds(n, t);
		for (uint32_t t = 0; n->reads->values && t < threads; t++) {
			uint32_t looked = n->looked[t];
			more |= looked < n->bound[t];
			n->looked[t] = n->bound[t];
			include_seen(n, t, looked);
		}
	}
}
