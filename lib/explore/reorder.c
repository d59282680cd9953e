/* Reorderings with another value for one read; see reorder.h. */
#include "lib/explore/reorder_parts.h"

#include "lib/base/free.h"
#include "lib/base/vec.h"

#include <stdlib.h>
#include <string.h>

enum {
	CHANGES_MAX = 3,
	STEPS_MAX = 100000, /* of the search with one bound */
	TRIED_MAX = 20000,  /* reads that see something else, in it */
	FOUND_MAX = 256
};

/* The next of a thread that matters; NULL: it has no more. */
static struct matter *next_of(const struct search *s, uint32_t thread)
{
	return s->at[thread] < s->lengths[thread] ? &s->all[s->by_thread[thread][s->at[thread]]] : NULL;
}

static bool is_done(const struct search *s, uint32_t matter)
{
	const struct matter *m = &s->all[matter];
	return m->rank < s->at[seen_of(s, m)->thread];
}

/* No lock and no order keeps it from its next event. */
static bool can_step(const struct search *s, const struct matter *m)
{
	const struct seen *e = seen_of(s, m);
	if (m->before != NONE && !is_done(s, m->before))
		return false;
	if (!m->takes || (m->takes->owner == e->thread))
		return true;
	return m->takes->owner == NONE && (e->op == RT_OP_ACQUIRE_SHARED || !m->takes->readers);
}

/* True if the event is a read that would see another value. *known: for sure. */
static bool differs(const struct search *s, const struct matter *m, uint64_t *value, bool *known)
{
	const struct seen *e = seen_of(s, m);
	if (m->variable == NONE || !rt_op_reads(e->op))
		return false;
	const struct variable *v = &s->variables[m->variable];
	if (v->writer == m->saw)
		return false;
	*value = reorder_value(s, v, v->writer, known);
	*known &= e->has_value;
	*known |= v->writer == NONE && !v->mixed && e->has_value;
	return !*known || *value != e->value;
}

/* The thread can execute its next event as in the run. */
static bool goes_on(const struct search *s, uint32_t thread)
{
	const struct matter *m = next_of(s, thread);
	uint64_t value;
	bool known;
	return m && can_step(s, m) && !differs(s, m, &value, &known);
}

static uint32_t change_lock(struct lock *lock, const struct seen *e, bool take, bool alone)
{
	if (take && alone) {
		lock->owner = e->thread;
		lock->depth++;
	} else if (take) {
		lock->readers++;
	} else if (lock->owner == e->thread && lock->depth) {
		if (!--lock->depth)
			lock->owner = NONE;
		return 1;
	} else if (lock->readers) {
		lock->readers--;
	}
	return 0;
}

/* The variable's last write is another one. */
static void set_writer(struct search *s, uint32_t variable, uint32_t writer)
{
	struct variable *v = &s->variables[variable];
	bool known;
	s->hash ^= reorder_mix(variable, reorder_value(s, v, v->writer, &known), 1);
	v->writer = writer;
	s->hash ^= reorder_mix(variable, reorder_value(s, v, v->writer, &known), 1);
}

static void set_at(struct search *s, uint32_t thread, uint32_t at)
{
	s->hash ^= reorder_mix(thread, s->at[thread], 2) ^ reorder_mix(thread, at, 2);
	s->at[thread] = at;
}

static void execute(struct search *s, uint32_t thread, struct step *step)
{
	struct matter *m = next_of(s, thread);
	const struct seen *e = seen_of(s, m);
	step->matter = (uint32_t)(m - s->all);
	set_at(s, thread, s->at[thread] + 1);
	if (m->variable != NONE && rt_op_writes(e->op)) {
		step->undo = s->variables[m->variable].writer;
		set_writer(s, m->variable, m->event);
	}
	if (m->takes)
		change_lock(m->takes, e, true, e->op != RT_OP_ACQUIRE_SHARED || m->takes->owner == e->thread);
	if (m->gives)
		step->undo = change_lock(m->gives, e, false, false);
}

