/* Races whose events never stand side by side; see unordered.h. */
#include "lib/witness/unordered.h"

#include <stdlib.h>
#include <string.h>

/* The event that is delayed, and the other one, whose thread runs ahead. */
struct roles {
	uint32_t delayed, other;
	uint32_t delayed_thread, other_thread;
};

bool unordered_init(struct unordered *u, const struct base *base, struct certain *certain, bool exact)
{
	size_t threads = (size_t)base->m->thread_count + 1;
	*u = (struct unordered){.m = base->m, .base = base, .certain = certain, .exact = exact};
	u->first = calloc(threads, sizeof *u->first);
	u->all = calloc(threads, sizeof *u->all);
	u->limit = calloc(threads, sizeof *u->limit);
	u->last_read = calloc(threads, sizeof *u->last_read);
	u->last_write = calloc(threads, sizeof *u->last_write);
	return u->first && u->all && u->limit && u->last_read && u->last_write;
}

void unordered_release(struct unordered *u)
{
	free(u->first);
	free(u->all);
	free(u->limit);
	free(u->last_read);
	free(u->last_write);
	free(u->racy);
	*u = (struct unordered){0};
}

static uint32_t pos_of(const struct unordered *u, uint32_t e)
{
	return u->m->events[e].pos;
}

static bool within(const struct unordered *u, const uint32_t *set, uint32_t e)
{
	return pos_of(u, e) < set[model_thread_of(u->m, e)];
}

static void raise_to(const struct unordered *u, uint32_t *set, uint32_t clock)
{
	for (uint32_t t = 0; t < u->m->thread_count; t++) {
		uint32_t known = clock_get(&u->base->trf->clocks, clock, t);
		set[t] = known > set[t] ? known : set[t];
	}
}

/* Adds an event with all that it needs. */
static void include(const struct unordered *u, uint32_t *set, uint32_t e)
{
	uint32_t thread = model_thread_of(u->m, e);
	raise_to(u, set, trf_clock(u->base->trf, e));
	set[thread] = pos_of(u, e) + 1 > set[thread] ? pos_of(u, e) + 1 : set[thread];
}

static bool keeps_limit(const struct unordered *u, const uint32_t *set)
{
	for (uint32_t t = 0; t < u->m->thread_count; t++)
		if (set[t] > u->limit[t])
			return false;
	return true;
}

/* ---- What the racy reads may have seen ---- */

static bool find_racy(struct unordered *u)
{
	const struct model *m = u->m;
	if (u->exact || u->racy)
		return true;
	if (!(u->racy = malloc(((size_t)m->cell_count + 1) * sizeof *u->racy)))
		return false;
	for (uint32_t cell = 0; cell < m->cell_count; cell++) {
		bool racy = false;
		for (uint32_t i = 0; i < m->cells[cell].count && !racy; i++)
			racy = rt_op_reads(model_op(m, m->cell_events[m->cells[cell].first + i])) &&
			       certain_is_not(u->certain, cell, m->cells[cell].first + i);
		if (racy)
			u->racy[u->racy_count++] = cell;
	}
	return true;
}

/* Adds to the set each thread's last write that may have been seen by the last read of another one, of a cell. */
static bool include_writers(struct unordered *u, uint32_t *set, uint32_t cell, uint32_t readers)
{
	const struct model *m = u->m;
	const struct model_cell *c = &m->cells[cell];
	bool more = false;
	for (uint32_t i = c->first; readers && i < c->first + c->count; i++) {
		uint32_t w = m->cell_events[i], writer = model_thread_of(m, w);
		if (!rt_op_writes(model_op(m, w)) || within(u, set, w))
			continue;
		for (uint32_t t = 0; t < m->thread_count; t++) {
			if (u->last_read[t] == MODEL_NONE || t == writer ||
			    certain_before(u->certain, u->last_read[t], w))
				continue;
			include(u, set, w);
			more = true;
			break;
		}
	}
	u->spent += c->count;
	return more;
}

/* A later read of a thread may have seen all that an earlier one may have, so that the last one tells. The other event
 * may see what it likes if it is a read. */
static uint32_t find_readers(struct unordered *u, const uint32_t *set, uint32_t cell, uint32_t other)
{
	const struct model *m = u->m;
	const struct model_cell *c = &m->cells[cell];
	uint32_t readers = 0;
	memset(u->last_read, 0xff, m->thread_count * sizeof *u->last_read);
	for (uint32_t i = c->first; i < c->first + c->count; i++) {
		uint32_t e = m->cell_events[i];
		if (!rt_op_reads(model_op(m, e)) || e == other || !within(u, set, e) ||
		    !certain_is_not(u->certain, cell, i))
			continue;
		u->last_read[model_thread_of(m, e)] = e;
		readers++;
	}
	u->spent += c->count;
	return readers;
}

