/* Units of work on two cells; see units.h. */
#include "lib/search/units.h"

#include "lib/search/analysis.h"
#include "lib/trace/vec.h"

/* Of a region, the first EARLY and the latest RECENT different (cell, site)s are combined with what comes. */
enum { SINGLE = 64 };
enum { EARLY = 16, RECENT = SEARCH_REGION - EARLY, CELLS_OF_ACCESS = 16 };

enum { FAMILY_THREAD, FAMILY_CORE, FAMILY_WRITES };

/* A contested access; its thread's POR epoch. */
struct access {
	uint32_t event, epoch;
};

/* The last access of the region at hand with this cell and site. */
struct recent {
	uint32_t cell, site, event, epoch;
};

struct finder {
	const struct model *m;
	struct units *out;
	bool each, failed;
	uint32_t *core;     /* by region: a lockset held from its first to its last access, and that all through */
	uint8_t *contested; /* by event, bits */
	uint8_t *contested_cells; /* by cell, bits */
	struct classes families;  /* of the cell at hand */
	uint32_t *region_first;   /* by region: where its accesses begin; one more at the end */
	struct access *accesses;  /* region by region */
	uint32_t *last_unit;      /* by class: its newest unit */
	uint32_t last_capacity, unit_capacity;
	struct recent recent[EARLY + RECENT];
	uint32_t recent_count;
};

static bool bit(const uint8_t *bits, uint32_t i)
{
	return bits[i / 8] >> i % 8 & 1;
}

static void set_bit(uint8_t *bits, uint32_t i)
{
	bits[i / 8] |= (uint8_t)(1u << i % 8);
}

static uint32_t region_of(const struct model *m, uint32_t e)
{
	return m->segments[m->events[e].segment].region;
}

static bool find_cores(struct finder *f)
{
	const struct model *m = f->m;
	uint32_t *first = malloc(((size_t)m->region_count + 1) * sizeof *first);
	uint32_t *last = f->core = malloc(((size_t)m->region_count + 1) * sizeof *last);
	if (!first || !last) {
		free(first);
		return false;
	}
	memset(first, 0xff, ((size_t)m->region_count + 1) * sizeof *first);
	for (uint32_t e = 0; e < m->event_count; e++) {
		uint32_t region = region_of(m, e);
		if (region == MODEL_NONE || !rt_op_is_access(model_op(m, e)))
			continue;
		if (first[region] == MODEL_NONE)
			first[region] = e;
		last[region] = e;
	}
	for (uint32_t r = 0; r < m->region_count; r++)
		f->core[r] = first[r] == MODEL_NONE
		                 ? 0
		                 : gaps_core(&f->out->gaps, gaps_between(&f->out->gaps, first[r], last[r]));
	free(first);
	return !f->out->gaps.failed;
}

static bool contend(const struct finder *f, const uint32_t *x, const uint32_t *y)
{
	return x[FAMILY_THREAD] != y[FAMILY_THREAD] && (x[FAMILY_WRITES] || y[FAMILY_WRITES]) &&
	       !model_locksets_exclude(f->m, x[FAMILY_CORE], y[FAMILY_CORE]);
}

static void family_key(const struct finder *f, uint32_t e, uint32_t key[CLASS_KEY])
{
	memset(key, 0, CLASS_KEY * sizeof *key);
	key[FAMILY_THREAD] = model_thread_of(f->m, e);
	key[FAMILY_CORE] = f->core[region_of(f->m, e)];
	key[FAMILY_WRITES] = rt_op_writes(model_op(f->m, e)) != 0;
}

/* Which regions' accesses of the cell does another thread's region contest? */
static bool contest_cell(struct finder *f, uint32_t cell)
{
	const struct model *m = f->m;
	const uint32_t *events = &m->cell_events[m->cells[cell].first];
	uint32_t key[CLASS_KEY], n = m->cells[cell].count;
	classes_clear(&f->families);
	for (uint32_t i = 0; i < n; i++) {
		if (region_of(m, events[i]) == MODEL_NONE)
			continue;
		family_key(f, events[i], key);
		classes_index(&f->families, key);
		if (f->families.failed)
			return false;
	}
	/* In a family's count: is it contested? */
	struct class *families = f->families.items;
	bool any = false;
	for (uint32_t i = 0; i < f->families.count; i++)
		for (uint32_t j = i + 1; j < f->families.count; j++)
			if (contend(f, families[i].key, families[j].key)) {
				families[i].count = families[j].count = 1;
				any = true;
			}
	if (!any)
		return true;
	set_bit(f->contested_cells, cell);
	for (uint32_t i = 0; i < n; i++) {
		if (region_of(m, events[i]) == MODEL_NONE)
			continue;
		family_key(f, events[i], key);
		if (families[classes_index(&f->families, key)].count)
			set_bit(f->contested, events[i]);
	}
	return true;
}