static void undo(struct search *s, const struct step *step)
{
	struct matter *m = &s->all[step->matter];
	const struct seen *e = seen_of(s, m);
	set_at(s, e->thread, s->at[e->thread] - 1);
	if (m->variable != NONE && rt_op_writes(e->op))
		set_writer(s, m->variable, step->undo);
	if (m->takes)
		change_lock(m->takes, e, false, false);
	if (m->gives)
		change_lock(m->gives, e, true, step->undo);
}

/* The thread whose next event is the first in the run, of those that can go on; NONE: none can. */
static uint32_t first_to_go(const struct search *s)
{
	uint32_t best = NONE, at = NONE;
	for (uint32_t t = 0; t < s->d->thread_count; t++) {
		const struct matter *m = next_of(s, t);
		if (m && (best == NONE || m->event < at) && goes_on(s, t)) {
			best = t;
			at = m->event;
		}
	}
	return best;
}

/* The thread that goes on if nothing is changed. */
static uint32_t usual(const struct search *s, const struct step *state)
{
	return !state->following && goes_on(s, state->current) ? state->current : first_to_go(s);
}

static bool add_run(struct reordering *r, size_t *room, const struct seen *e, uint64_t *done)
{
	uint64_t from = done[e->thread] + 1;
	done[e->thread] = e->ordinal;
	if (r->count && r->runs[r->count - 1].thread == e->thread) {
		r->runs[r->count - 1].to = e->ordinal;
		return true;
	}
	if (!vec_reserve(&r->runs, room, (uint64_t)r->count + 1, sizeof *r->runs))
		return false;
	r->runs[r->count++] = (struct delay_run){e->thread, from, e->ordinal};
	return true;
}

/* The way to the state at hand, and the read. False without memory. */
static bool put_runs(const struct search *s, struct reordering *r, const struct seen *read)
{
	uint64_t *done = calloc((size_t)s->d->thread_count + 1, sizeof *done);
	size_t room = 0;
	bool ok = done;
	for (uint32_t i = 1; ok && i <= s->depth; i++)
		ok = add_run(r, &room, seen_of(s, &s->all[s->path[i].matter]), done);
	ok = ok && add_run(r, &room, read, done);
	free(done);
	return ok;
}

/* The reordering with the key, which is added if there is none. NULL: there is no memory, or no room. */
static struct reordering *reordering_of(struct search *s, uint64_t key, bool *added)
{
	struct reorderings *f = s->found;
	for (size_t i = f->count; i-- > 0;)
		if (f->items[i].key == key) {
			*added = false;
			return &f->items[i];
		}
	*added = true;
	if (f->count == FOUND_MAX)
		return NULL;
	if (!vec_reserve(&f->items, &f->room, (uint64_t)f->count + 1, sizeof *f->items)) {
		s->no_memory = true;
		return NULL;
	}
	f->items[f->count] = (struct reordering){.key = key};
	return &f->items[f->count++];
}

/* True if the new one shows more: by another thread in between, or else by what has been done before. */
static bool is_better(const struct reordering *now, const struct reordering *old)
{
	return now->torn != old->torn ? now->torn < old->torn : now->before > old->before;
}

static void note_read(struct search *s, uint32_t thread, uint32_t changes)
{
	const struct matter *m = next_of(s, thread);
	uint64_t value;
	bool known, added;
	if (!m || !can_step(s, m) || !differs(s, m, &value, &known) || s->tried++ > TRIED_MAX)
		return;
	const struct seen *e = seen_of(s, m);
	struct reordering *old = reordering_of(s, reorder_key(e, m->state, value), &added);
	if (!old)
		return;
	struct reordering r = {.key = old->key, .pc = e->pc, .thread = thread, .changes = changes, .known = known};
	r.updates = rt_op_writes(e->op);
	r.torn = reorder_splits(s, m, thread);
	r.before = s->depth;
	r.rank = m->rank;
	if (!added && !is_better(&r, old))
		return;
	if (!put_runs(s, &r, e)) {
		free(r.runs);
		s->no_memory = true;
		return;
	}
	r.held = r.count > 1 ? r.runs[r.count - 2].thread : thread;
	free(old->runs);
	*old = r;
}

/* Reads that see something else here. */
static void note_reads(struct search *s)
{
	const struct step *state = &s->path[s->depth];
	for (uint32_t t = 0; t < s->d->thread_count && !s->no_memory; t++) {
		uint32_t changes = state->cost + (t != state->current || state->following);
		if (changes <= s->bound)
			note_read(s, t, changes);
	}
}

