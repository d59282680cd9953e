/* Guards; see guard.h. */
#include "lib/analysis/guard.h"

#include "lib/base/hash.h"
#include "lib/base/lower_bound.h"

#include <stdlib.h>
#include <string.h>

enum { LOCKS = 16 };            /* counted for a variable; a lock that first comes after these is not */
enum { SECTION_EVENTS = 4096 }; /* in which the acquire of a lock is looked for */

/* A hold as a reader guards no write: other readers are not excluded. */
static bool lock_guards(const struct model *m, uint32_t e, const struct model_lock *held)
{
	return !held->shared || !rt_op_writes(model_op(m, e));
}

bool guard_is_held(const struct model *m, uint32_t e, uint32_t lock)
{
	const struct model_lock *held = model_lockset_lock(m, model_lockset_of(m, e), lock);
	return held && lock_guards(m, e, held);
}

/* shared: the variable is, so that the access counts; before that it only tells which threads know the lock. */
static void count_locks(const struct model *m, uint32_t e, bool shared, struct guard_count counts[LOCKS], uint32_t *n)
{
	const struct model_lockset *set = &m->locksets[model_lockset_of(m, e)];
	uint32_t thread = model_thread_of(m, e);
	for (uint32_t i = 0; i < set->count; i++) {
		uint32_t k = 0, lock = set->locks[i].object;
		while (k < *n && counts[k].lock != lock)
			k++;
		if (k == LOCKS)
			continue;
		if (k == *n)
			counts[(*n)++] = (struct guard_count){.lock = lock, .thread = thread};
		counts[k].held += shared && lock_guards(m, e, &set->locks[i]);
		counts[k].shared |= counts[k].thread != thread;
	}
}

/* The counts of a cell. */
struct guard_known {
	uint32_t cell, count;
	uint64_t of; /* accesses since the variable is shared */
	UT_hash_handle hh;
	struct guard_count locks[];
};

/* True if each access of the cell by another thread than e's is ordered before e. */
static bool comes_after_all(const struct model *m, const struct segment_order *por, uint32_t cell, uint32_t e)
{
	const uint32_t *events = &m->cell_events[m->cells[cell].first];
	uint32_t thread = model_thread_of(m, e), other = thread;
	for (uint32_t i = m->cells[cell].count; i-- > 0;) {
		uint32_t own = model_thread_of(m, events[i]);
		if (own == thread || own == other)
			continue;
		if (!segment_order_before(por, events[i], e))
			return false;
		other = own; /* its earlier accesses are before that one */
	}
	return true;
}

struct guard_span guard_span_of(const struct model *m, const struct segment_order *por, uint32_t cell)
{
	const uint32_t *events = &m->cell_events[m->cells[cell].first];
	struct guard_span span = {0, m->cells[cell].count};
	while (span.first < span.end && model_thread_of(m, events[span.first]) == model_thread_of(m, events[0]))
		span.first++;
	/* The last accesses are one thread's: if the first of them comes after all, so do the others. */
	uint32_t last = span.end;
	while (por && last > span.first &&
	       model_thread_of(m, events[last - 1]) == model_thread_of(m, events[span.end - 1]))
		last--;
	if (por)
		span.end = lower_bound(i, last, span.end, !comes_after_all(m, por, cell, events[i]));
	return span;
}

bool guard_counts_event(const struct model *m, uint32_t e)
{
	return !(m->sites[m->events[e].site].flags & RT_F_FREE);
}

/* True if, at the cell's first access under both locks, the first was acquired after the second. */
static bool is_inside(const struct model *m, uint32_t cell, uint32_t lock, uint32_t outer)
{
	const uint32_t *events = &m->cell_events[m->cells[cell].first];
	for (uint32_t i = 0; i < m->cells[cell].count; i++) {
		uint32_t lockset = model_lockset_of(m, events[i]), pos = m->events[events[i]].pos;
		if (!model_lockset_lock(m, lockset, lock) || !model_lockset_lock(m, lockset, outer))
			continue;
		const struct model_thread *t = &m->threads[model_thread_of(m, events[i])];
		for (uint32_t k = 0; pos-- && k < SECTION_EVENTS; k++) {
			uint32_t taken = model_lock_taken(m, t->events[pos]);
			if (taken == lock || taken == outer)
				return taken == lock;
		}
		return false;
	}
	return false;
}

/* Of locks that are held at as many accesses, the innermost comes first: an outer one mostly happens to be held. */
static void order_equals(const struct model *m, uint32_t cell, struct guard_count counts[LOCKS], uint32_t n)
{
	for (uint32_t i = 1; i < n; i++)
		for (uint32_t k = 0; k < i; k++)
			if (counts[k].held && counts[k].held == counts[i].held &&
			    is_inside(m, cell, counts[i].lock, counts[k].lock)) {
				struct guard_count inner = counts[i];
				memmove(&counts[k + 1], &counts[k], (i - k) * sizeof *counts);
				counts[k] = inner;
				break;
			}
}

static struct guard_known *count_cell(const struct guards *g, uint32_t cell)
{
	const struct model *m = g->m;
	struct guard_count counts[LOCKS];
	const uint32_t *events = &m->cell_events[m->cells[cell].first];
	struct guard_span span = guard_span_of(m, g->por, cell);
	uint32_t n = 0;
	uint64_t of = 0;
	for (uint32_t i = 0; i < span.end; i++) {
		bool counts_it = i >= span.first && guard_counts_event(m, events[i]);
		count_locks(m, events[i], counts_it, counts, &n);
		of += counts_it;
	}
	order_equals(m, cell, counts, n);
	struct guard_known *k = malloc(sizeof *k + n * sizeof *counts);
	if (!k)
		return NULL;
	*k = (struct guard_known){.cell = cell, .count = n, .of = of};
	memcpy(k->locks, counts, n * sizeof *counts);
	return k;
}

/* NULL without memory. */
static const struct guard_known *known(struct guards *g, uint32_t cell)
{
	struct guard_known *k;
	HASH_FIND(hh, g->known, &cell, sizeof cell, k);
	if (k)
		return k;
	k = count_cell(g, cell);
	if (!k) {
		g->no_memory = true;
		return NULL;
	}
	HASH_ADD(hh, g->known, cell, sizeof k->cell, k);
	if (HASH_ADDED(k))
		return k;
	free(k);
	g->no_memory = true;
	return NULL;
}

static bool is_guard(const struct guard_known *k, const struct guard_count *lock)
{
	return lock->shared && lock->held * 2 > k->of;
}

const struct guard_count *guard_counts(struct guards *g, uint32_t cell, uint32_t *n, uint64_t *of)
{
	const struct guard_known *k = known(g, cell);
	*n = k ? k->count : 0;
	*of = k ? k->of : 0;
	return k ? k->locks : NULL;
}

struct guard guard_of(struct guards *g, uint32_t cell)
{
	struct guard guard = {.lock = MODEL_NONE};
	const struct guard_known *k = known(g, cell);
	for (uint32_t i = 0; k && i < k->count; i++)
		if (is_guard(k, &k->locks[i]) && k->locks[i].held > guard.held)
			guard = (struct guard){.lock = k->locks[i].lock, .held = k->locks[i].held, .of = k->of};
	return guard;
}

bool guard_guards(struct guards *g, uint32_t lock, uint32_t cell)
{
	const struct guard_known *k = known(g, cell);
	for (uint32_t i = 0; k && i < k->count; i++)
		if (k->locks[i].lock == lock)
			return is_guard(k, &k->locks[i]);
	return false;
}

void guards_release(struct guards *g)
{
	HASH_FREE(g->known);
}
