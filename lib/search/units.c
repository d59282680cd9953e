/* Units of work on two cells; see units.h. */
#include "lib/search/units.h"

#include "lib/anomaly/limit.h"
#include "lib/base/vec.h"
#include "lib/search/contested.h"
#include "lib/search/region_sample.h"

#include <assert.h>
#include <endian.h>

/* Units of a class that are kept one by one; beyond, few tuples can be examined individually. */
enum { SINGLE = 64 };
/* Of a region, the first EARLY and the latest RECENT different (cell, site)s are combined with later ones. */
enum { EARLY = 16, RECENT = LIMIT_REGION_ACCESSES_MAX - EARLY, CELLS_OF_ACCESS = 16 };

/*
 * The threads that have units on a pair of cells, by which of the cells they write (see threads_with). For most units
 * no other thread has one that conflicts on both cells (9 of 10 in SQLite); they are never created.
 */
enum { WRITES_ONE = 1, WRITES_OTHER = 2, WRITES_BOTH = 3 };
enum { PAIRS_MIN = 1 << 10, PAIRS_FIRST = 1 << 20, PAIRS_MAX = 1 << 25, PAIRS_OF_ACCESS = 8 };
enum { SPARSE = 4, PAIRS_GROW = 8, PAIRS_PART = 8 }; /* PART: of the memory */
struct unit_pair {
	uint32_t threads[WRITES_BOTH + 1];
};

/* The last access of the current region with this cell and site. */
struct unit_recent {
	uint32_t cell, site, event, epoch;
	bool again; /* not the region's first */
};

struct unit_finder {
	const struct model *m;
	struct units *out;
	bool each, failed;
	struct units_bounds bounds;
	struct region_sample sample;
	uint64_t left; /* steps of the current region */
	bool left_out; /* not all pairs of the current region were combined */
	struct contested contested;
	struct region_accesses accesses; /* contested ones */
	uint32_t *last_unit;             /* by class: its newest unit */
	uint32_t last_capacity, unit_capacity;
	struct unit_recent recent[EARLY + RECENT];
	uint32_t recent_count;
	struct unit_pair *pairs; /* hash table without probing: entries that collide are merged */
	uint32_t pair_mask, pairs_used;
	bool noting; /* pairs are recorded, no units are created yet */
};

/* True if the event begins another POR epoch of its thread. */
static bool begins_epoch(unsigned op)
{
	switch (op) {
	case RT_OP_READ:
	case RT_OP_WRITE:
	case RT_OP_ACQUIRE:
	case RT_OP_ACQUIRE_SHARED:
	case RT_OP_RELEASE:
	case RT_OP_REGION_BEGIN:
	case RT_OP_REGION_END:
		return false;
	default:
		return true;
	}
}

/* Lists the contested accesses region by region, in program order. */
static bool sort_by_region(struct unit_finder *f)
{
	const struct model *m = f->m;
	uint32_t *epoch = calloc((size_t)m->thread_count + 1, sizeof *epoch), sum = 0;
	f->accesses.first = calloc((size_t)m->region_count + 2, sizeof *f->accesses.first);
	if (epoch && f->accesses.first) {
		for (uint32_t e = 0; e < m->event_count; e++)
			if (contested_has(f->contested.events, e))
				f->accesses.first[contested_region(m, e) + 2]++;
		for (uint32_t r = 0; r < m->region_count; r++)
			sum = f->accesses.first[r + 2] += sum;
		f->accesses.items = malloc(((size_t)sum + 1) * sizeof *f->accesses.items);
	}
	for (uint32_t e = 0; f->accesses.items && e < m->event_count; e++) {
		uint32_t thread = model_thread_of(m, e);
		epoch[thread] += begins_epoch(model_op(m, e)) ? 1u : 0;
		if (contested_has(f->contested.events, e))
			f->accesses.items[f->accesses.first[contested_region(m, e) + 1]++] =
			    (struct region_access){e, epoch[thread]};
		epoch[thread] += rt_op_is_atomic(model_op(m, e)) ? 1u : 0;
	}
	free(epoch);
	return f->accesses.items;
}