/* The state was not visited with this cost. */
static bool is_fresh(struct search *s)
{
	const struct step *state = &s->path[s->depth];
	bool added;
	uint64_t key = reorder_mix(state->cost, state->following ? NONE : state->current, s->hash);
	if (!set_add(&s->visited, key, &added)) {
		s->no_memory = true;
		return false;
	}
	return added;
}

/* True if the thread is still to do what conflicts with the event. */
static bool conflicts(const struct search *s, const struct matter *m, uint32_t thread)
{
	const struct variable *v = m->variable == NONE ? NULL : &s->variables[m->variable];
	const uint32_t *ends = !v                                ? m->takes ? m->takes->taken : NULL
	                       : rt_op_writes(seen_of(s, m)->op) ? v->accessed
	                                                         : v->wrote;
	return ends && s->at[thread] < ends[thread];
}

/* The thread that has to go on for another one to do so: itself, or the last of those that one waits for for another.
 * NONE: that does not help. */
static uint32_t helper_of(const struct search *s, uint32_t thread)
{
	for (uint32_t i = 0; i <= s->d->thread_count; i++) {
		const struct matter *m = next_of(s, thread);
		if (goes_on(s, thread))
			return thread;
		if (m && m->before != NONE && !is_done(s, m->before))
			thread = seen_of(s, &s->all[m->before])->thread;
		else if (m && m->takes && m->takes->owner != NONE && m->takes->owner != thread)
			thread = m->takes->owner;
		else
			return NONE;
	}
	return NONE;
}

/* One step on from the state at hand, the next way; false: there is none. */
static bool advance(struct search *s)
{
	struct step *state = &s->path[s->depth];
	uint32_t first = usual(s, state);
	while (state->next <= s->d->thread_count) {
		uint32_t i = state->next++, thread = first;
		if (i && first != NONE && state->cost < s->bound && conflicts(s, next_of(s, first), i - 1))
			thread = helper_of(s, i - 1);
		if (thread == NONE || (i && thread == first))
			continue;
		struct step *to = &s->path[s->depth + 1];
		*to = (struct step){.current = thread, .cost = state->cost + (i != 0)};
		to->following = state->following && !i;
		execute(s, thread, to);
		s->depth++;
		return true;
	}
	return false;
}

static void search(struct search *s, uint32_t bound)
{
	s->bound = bound;
	s->steps = s->tried = s->hash = 0;
	s->depth = 0;
	s->path[0] = (struct step){.current = NONE, .following = true};
	set_clear(&s->visited);
	memset(s->at, 0, s->d->thread_count * sizeof *s->at);
	for (uint32_t i = 0; i < s->variable_count; i++)
		s->variables[i].writer = NONE;
	while (s->steps < STEPS_MAX && !s->no_memory) {
		if (advance(s)) {
			s->steps++;
			if (is_fresh(s))
				note_reads(s);
			else
				s->path[s->depth].next = NONE;
			continue;
		}
		if (!s->depth)
			return;
		undo(s, &s->path[s->depth--]);
	}
	while (s->depth)
		undo(s, &s->path[s->depth--]);
}

void reorderings_release(struct reorderings *r)
{
	for (size_t i = 0; i < r->count; i++)
		free(r->items[i].runs);
	free_all(r->items, r->seen);
	*r = (struct reorderings){0};
}

enum rt_status reorderings_of(const struct delays *d, struct reorderings *out, struct rt_error *err)
{
	*out = (struct reorderings){0};
	struct search s = {.d = d, .found = out};
	bool few;
	bool ok = reorder_load(&s, &few);
	if (ok && few)
		ok = (s.path = calloc((size_t)s.count + 2, sizeof *s.path));
	for (uint32_t bound = 1; ok && few && bound <= CHANGES_MAX && !s.no_memory; bound++)
		search(&s, bound);
	ok = ok && !s.no_memory;
	reorder_release(&s);
	if (ok)
		return RT_OK;
	reorderings_release(out);
	return rt_error_set(err, RT_EMEMORY, "no memory for the reorderings of a run");
}
