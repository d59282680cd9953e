/* What reads see; see sights.h. */
#include "lib/explore/sights.h"

#include "lib/base/set.h"
#include "lib/base/vec.h"
#include "lib/explore/delay_parts.h"

#include <stdlib.h>

enum {
	BACK_MAX = 4,     /* positions of writes before the one that was seen */
	CHAIN_MAX = 1024, /* writes of these */
	READS_MAX = 8     /* of a variable, by other threads before a write */
};

/* Reads that begin at an address: the first of each position and thread. */
struct reads_at {
	uint64_t address;
	uint32_t reads[READS_MAX], next;
	UT_hash_handle hh;
};

struct looking {
	const struct delays *d;
	struct sights *found;
	struct set known;
	struct reads_at *places;
	bool seen; /* what the trace has is added; then what it could have */
};

static bool add(struct looking *l, struct sight sight)
{
	struct sights *f = l->found;
	uint64_t key = (sight.read * UINT64_C(0x9e3779b97f4a7c15)) ^ sight.write;
	bool added;
	if (!set_add(&l->known, key ? key : 1, &added))
		return false;
	if (!added)
		return true;
	if (!vec_reserve(&f->items, &f->room, (uint64_t)f->count + 1, sizeof *f->items))
		return false;
	f->items[f->count++] = sight;
	return true;
}

static bool same(const struct seen *a, const struct seen *b)
{
	return a->has_value && b->has_value && a->object == b->object && a->bytes == b->bytes && a->value == b->value;
}

/*
 * A read could have seen one of the writes before that which it saw. Of those of one position in a row, as of threads
 * that do the same, the last one tells as much as the others.
 */
static bool look_back(struct looking *l, uint32_t read)
{
	const struct seen *events = l->d->events, *r = &events[read];
	bool ok = true;
	uint32_t write = r->needs;
	for (int i = 0, n = 0; ok && i < BACK_MAX && n < CHAIN_MAX; n++) {
		if (write == NONE || events[write].thread == r->thread)
			break;
		uint32_t before = events[write].needs;
		const struct seen *w = before == NONE ? NULL : &events[before];
		if (!w || n == 0 || w->pc != events[write].pc) {
			ok = add(l, (struct sight){.read = r->pc,
			                           .write = w ? w->pc : 0,
			                           .same = w && same(r, w),
			                           .delay = {.held = events[write].number, .until = r->number}});
			i++;
		}
		write = before;
	}
	return ok;
}

/* NULL: there are none; or no memory to make it. */
static struct reads_at *reads_of(struct looking *l, uint64_t address, bool make)
{
	struct reads_at *at;
	HASH_FIND(hh, l->places, &address, sizeof address, at);
	if (at || !make)
		return at;
	HASH_MAKE(l->places, address, address, at);
	for (int i = 0; at && i < READS_MAX; i++)
		at->reads[i] = NONE;
	return at;
}

/* Reads before could have seen the write. */
static bool look_ahead(struct looking *l, const struct reads_at *at, uint32_t write)
{
	const struct seen *events = l->d->events, *w = &events[write];
	bool ok = true;
	for (int i = 0; ok && i < READS_MAX; i++) {
		const struct seen *r = at->reads[i] == NONE ? NULL : &events[at->reads[i]];
		if (r && r->thread != w->thread)
			ok = add(l, (struct sight){.read = r->pc,
			                           .write = w->pc,
			                           .same = same(r, w),
			                           .delay = {.held = r->number, .until = w->number}});
	}
	return ok;
}

/* Of a position and thread the first one is kept. False without memory. */
static bool keep(struct looking *l, uint32_t read)
{
	const struct seen *events = l->d->events, *r = &events[read];
	struct reads_at *at = reads_of(l, r->object, true);
	if (!at)
		return false;
	for (int i = 0; i < READS_MAX; i++)
		if (at->reads[i] != NONE && events[at->reads[i]].pc == r->pc &&
		    events[at->reads[i]].thread == r->thread)
			return true;
	at->reads[at->next++ % READS_MAX] = read;
	return true;
}

static bool look(struct looking *l, uint32_t e)
{
	const struct seen *events = l->d->events, *s = &events[e];
	bool ok = true;
	if (!s->bytes)
		return true;
	if (l->seen)
		return !rt_op_reads(s->op) ||
		       add(l, (struct sight){
		                  .read = s->pc, .write = s->needs == NONE ? 0 : events[s->needs].pc, .seen = true});
	if (rt_op_reads(s->op))
		ok = look_back(l, e);
	for (uint32_t i = 0; ok && rt_op_writes(s->op) && i < s->bytes; i++) {
		const struct reads_at *at = reads_of(l, s->object + i, false);
		ok = !at || look_ahead(l, at, e);
	}
	return ok && (!rt_op_reads(s->op) || keep(l, e));
}

void sights_release(struct sights *s)
{
	free(s->items);
	*s = (struct sights){0};
}

enum rt_status sights_of(const struct delays *d, struct sights *out, struct rt_error *err)
{
	*out = (struct sights){0};
	struct looking l = {.d = d, .found = out, .seen = true};
	bool ok = true;
	for (uint32_t e = 0; ok && e < d->count; e++)
		ok = look(&l, e);
	l.seen = false;
	for (uint32_t e = 0; ok && e < d->count; e++)
		ok = look(&l, e);
	set_release(&l.known);
	HASH_FREE(l.places);
	if (ok)
		return RT_OK;
	sights_release(out);
	return rt_error_set(err, RT_EMEMORY, "no memory for what reads see");
}
