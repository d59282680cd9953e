/* The first pair of an order, and whether critical sections are well nested; see promise.h. */
#include "lib/analysis/promise.h"

#include "lib/base/vec.h"

#include <stdlib.h>
#include <string.h>

/* A thread's latest accesses of the current cell; MODEL_NONE: none. */
enum { PLAIN_READ, PLAIN_WRITE, ATOMIC_READ, ATOMIC_WRITE, ACCESSES };
struct latest {
	uint32_t events[ACCESSES];
	uint32_t cell; /* of which these are */
};

struct promise_finder {
	const struct model *m;
	const struct order *order;
	const struct order_result *r;
	struct promise *out;
	struct latest *latest; /* by thread */
	uint32_t *threads;     /* that access the cell */
	uint32_t thread_count;
};

static int access_of(unsigned op)
{
	return (rt_op_is_atomic(op) ? ATOMIC_READ : PLAIN_READ) + (rt_op_writes(op) ? 1 : 0);
}

/* The latest of a thread's accesses that conflicts with one of this kind. */
static uint32_t latest_conflict(const struct latest *l, int access)
{
	static const uint8_t conflicts[] = {[PLAIN_READ] = 1 << PLAIN_WRITE | 1 << ATOMIC_WRITE,
	                                    [PLAIN_WRITE] = 15,
	                                    [ATOMIC_READ] = 1 << PLAIN_WRITE,
	                                    [ATOMIC_WRITE] = 1 << PLAIN_READ | 1 << PLAIN_WRITE};
	uint32_t latest = MODEL_NONE;
	for (int i = 0; i < ACCESSES; i++)
		if (conflicts[access] >> i & 1 && l->events[i] != MODEL_NONE &&
		    (latest == MODEL_NONE || l->events[i] > latest))
			latest = l->events[i];
	return latest;
}

/* The latest access before e2 that conflicts with it and is unordered. If a thread's latest is ordered, so are its
 * earlier ones. */
static uint32_t latest_unordered(const struct promise_finder *f, uint32_t e2, int access)
{
	const struct model *m = f->m;
	uint32_t own = model_thread_of(m, e2), latest = MODEL_NONE;
	for (uint32_t i = 0; i < f->thread_count; i++) {
		uint32_t thread = f->threads[i];
		uint32_t e1 = thread == own ? MODEL_NONE : latest_conflict(&f->latest[thread], access);
		if (e1 == MODEL_NONE || (latest != MODEL_NONE && e1 < latest))
			continue;
		if (m->events[e1].pos >= f->order->horizon(f->r, e2, thread))
			latest = e1;
	}
	return latest;
}

static void note(struct promise_finder *f, uint32_t cell, uint32_t e, int access)
{
	uint32_t thread = model_thread_of(f->m, e);
	struct latest *l = &f->latest[thread];
	if (l->cell != cell) {
		memset(l->events, 0xff, sizeof l->events);
		l->cell = cell;
		f->threads[f->thread_count++] = thread;
	}
	l->events[access] = e;
}

/* Examines a cell's accesses up to the best pair so far. */
static void search_cell(struct promise_finder *f, uint32_t cell)
{
	const struct model *m = f->m;
	const uint32_t *events = &m->cell_events[m->cells[cell].first];
	uint32_t last_thread = MODEL_NONE;
	unsigned asked = 0; /* kinds of access of this run of one thread's accesses that were examined */
	f->thread_count = 0;
	for (uint32_t i = 0; i < m->cells[cell].count && events[i] <= f->out->e2; i++) {
		int access = access_of(model_op(m, events[i]));
		uint32_t thread = model_thread_of(m, events[i]);
		asked = thread == last_thread ? asked : 0;
		last_thread = thread;
		/* An event ordered before one access of the run is ordered before the later ones. */
		uint32_t e1 = asked >> access & 1 ? MODEL_NONE : latest_unordered(f, events[i], access);
		asked |= 1u << access;
		if (e1 != MODEL_NONE && (events[i] < f->out->e2 || e1 > f->out->e1)) {
			f->out->e1 = e1;
			f->out->e2 = events[i];
		}
		note(f, cell, events[i], access);
	}
}

bool promise_find(const struct model *m, const struct order *order, const struct order_result *r, struct promise *out)
{
	struct promise_finder f = {.m = m,
	                           .order = order,
	                           .r = r,
	                           .out = out,
	                           .latest = malloc(((size_t)m->thread_count + 1) * sizeof *f.latest),
	                           .threads = malloc(((size_t)m->thread_count + 1) * sizeof *f.threads)};
	*out = (struct promise){MODEL_NONE, MODEL_NONE};
	bool ok = f.latest && f.threads;
	if (ok)
		memset(f.latest, 0xff, ((size_t)m->thread_count + 1) * sizeof *f.latest);
	for (uint32_t cell = 0; ok && cell < m->cell_count; cell++) {
		uint32_t lockset = m->cells[cell].lockset;
		/* Under one lock all are ordered by it. */
		if (lockset == MODEL_NONE || !model_locksets_exclude(m, lockset, lockset))
			search_cell(&f, cell);
	}
	free(f.latest);
	free(f.threads);
	return ok;
}

/* --- nesting --- */

/* Acquires of the locks that a thread holds, oldest first. */
struct promise_held {
	uint32_t *acquires;
	uint32_t count, capacity;
};

static void release(const struct model *m, struct promise_held *h, uint32_t lock, uint32_t e, struct nesting *out)
{
	uint32_t i = h->count;
	while (i && m->events[h->acquires[i - 1]].object != lock)
		i--;
	if (!i)
		return;
	if (i < h->count && !out->count++)
		*out = (struct nesting){1, h->acquires[i - 1], h->acquires[i], e};
	h->count--;
	memmove(&h->acquires[i - 1], &h->acquires[i], (h->count - i + 1) * sizeof *h->acquires);
}

bool nesting_find(const struct model *m, struct nesting *out)
{
	struct promise_held *held = calloc((size_t)m->thread_count + 1, sizeof *held);
	bool ok = held;
	*out = (struct nesting){0, MODEL_NONE, MODEL_NONE, MODEL_NONE};
	for (uint32_t i = 0; ok && i < m->sync_count; i++) {
		uint32_t e = m->sync[i];
		struct promise_held *h = &held[model_thread_of(m, e)];
		unsigned op = model_op(m, e);
		bool condition = rt_op_group(op) == RT_GROUP_CONDITION;
		if (!condition && model_lock_taken(m, e) != MODEL_NONE) {
			ok = vec_reserve(&h->acquires, &h->capacity, (uint64_t)h->count + 1, sizeof *h->acquires);
			if (ok)
				h->acquires[h->count++] = e;
		} else if (!condition && model_lock_released(m, e) != MODEL_NONE) {
			release(m, h, m->events[e].object, e, out);
		}
	}
	for (uint32_t i = 0; held && i < m->thread_count; i++)
		free(held[i].acquires);
	free(held);
	return ok;
}