static bool include_seen(struct unordered *u, uint32_t *set, uint32_t other)
{
	bool more = false;
	for (uint32_t i = 0; i < u->racy_count && u->spent < u->budget; i++)
		more |= include_writers(u, set, u->racy[i], find_readers(u, set, u->racy[i], other));
	return more;
}

/* ---- Locks ---- */

/* Does another thread, in the set and beyond `from` (NULL: anywhere), take the lock of an open section, after it? */
static bool taken_by_others(const struct unordered *u, const struct section *open, const uint32_t *from,
                            const uint32_t *set, bool later)
{
	const struct sections *s = &u->base->sections;
	for (uint32_t i = s->lock_first[open->lock]; i < s->lock_first[open->lock + 1]; i++) {
		const struct section_group *g = &s->groups[i];
		uint32_t n = g->thread != open->thread ? base_count(u->base, g, set[g->thread]) : 0;
		for (; n; n--) {
			const struct section *other = &s->items[s->sorted[g->first + n - 1]];
			if ((later && other->place < open->place) ||
			    (from && pos_of(u, other->acquire) < from[g->thread]))
				break;
			if (sections_exclude(other, open))
				return true;
		}
	}
	return false;
}

/* Adds the ends of sections that are open at the set's end, where another one of the set comes later in the trace. */
static bool include_releases(const struct unordered *u, uint32_t *set, bool *possible)
{
	bool more = false;
	for (uint32_t t = 0; t < u->m->thread_count && *possible; t++) {
		const struct model_lockset *held = base_held(u->m, t, set[t]);
		for (uint32_t i = 0; i < held->count; i++) {
			const struct section *open = base_section(u->base, t, held->locks[i].object, set[t]);
			if (!open || !taken_by_others(u, open, NULL, set, true))
				continue;
			*possible = open->release != MODEL_NONE;
			if (*possible)
				include(u, set, open->release);
			more = *possible;
			break;
		}
	}
	return more;
}

/* Adds what the set needs besides. False: more than may be in it, or than there is a budget for. */
static bool settle(struct unordered *u, uint32_t *set, uint32_t other)
{
	bool possible = true;
	for (bool more = true; more && possible;) {
		more = include_releases(u, set, &possible);
		if (possible && keeps_limit(u, set))
			more |= include_seen(u, set, other);
		possible &= keeps_limit(u, set) && u->spent < u->budget;
	}
	return possible;
}

/* ---- The first part ---- */

/* The first `ahead` events of the other one's thread, with what they need. */
static bool take_ahead(struct unordered *u, const struct roles *r, uint32_t ahead)
{
	memset(u->first, 0, u->m->thread_count * sizeof *u->first);
	if (ahead)
		include(u, u->first, model_next(u->m, r->other_thread, ahead - 1));
	return settle(u, u->first, r->other);
}

/* So many of the other one's thread's events as do not need the delayed one. */
static uint32_t find_ahead(struct unordered *u, const struct roles *r)
{
	uint32_t low = 0, high = pos_of(u, r->other), most;
	if (take_ahead(u, r, high))
		return high;
	while (low < high) {
		most = low + (high - low) / 2;
		if (take_ahead(u, r, most + 1))
			low = most + 1;
		else
			high = most;
	}
	return low;
}

/* Where the thread's outermost hold begins of a lock that others take in the second part; else where it stands. */
static uint32_t before_holds(const struct unordered *u, uint32_t thread, const uint32_t *from)
{
	uint32_t at = from[thread];
	const struct model_lockset *held = base_held(u->m, thread, at);
	for (uint32_t i = 0; i < held->count; i++) {
		const struct section *open = base_section(u->base, thread, held->locks[i].object, from[thread]);
		if (open && pos_of(u, open->acquire) < at && taken_by_others(u, open, from, u->all, false))
			at = pos_of(u, open->acquire);
	}
	return at;
}

/* Both parts: the two events, and what they need. The delayed one's thread runs on, so that it sees what it saw. */
static bool take_all(struct unordered *u, const struct roles *r)
{
	memcpy(u->all, u->first, u->m->thread_count * sizeof *u->all);
	include(u, u->all, r->delayed);
	raise_to(u, u->all, trf_clock_before(u->base->trf, r->other));
	if (u->all[r->other_thread] > pos_of(u, r->other))
		return false;
	u->all[r->other_thread] = pos_of(u, r->other) + 1;
	u->limit[r->other_thread] = pos_of(u, r->other) + 1;
	u->limit[r->delayed_thread] = MODEL_NONE;
	return settle(u, u->all, r->other);
}