static bool contest_all(struct finder *f)
{
	const struct model *m = f->m;
	f->contested = calloc((size_t)m->event_count / 8 + 1, 1);
	f->contested_cells = calloc((size_t)m->cell_count / 8 + 1, 1);
	if (!f->contested || !f->contested_cells || !find_cores(f))
		return false;
	for (uint32_t cell = 0; cell < m->cell_count; cell++)
		if (!contest_cell(f, cell))
			return false;
	return true;
}

/* Does the event begin another POR epoch of its thread? */
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
static bool sort_by_region(struct finder *f)
{
	const struct model *m = f->m;
	uint32_t *epoch = calloc((size_t)m->thread_count + 1, sizeof *epoch), sum = 0;
	f->region_first = calloc((size_t)m->region_count + 2, sizeof *f->region_first);
	if (epoch && f->region_first) {
		for (uint32_t e = 0; e < m->event_count; e++)
			if (bit(f->contested, e))
				f->region_first[region_of(m, e) + 2]++;
		for (uint32_t r = 0; r < m->region_count; r++)
			sum = f->region_first[r + 2] += sum;
		f->accesses = malloc(((size_t)sum + 1) * sizeof *f->accesses);
	}
	for (uint32_t e = 0; f->accesses && e < m->event_count; e++) {
		uint32_t thread = model_thread_of(m, e);
		epoch[thread] += begins_epoch(model_op(m, e)) ? 1u : 0;
		if (bit(f->contested, e))
			f->accesses[f->region_first[region_of(m, e) + 1]++] = (struct access){e, epoch[thread]};
		epoch[thread] += rt_op_is_atomic(model_op(m, e)) ? 1u : 0;
	}
	free(epoch);
	return f->accesses;
}