/* A table of pairs, in which none is recorded. */
static bool pairs_create(struct unit_finder *f, uint32_t n)
{
	free(f->pairs);
	f->pairs = calloc(n, sizeof *f->pairs); /* THREADS_NONE */
	f->pair_mask = n - 1;
	f->pairs_used = 0;
	return f->pairs;
}

/*
 * The size of a larger table, if this one is so full that pairs collide: units would be created that nothing conflicts
 * with. 0: it is large enough, or as large as it may be.
 */
static uint32_t pairs_needed(const struct unit_finder *f)
{
	uint32_t n = f->pair_mask + 1, larger = n < PAIRS_MAX / PAIRS_GROW ? n * PAIRS_GROW : PAIRS_MAX;
	if (f->pairs_used <= n / SPARSE || n == PAIRS_MAX)
		return 0;
	return f->bounds.memory && larger * sizeof *f->pairs > f->bounds.memory / PAIRS_PART ? 0 : larger;
}

static struct unit_pair *pair_of(const struct unit_finder *f, const struct unit_recent *a, const struct unit_recent *b,
                                 unsigned *writes)
{
	bool turned = a->cell > b->cell;
	uint64_t cells = turned ? (uint64_t)b->cell << 32 | a->cell : (uint64_t)a->cell << 32 | b->cell;
	bool writes_a = rt_op_writes(f->m->sites[a->site].op), writes_b = rt_op_writes(f->m->sites[b->site].op);
	*writes = (writes_a ? (turned ? WRITES_OTHER : WRITES_ONE) : 0u) |
	          (writes_b ? (turned ? WRITES_ONE : WRITES_OTHER) : 0u);
	cells *= UINT64_C(0x9e3779b97f4a7c15);
	cells = (cells ^ cells >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
	return &f->pairs[cells >> 32 & f->pair_mask];
}

static void note_pair(struct unit_finder *f, const struct unit_recent *a, const struct unit_recent *b)
{
	unsigned writes;
	struct unit_pair *p = pair_of(f, a, b, &writes);
	uint32_t *thread = &p->threads[writes], own = model_thread_of(f->m, a->event) + 1;
	f->pairs_used += !p->threads[0] && !p->threads[1] && !p->threads[2] && !p->threads[3];
	if (*thread != own)
		*thread = *thread == THREADS_NONE ? own : THREADS_SEVERAL;
}

/* True if two threads have units, one of them like this, that conflict on both cells. */
static bool is_met(const struct unit_finder *f, const struct unit_recent *a, const struct unit_recent *b)
{
	unsigned writes;
	const struct unit_pair *p = pair_of(f, a, b, &writes);
	uint32_t thread = p->threads[writes];
	for (unsigned other = 0; other <= WRITES_BOTH; other++)
		if ((writes | other) == WRITES_BOTH && p->threads[other] != THREADS_NONE &&
		    (thread == THREADS_SEVERAL || thread != p->threads[other]))
			return true;
	return false;
}

/* True if the units, with the copies that sorting makes, take all the memory that they may. */
static bool is_full(const struct unit_finder *f)
{
	enum { A_PLACE = 32 }; /* of a class: in the table, and while it is sorted */
	const struct units *u = f->out;
	return f->bounds.memory && 2 * (uint64_t)u->count * sizeof *u->items +
	                                   u->classes.count * (2 * (uint64_t)sizeof *u->classes.items + A_PLACE) >
	                               f->bounds.memory;
}

/* Adds a unit, or counts it with the last one of its class. While pairs are recorded, only records it. */
static void add_unit(struct unit_finder *f, const struct unit_recent *a, const struct unit_recent *b, bool far)
{
	const struct model *m = f->m;
	struct units *out = f->out;
	if (f->noting) {
		note_pair(f, a, b);
		return;
	}
	if (!is_met(f, a, b))
		return;
	if (is_full(f)) {
		f->out->full = true;
		return;
	}
	uint32_t key[CLASS_KEY] = {[UNIT_CELL1] = a->cell,
	                           [UNIT_CELL2] = b->cell,
	                           [UNIT_THREAD] = model_thread_of(m, a->event),
	                           [UNIT_GAP] = gaps_between(&out->gaps, a->event, b->event),
	                           [UNIT_SITE1] = a->site,
	                           [UNIT_SITE2] = b->site,
	                           [UNIT_LOCKS1] = model_lockset_of(m, a->event),
	                           [UNIT_LOCKS2] = model_lockset_of(m, b->event),
	                           [UNIT_FAR] = far};
	uint32_t class = classes_index(&out->classes, key);
	if (out->classes.failed || out->gaps.failed ||
	    !vec_reserve(&f->last_unit, &f->last_capacity, out->classes.count, sizeof *f->last_unit)) {
		f->failed = true;
		return;
	}
	struct class *k = &out->classes.items[class];
	struct unit *last = k->count ? &out->items[f->last_unit[class]] : NULL;
	if (last && !f->each && k->count > SINGLE && last->epochs[0] == a->epoch && last->epochs[1] == b->epoch &&
	    last->last[0] <= a->event && last->last[1] < b->event) {
		last->last[0] = a->event;
		last->last[1] = b->event;
		last->count++;
		return;
	}
	if (!vec_reserve(&out->items, &f->unit_capacity, (uint64_t)out->count + 1, sizeof *out->items)) {
		f->failed = true;
		return;
	}
	k->count++;
	f->last_unit[class] = out->count;
	out->items[out->count++] =
	    (struct unit){class, {a->event, b->event}, {a->event, b->event}, {a->epoch, b->epoch}, 1};
}

/* The region's last earlier access with this cell and site; NULL: none. */
static struct unit_recent *recent_find(struct unit_finder *f, const struct unit_recent *like)
{
	for (uint32_t i = 0; i < f->recent_count; i++)
		if (f->recent[i].cell == like->cell && f->recent[i].site == like->site)
			return &f->recent[i];
	return NULL;
}

/* Makes units of an access and earlier ones of its region: of each kind the nearest, unless one like either is in
 * between. */
static void combine(struct unit_finder *f, const struct unit_recent *b)
{
	const struct unit_recent *own = recent_find(f, b);
	f->left -= f->recent_count < f->left ? f->recent_count : f->left;
	for (uint32_t i = 0; i < f->recent_count && !f->failed; i++) {
		const struct unit_recent *a = &f->recent[i];
		bool near = !own || a->event >= own->event;
		if (a->cell == b->cell)
			continue;
		if (near)
			add_unit(f, a, b, false);
		f->left_out |= !near || a->again;
	}
}

/* Makes it the last access with its cell and site, in place of the oldest of the later kinds if necessary. */
static void remember(struct unit_finder *f, const struct unit_recent *b)
{
	struct unit_recent *place = recent_find(f, b);
	bool again = place;
	if (!place && f->recent_count < EARLY + RECENT)
		place = &f->recent[f->recent_count++];
	f->left_out |= !place;
	for (uint32_t i = EARLY; !place && i < EARLY + RECENT; i++) {
		bool oldest = true;
		for (uint32_t k = EARLY; oldest && k < EARLY + RECENT; k++)
			oldest = f->recent[i].event <= f->recent[k].event;
		if (oldest)
			place = &f->recent[i];
	}
	*place = *b;
	place->again = again;
}

/* Calls add for each of the contested cells of an access. */
static void each_cell(struct unit_finder *f, const struct region_access *x,
                      void (*add)(struct unit_finder *, const struct unit_recent *))
{
	const struct model *m = f->m;
	const struct model_event *e = &m->events[x->event];
	uint32_t cells = m->sites[e->site].cells;
	for (uint32_t i = 0, n = 0; i < cells && !f->failed; i++)
		if (contested_has(f->contested.cells, e->object + i)) {
			if (n++ == CELLS_OF_ACCESS) {
				f->out->cut = true;
				break;
			}
			add(f, &(struct unit_recent){e->object + i, e->site, x->event, x->epoch, false});
		}
}

/* True if an access like one of the two, in its cell and at its site, is between them. */
static bool is_far(const struct model *m, const struct region_access *x, const struct region_access *y,
                   const struct unit_recent *a, const struct unit_recent *b)
{
	for (const struct region_access *z = x + 1; z < y; z++) {
		const struct model_event *e = &m->events[z->event];
		uint32_t end = e->object + m->sites[e->site].cells;
		if ((e->site == a->site && a->cell >= e->object && a->cell < end) ||
		    (e->site == b->site && b->cell >= e->object && b->cell < end))
			return true;
	}
	return false;
}

/* Makes units of two accesses: all, or only distant ones. */
static void combine_two(struct unit_finder *f, const struct region_access *x, const struct region_access *y)
{
	const struct model *m = f->m;
	const struct model_event *e1 = &m->events[x->event], *e2 = &m->events[y->event];
	uint32_t n1 = m->sites[e1->site].cells, n2 = m->sites[e2->site].cells;
	for (uint32_t i = 0; i < n1; i++)
		for (uint32_t j = 0; j < n2 && !f->failed; j++) {
			struct unit_recent a = {e1->object + i, e1->site, x->event, x->epoch, false},
			                   b = {e2->object + j, e2->site, y->event, y->epoch, false};
			if (a.cell != b.cell && contested_has(f->contested.cells, a.cell) &&
			    contested_has(f->contested.cells, b.cell) && (f->each || is_far(m, x, y, &a, &b)))
				add_unit(f, &a, &b, !f->each);
		}
}

/* Every pair of accesses of a region. */
static void combine_all(struct unit_finder *f, const struct region_access *from, const struct region_access *to)
{
	for (const struct region_access *y = from; y < to; y++)
		for (const struct region_access *x = from; x < y && !f->failed && !f->out->full; x++)
			combine_two(f, x, y);
}

static void each_region(struct unit_finder *f)
{
	for (uint32_t r = 0; r < f->m->region_count && !f->failed && !f->out->full; r++) {
		const struct region_access *from = &f->accesses.items[f->accesses.first[r]],
		                           *to = &f->accesses.items[f->accesses.first[r + 1]];
		f->recent_count = 0;
		f->left_out = f->each;
		f->left = f->sample.most;
		if (!region_sample_has(&f->sample, r))
			continue;
		for (const struct region_access *x = from; !f->each && to - from > 1 && x < to && f->left; x++) {
			each_cell(f, x, combine);
			each_cell(f, x, remember);
		}
		if (f->left_out && (f->each || to - from <= LIMIT_REGION_ACCESSES_MAX))
			combine_all(f, from, to);
		else
			f->out->cut |= f->left_out;
	}
}

/* Records which threads have units on a pair of cells, in a table that is as large as the pairs need. */
static bool note_pairs(struct unit_finder *f)
{
	uint32_t accesses = f->accesses.first[f->m->region_count], n = PAIRS_MIN;
	while (n < PAIRS_FIRST && n / PAIRS_OF_ACCESS < accesses)
		n *= 2;
	f->noting = true;
	bool ok = true;
	for (; ok && n; n = pairs_needed(f)) {
		ok = pairs_create(f, n);
		if (ok)
			each_region(f);
		ok &= !f->failed;
	}
	f->noting = false;
	return ok;
}

/* Draws the regions that have units: those of a number of steps at most. */
static bool draw(struct unit_finder *f, uint64_t steps)
{
	bool ok = region_sample_draw(&f->sample, f->m, &f->accesses, LIMIT_REGION_ACCESSES_MAX, steps);
	f->out->some |= f->sample.partial;
	return ok;
}

static void drop_units(struct units *u)
{
	classes_release(&u->classes);
	u->count = 0;
}

/* Where there is no memory for the units of all regions, finds those of fewer, spread over the trace. */
static bool find_units(struct unit_finder *f)
{
	enum { PASSES = 4, FEWER = 4, FEWEST = 1 << 16 };
	uint64_t steps = f->each ? UINT64_MAX : f->bounds.steps / PASSES;
	bool ok = draw(f, steps) && note_pairs(f), full = false;
	while (ok) {
		f->out->full = false;
		each_region(f);
		full |= f->out->full;
		ok = !f->failed;
		if (!ok || !f->out->full || f->each || steps < FEWEST)
			break;
		drop_units(f->out);
		steps = (steps < f->sample.all ? steps : f->sample.all) / FEWER;
		ok = draw(f, steps);
	}
	f->out->full = full;
	return ok;
}

/* Sort key of classes: their cells, which mostly decide, beside the place of the rest. */
struct numbered {
	uint64_t cells;
	uint32_t class;
};

static int by_numbers(const void *x, const void *y, void *arg)
{
	const struct numbered *a = x, *b = y;
	const struct class *classes = arg;
	if (a->cells != b->cells)
		return a->cells < b->cells ? -1 : 1;
	return memcmp(classes[a->class].key, classes[b->class].key, sizeof classes->key);
}

/* Big-endian, so that memcmp sorts by number. */
static uint64_t cells_of(const struct class *k)
{
	uint64_t cells;
	static_assert(UNIT_CELL1 == 0 && UNIT_CELL2 == 1, "the cells come first");
	memcpy(&cells, k->key, sizeof cells);
	return be64toh(cells);
}

/* True if each unit comes entirely after the previous one. */
static bool follow(const struct unit *u, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++)
		if (u[i].first[0] < u[i - 1].last[0] || u[i].first[1] < u[i - 1].last[1])
			return false;
	return true;
}

