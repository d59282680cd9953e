/* What reads see; see sights.h. */
#include "lib/explore/sights.h"

#include "lib/base/set.h"
#include "lib/base/vec.h"
#include "lib/explore/delay_parts.h"

#include <stdlib.h>
#include <xxhash.h>

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

/* The threads that access an address. */
struct sharers {
	uint64_t address;
	uint32_t thread;
	bool several;
	UT_hash_handle hh;
};

struct looking {
	const struct delays *d;
	struct sights *found;
	struct set known;
	struct reads_at *places;
	struct sharers *sharers;
	uint64_t *states; /* by event: its thread's before it, by what that has read of shared variables */
	bool seen;        /* what the trace has is added; then what it could have */
};

/* A write by its thread, position and value, which are the same in other runs. */
static uint64_t write_key(const struct delays *d, uint32_t write)
{
	const struct seen *w = write == NONE ? NULL : &d->events[write];
	const uint64_t parts[] = {w ? w->thread : NONE, w ? w->pc : 0, w && w->has_value ? w->value : 0};
	return XXH3_64bits(parts, sizeof parts);
}

/* The state of a thread that was in the other one, if the event sees the write. */
static uint64_t state_after(const struct delays *d, uint64_t state, uint32_t event, uint32_t write)
{
	const uint64_t parts[] = {state, d->events[event].thread, d->events[event].pc, write_key(d, write)};
	return XXH3_64bits(parts, sizeof parts);
}

/* Of a read that sees the write, or would. */
static bool add(struct looking *l, uint32_t read, uint32_t write, struct sight sight)
{
	struct sights *f = l->found;
	const struct seen *events = l->d->events;
	sight.read = events[read].pc;
	sight.write = write == NONE ? 0 : events[write].pc;
	sight.state = state_after(l->d, l->states[read], read, write);
	uint64_t key = sight.state;
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
			ok = add(l, read, before,
			         (struct sight){.same = w && same(r, w),
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
			ok = add(l, at->reads[i], write,
			         (struct sight){.same = same(r, w), .delay = {.held = r->number, .until = w->number}});
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
		return !rt_op_reads(s->op) || add(l, e, s->needs, (struct sight){.seen = true});
	if (rt_op_reads(s->op))
		ok = look_back(l, e);
	for (uint32_t i = 0; ok && rt_op_writes(s->op) && i < s->bytes; i++) {
		const struct reads_at *at = reads_of(l, s->object + i, false);
		ok = !at || look_ahead(l, at, e);
	}
	return ok && (!rt_op_reads(s->op) || keep(l, e));
}

/* Which variables threads share. False without memory. */
static bool find_sharers(struct looking *l)
{
	for (uint32_t e = 0; e < l->d->count; e++) {
		const struct seen *s = &l->d->events[e];
		struct sharers *at;
		if (!s->bytes)
			continue;
		HASH_FIND(hh, l->sharers, &s->object, sizeof s->object, at);
		if (at) {
			at->several |= at->thread != s->thread;
			continue;
		}
		HASH_MAKE(l->sharers, address, s->object, at);
		if (!at)
			return false;
		at->thread = s->thread;
	}
	return true;
}

/* What a thread last saw at a position. */
struct last_sight {
	struct {
		uint64_t pc, thread;
	} at;
	uint64_t write;
	UT_hash_handle hh;
};

/* Adds what the event sees to the state, unless its thread saw just that there the last time, as a loop does that
 * waits. False without memory. */
static bool note_state(struct looking *l, struct last_sight **all, uint32_t e, uint64_t *state)
{
	const struct seen *s = &l->d->events[e];
	uint64_t write = write_key(l->d, s->needs);
	struct last_sight *last, key = {.at = {s->pc, s->thread}};
	struct sharers *at = NULL;
	if (!s->bytes || !rt_op_reads(s->op))
		return true;
	HASH_FIND(hh, l->sharers, &s->object, sizeof s->object, at);
	if (!at || !at->several)
		return true;
	HASH_FIND(hh, *all, &key.at, sizeof key.at, last);
	if (last && last->write == write)
		return true;
	if (!last)
		HASH_MAKE(*all, at, key.at, last);
	if (!last)
		return false;
	last->write = write;
	*state = state_after(l->d, *state, e, s->needs);
	return true;
}

/* False without memory. */
static bool find_states(struct looking *l)
{
	const struct delays *d = l->d;
	struct last_sight *all = NULL;
	uint64_t *states = calloc((size_t)d->thread_count + 1, sizeof *states);
	bool ok = states && (l->states = malloc((d->count + 1) * sizeof *l->states));
	for (uint32_t e = 0; ok && e < d->count; e++) {
		l->states[e] = states[d->events[e].thread];
		ok = note_state(l, &all, e, &states[d->events[e].thread]);
	}
	HASH_FREE(all);
	free(states);
	return ok;
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
	bool ok = find_sharers(&l) && find_states(&l);
	for (uint32_t e = 0; ok && e < d->count; e++)
		ok = look(&l, e);
	l.seen = false;
	for (uint32_t e = 0; ok && e < d->count; e++)
		ok = look(&l, e);
	set_release(&l.known);
	HASH_FREE(l.places);
	HASH_FREE(l.sharers);
	free(l.states);
	if (ok)
		return RT_OK;
	sights_release(out);
	return rt_error_set(err, RT_EMEMORY, "no memory for what reads see");
}