/* Adds a unit, or counts it with the last one of its class. */
static void add_unit(struct finder *f, const struct recent *a, const struct recent *b)
{
	const struct model *m = f->m;
	struct units *out = f->out;
	uint32_t key[CLASS_KEY] = {[UNIT_CELL1] = a->cell,
	                           [UNIT_CELL2] = b->cell,
	                           [UNIT_THREAD] = model_thread_of(m, a->event),
	                           [UNIT_GAP] = gaps_between(&out->gaps, a->event, b->event),
	                           [UNIT_SITE1] = a->site,
	                           [UNIT_SITE2] = b->site,
	                           [UNIT_LOCKS1] = model_lockset_of(m, a->event),
	                           [UNIT_LOCKS2] = model_lockset_of(m, b->event)};
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

/* The region's last access before with this cell and site, NULL: none. */
static struct recent *recent_find(struct finder *f, const struct recent *like)
{
	for (uint32_t i = 0; i < f->recent_count; i++)
		if (f->recent[i].cell == like->cell && f->recent[i].site == like->site)
			return &f->recent[i];
	return NULL;
}

/* Makes units of an access and what its region did before, of each kind the nearest that is not in one with its like.
 */
static void combine(struct finder *f, const struct recent *b)
{
	const struct recent *own = recent_find(f, b);
	for (uint32_t i = 0; i < f->recent_count && !f->failed; i++) {
		const struct recent *a = &f->recent[i];
		if (a->cell != b->cell && (!own || a->event >= own->event))
			add_unit(f, a, b);
	}
}

/* Makes it the last access with its cell and site; if need be, in place of the oldest of the later kinds. */
static void remember(struct finder *f, const struct recent *b)
{
	struct recent *place = recent_find(f, b);
	if (!place && f->recent_count < EARLY + RECENT)
		place = &f->recent[f->recent_count++];
	f->out->cut |= !place;
	for (uint32_t i = EARLY; !place && i < EARLY + RECENT; i++) {
		bool oldest = true;
		for (uint32_t k = EARLY; oldest && k < EARLY + RECENT; k++)
			oldest = f->recent[i].event <= f->recent[k].event;
		if (oldest)
			place = &f->recent[i];
	}
	*place = *b;
}

/* Calls add for each of the contested cells of an access. */
static void each_cell(struct finder *f, const struct access *x, void (*add)(struct finder *, const struct recent *))
{
	const struct model *m = f->m;
	const struct model_event *e = &m->events[x->event];
	uint32_t cells = m->sites[e->site].cells;
	for (uint32_t i = 0, n = 0; i < cells && n < CELLS_OF_ACCESS && !f->failed; i++)
		if (bit(f->contested_cells, e->object + i)) {
			n++;
			add(f, &(struct recent){e->object + i, e->site, x->event, x->epoch});
		}
}

/* Every pair of accesses of a region. */
static void combine_all(struct finder *f, const struct access *from, const struct access *to)
{
	const struct model *m = f->m;
	for (const struct access *y = from; y < to; y++)
		for (const struct access *x = from; x < y && !f->failed; x++) {
			const struct model_event *e1 = &m->events[x->event], *e2 = &m->events[y->event];
			uint32_t n1 = m->sites[e1->site].cells, n2 = m->sites[e2->site].cells;
			for (uint32_t i = 0; i < n1; i++)
				for (uint32_t j = 0; j < n2 && !f->failed; j++) {
					struct recent a = {e1->object + i, e1->site, x->event, x->epoch},
					              b = {e2->object + j, e2->site, y->event, y->epoch};
					if (a.cell != b.cell && bit(f->contested_cells, a.cell) &&
					    bit(f->contested_cells, b.cell))
						add_unit(f, &a, &b);
				}
		}
}

static bool find_units(struct finder *f)
{
	for (uint32_t r = 0; r < f->m->region_count && !f->failed; r++) {
		const struct access *from = &f->accesses[f->region_first[r]],
		                    *to = &f->accesses[f->region_first[r + 1]];
		f->recent_count = 0;
		if (f->each)
			combine_all(f, from, to);
		else
			for (const struct access *x = from; to - from > 1 && x < to; x++) {
				each_cell(f, x, combine);
				each_cell(f, x, remember);
			}
	}
	return !f->failed;
}

static int by_numbers(const void *x, const void *y, void *arg)
{
	const struct class *classes = arg;
	const struct class *a = &classes[*(const uint32_t *)x], *b = &classes[*(const uint32_t *)y];
	return memcmp(a->key, b->key, sizeof a->key);
}

/* Does each unit come wholly after the one before? */
static bool follow(const struct unit *u, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++)
		if (u[i].first[0] < u[i - 1].last[0] || u[i].first[1] < u[i - 1].last[1])
			return false;
	return true;
}

/* Puts the units class by class, and the classes in order. */
static bool sort_units(struct units *u)
{
	struct unit *items = malloc(((size_t)u->count + 1) * sizeof *items);
	u->sorted = malloc(((size_t)u->classes.count + 1) * sizeof *u->sorted);
	if (!items || !u->sorted) {
		free(items);
		return false;
	}
	classes_place(&u->classes);
	for (uint32_t i = 0; i < u->count; i++) {
		struct class *k = &u->classes.items[u->items[i].class];
		items[k->first + k->count++] = u->items[i];
	}
	free(u->items);
	u->items = items;
	for (uint32_t i = 0; i < u->classes.count; i++) {
		u->sorted[i] = i;
		u->classes.items[i].next = follow(items + u->classes.items[i].first, u->classes.items[i].count);
	}
	if (u->classes.count)
		qsort_r(u->sorted, u->classes.count, sizeof *u->sorted, by_numbers, u->classes.items);
	return true;
}

bool units_find(struct units *u, const struct model *m, bool each)
{
	struct finder f = {.m = m, .out = u, .each = each};
	*u = (struct units){0};
	bool ok = gaps_init(&u->gaps, m) && contest_all(&f) && sort_by_region(&f) && find_units(&f) && sort_units(u);
	free(f.core);
	free(f.contested);
	free(f.contested_cells);
	classes_release(&f.families);
	free(f.region_first);
	free(f.accesses);
	free(f.last_unit);
	return ok;
}

void units_release(struct units *u)
{
	classes_release(&u->classes);
	free(u->sorted);
	free(u->items);
	gaps_release(&u->gaps);
	*u = (struct units){0};
}
