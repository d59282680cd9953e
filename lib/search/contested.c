/* What regions of other threads contest; see contested.h. */
#include "lib/search/contested.h"

#include "lib/search/classes.h"

#include <stdlib.h>
#include <string.h>

enum { FAMILY_CORE, FAMILY_WRITES };

struct contest {
	const struct model *m;
	struct gaps *gaps;
	struct contested *out;
	uint32_t *core;          /* by region: a lockset held from its first to its last access; 0: none is known */
	struct classes families; /* of the current cell; see contest_cell */
};

static void set_bit(uint8_t *bits, uint32_t i)
{
	bits[i / 8] |= (uint8_t)(1u << i % 8);
}

static bool find_cores(struct contest *f)
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
		uint32_t region = contested_region(m, e);
		if (region == MODEL_NONE || !rt_op_is_access(model_op(m, e)))
			continue;
		if (first[region] == MODEL_NONE)
			first[region] = e;
		last[region] = e;
	}
	for (uint32_t r = 0; r < m->region_count; r++)
		f->core[r] = first[r] == MODEL_NONE ? 0 : gaps_core(f->gaps, gaps_between(f->gaps, first[r], last[r]));
	free(first);
	return !f->gaps->failed;
}

/* The accesses of the cell in regions that agree in their core and in whether they write; made if absent. */
static struct class *family_of(struct contest *f, uint32_t e)
{
	uint32_t key[CLASS_KEY] = {
	    [FAMILY_CORE] = f->core[contested_region(f->m, e)], [FAMILY_WRITES] = rt_op_writes(model_op(f->m, e)) != 0};
	uint32_t index = classes_index(&f->families, key); /* before items, which it may move */
	return &f->families.items[index];
}

/*
 * Of each family, the threads that have accesses of families that contend with it, as `next`. Its own are `first`. Of
 * very many families each counts as met: more units are created then, which nothing conflicts with.
 */
static void meet_families(struct contest *f)
{
	enum { MET_MAX = 1 << 12 };
	for (uint32_t i = 0; f->families.count > MET_MAX && i < f->families.count; i++)
		f->families.items[i].next = THREADS_SEVERAL;
	if (f->families.count > MET_MAX)
		return;
	for (uint32_t i = 0; i < f->families.count; i++)
		for (uint32_t j = i; j < f->families.count; j++) {
			struct class *x = &f->families.items[i], *y = &f->families.items[j];
			if ((!x->key[FAMILY_WRITES] && !y->key[FAMILY_WRITES]) ||
			    model_locksets_exclude(f->m, x->key[FAMILY_CORE], y->key[FAMILY_CORE]))
				continue;
			x->next = threads_with(x->next, y->first);
			y->next = threads_with(y->next, x->first);
		}
}

/*
 * The regions whose accesses of the cell another thread's region contests. Families have no thread: there may be many
 * more threads than sets of locks.
 */
static bool contest_cell(struct contest *f, uint32_t cell)
{
	const struct model *m = f->m;
	const uint32_t *events = &m->cell_events[m->cells[cell].first];
	uint32_t n = m->cells[cell].count;
	classes_clear(&f->families);
	for (uint32_t i = 0; i < n; i++) {
		if (contested_region(m, events[i]) == MODEL_NONE)
			continue;
		struct class *family = family_of(f, events[i]);
		if (f->families.failed)
			return false;
		if (!family->count++)
			family->first = family->next = THREADS_NONE;
		family->first = threads_with(family->first, model_thread_of(m, events[i]) + 1);
	}
	meet_families(f);
	for (uint32_t i = 0; i < n; i++) {
		if (contested_region(m, events[i]) == MODEL_NONE)
			continue;
		uint32_t met = family_of(f, events[i])->next;
		if (met != THREADS_NONE && met != model_thread_of(m, events[i]) + 1) {
			set_bit(f->out->cells, cell);
			set_bit(f->out->events, events[i]);
		}
	}
	return true;
}

bool contested_find(struct contested *c, const struct model *m, struct gaps *gaps)
{
	struct contest f = {.m = m, .gaps = gaps, .out = c};
	*c = (struct contested){calloc((size_t)m->event_count / 8 + 1, 1), calloc((size_t)m->cell_count / 8 + 1, 1)};
	bool ok = c->events && c->cells && find_cores(&f);
	for (uint32_t cell = 0; ok && cell < m->cell_count; cell++)
		ok = contest_cell(&f, cell);
	free(f.core);
	classes_release(&f.families);
	return ok;
}

void contested_release(struct contested *c)
{
	free(c->events);
	free(c->cells);
	*c = (struct contested){0};
}