/* Sorts the classes, and assigns each its place among the units. to: the new place of each class. */
static void sort_classes(struct units *u, struct numbered *order, struct class *sorted, uint32_t *to)
{
	uint32_t n = u->classes.count;
	for (uint32_t i = 0; i < n; i++)
		order[i] = (struct numbered){cells_of(&u->classes.items[i]), i};
	if (n)
		qsort_r(order, n, sizeof *order, by_numbers, u->classes.items);
	for (uint32_t i = 0; i < n; i++) {
		sorted[i] = u->classes.items[order[i].class];
		to[order[i].class] = i;
	}
	free(u->classes.items);
	u->classes.items = sorted;
	u->classes.capacity = n;
	classes_place(&u->classes);
}

/* Stores the units class by class, and the classes in order: each is then near those that it is combined with. */
static bool sort_units(struct units *u)
{
	size_t n = (size_t)u->classes.count + 1;
	struct numbered *order = malloc(n * sizeof *order);
	struct class *sorted = malloc(n * sizeof *sorted);
	uint32_t *to = malloc(n * sizeof *to);
	struct unit *items = malloc(((size_t)u->count + 1) * sizeof *items);
	bool ok = order && sorted && to && items;
	if (ok) {
		sort_classes(u, order, sorted, to);
		for (uint32_t i = 0; i < u->count; i++) {
			struct class *k = &sorted[to[u->items[i].class]];
			items[k->first + k->count++] = u->items[i];
		}
		for (uint32_t i = 0; i < u->classes.count; i++)
			sorted[i].next = follow(items + sorted[i].first, sorted[i].count);
		free(u->items);
		u->items = items;
	} else {
		free(sorted);
		free(items);
	}
	free(order);
	free(to);
	return ok;
}

bool units_find(struct units *u, const struct model *m, bool each, struct units_bounds bounds)
{
	struct unit_finder f = {.m = m, .out = u, .each = each, .bounds = bounds};
	*u = (struct units){0};
	bool ok = gaps_init(&u->gaps, m) && contested_find(&f.contested, m, &u->gaps) && sort_by_region(&f) &&
	          find_units(&f) && sort_units(u);
	contested_release(&f.contested);
	free(f.accesses.first);
	free(f.accesses.items);
	region_sample_release(&f.sample);
	free(f.last_unit);
	free(f.pairs);
	return ok;
}

void units_release(struct units *u)
{
	classes_release(&u->classes);
	free(u->items);
	gaps_release(&u->gaps);
	*u = (struct units){0};
}