/* Lowers the first part to what does not need what lies behind it. */
static void lower(const struct unordered *u)
{
	const struct model *m = u->m;
	for (bool more = true; more;) {
		more = false;
		for (uint32_t t = 0; t < m->thread_count; t++)
			for (uint32_t s = 0; s < m->thread_count; s++) {
				uint32_t low = 0, high = s != t ? u->first[t] : 0;
				while (low < high) {
					uint32_t middle = low + (high - low) / 2;
					uint32_t clock = trf_clock(u->base->trf, m->threads[t].events[middle]);
					if (clock_get(&u->base->trf->clocks, clock, s) > u->first[s])
						high = middle;
					else
						low = middle + 1;
				}
				more |= s != t && low < u->first[t];
				u->first[t] = s != t ? low : u->first[t];
			}
	}
}

/* All that can be done without the delayed event, and without holding what the second part needs. */
static void take_most(struct unordered *u, const struct roles *r)
{
	const struct model *m = u->m;
	memcpy(u->first, u->all, m->thread_count * sizeof *u->first);
	u->first[r->other_thread] = pos_of(u, r->other);
	if (u->first[r->delayed_thread] > pos_of(u, r->delayed))
		u->first[r->delayed_thread] = pos_of(u, r->delayed);
	for (bool more = true; more;) {
		lower(u);
		more = false;
		for (uint32_t t = 0; t < m->thread_count; t++) {
			uint32_t at = before_holds(u, t, u->first);
			more |= at < u->first[t];
			u->first[t] = at;
		}
	}
}

static void limit_first(struct unordered *u, const struct roles *r)
{
	memset(u->limit, 0xff, u->m->thread_count * sizeof *u->limit);
	u->limit[r->delayed_thread] = pos_of(u, r->delayed);
	u->limit[r->other_thread] = pos_of(u, r->other);
}

/* What the other one's thread can do without the delayed event. */
static bool take_least(struct unordered *u, const struct roles *r)
{
	limit_first(u, r);
	uint32_t ahead = find_ahead(u, r);
	for (;;) {
		limit_first(u, r);
		if (!take_ahead(u, r, ahead) || !take_all(u, r))
			return false;
		uint32_t at = before_holds(u, r->other_thread, u->first);
		if (at >= ahead)
			return true;
		ahead = at;
	}
}

/* ---- Whichever write the racy reads saw ---- */

/* Of one cell that a racy read touches: does every access of the first part come before what it conflicts with? */
static bool is_kept(struct unordered *u, uint32_t cell)
{
	const struct model *m = u->m;
	const struct model_cell *c = &m->cells[cell];
	memset(u->last_read, 0xff, m->thread_count * sizeof *u->last_read);
	memset(u->last_write, 0xff, m->thread_count * sizeof *u->last_write);
	for (uint32_t i = c->first; i < c->first + c->count; i++) {
		uint32_t e = m->cell_events[i], thread = model_thread_of(m, e);
		if (!within(u, u->first, e))
			continue;
		if (rt_op_reads(model_op(m, e)))
			u->last_read[thread] = e;
		if (rt_op_writes(model_op(m, e)))
			u->last_write[thread] = e;
	}
	u->spent += 2 * (uint64_t)c->count;
	for (uint32_t i = c->first; i < c->first + c->count; i++) {
		uint32_t e = m->cell_events[i], thread = model_thread_of(m, e);
		if (within(u, u->first, e) || !within(u, u->all, e))
			continue;
		for (uint32_t t = 0; t < m->thread_count; t++) {
			uint32_t w = u->last_write[t], read = u->last_read[t];
			if (t != thread && w != MODEL_NONE && !certain_before(u->certain, w, e))
				return false;
			if (t != thread && read != MODEL_NONE && rt_op_writes(model_op(m, e)) &&
			    !certain_before(u->certain, read, e))
				return false;
		}
	}
	return true;
}

static bool is_sure(struct unordered *u, uint32_t other)
{
	for (uint32_t i = 0; i < u->racy_count; i++)
		if (u->spent > u->budget || (find_readers(u, u->all, u->racy[i], other) && !is_kept(u, u->racy[i])))
			return false;
	return true;
}

enum search_answer unordered_build(struct unordered *u, const struct goal *goal, unsigned way, uint64_t budget,
                                   struct schedule *out, bool *sure)
{
	const struct model *m = u->m;
	struct roles r = {.delayed = goal->events[way & 1], .other = goal->events[!(way & 1)]};
	r.delayed_thread = model_thread_of(m, r.delayed);
	r.other_thread = model_thread_of(m, r.other);
	u->budget = budget;
	u->spent = 0;
	if (!find_racy(u))
		return SEARCH_NO_MEMORY;
	if (!take_least(u, &r) || (way & 2 && !u->exact))
		return SEARCH_GAVE_UP;
	if (way & 2)
		take_most(u, &r);
	*sure = is_sure(u, r.other);
	for (uint32_t t = 0; t < m->thread_count; t++)
		u->spent += u->all[t];
	bool pushed = schedule_push_recorded(out, m, u->first, m->event_count) &&
	              schedule_push_rest(out, m, u->first, u->all, m->event_count);
	return pushed ? SEARCH_FOUND : SEARCH_NO_MEMORY;
}
