/* What reads see; see sights.h. */
#include "lib/explore/sights.h"

#include "lib/base/set.h"
#include "lib/base/vec.h"
#include "lib/explore/delay_parts.h"

#include <stdlib.h>

enum {
	BACK_MAX = 4, /* writes before the one that was seen */
	READS_MAX = 8 /* of a variable, by other threads before a write */
};

/* Reads of a variable: the first of each position and thread. */
struct read_word {
	uint64_t word;
	uint32_t reads[READS_MAX], next;
	UT_hash_handle hh;
};

struct looking {
	const struct delays *d;
	struct sights *found;
	struct set known;
	struct read_word *words;
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
	return a->has_value && b->has_value && a->value == b->value;
}

/* A read could have seen one of the writes before that which it saw. */
static bool look_back(struct looking *l, uint32_t read)
{
	const struct seen *events = l->d->events, *r = &events[read];
	bool ok = true;
	uint32_t write = r->needs;
	for (int i = 0; ok && i < BACK_MAX && write != NONE && events[write].thread != r->thread; i++) {
		uint32_t before = events[write].needs;
		const struct seen *w = before == NONE ? NULL : &events[before];
		ok = add(l, (struct sight){.read = r->pc,
		                           .write = w ? w->pc : 0,
		                           .same = w && same(r, w),
		                           .delay = {.held = events[write].number, .until = r->number}});
		write = before;
	}
	return ok;
}

static struct read_word *word_of(struct looking *l, const struct seen *e)
{
	uint64_t key = e->object / WORD;
	struct read_word *word;
	HASH_FIND(hh, l->words, &key, sizeof key, word);
	if (word)
		return word;
	HASH_MAKE(l->words, word, key, word);
	for (int i = 0; word && i < READS_MAX; i++)
		word->reads[i] = NONE;
	return word;
}

/* Reads before could have seen the write. */
static bool look_ahead(struct looking *l, const struct read_word *word, uint32_t write)
{
	const struct seen *events = l->d->events, *w = &events[write];
	bool ok = true;
	for (int i = 0; ok && i < READS_MAX; i++) {
		const struct seen *r = word->reads[i] == NONE ? NULL : &events[word->reads[i]];
		if (r && r->thread != w->thread)
			ok = add(l, (struct sight){.read = r->pc,
			                           .write = w->pc,
			                           .same = same(r, w),
			                           .delay = {.held = r->number, .until = w->number}});
	}
	return ok;
}

/* Of a position and thread the first one is kept. */
static void keep(struct looking *l, struct read_word *word, uint32_t read)
{
	const struct seen *events = l->d->events, *r = &events[read];
	for (int i = 0; i < READS_MAX; i++)
		if (word->reads[i] != NONE && events[word->reads[i]].pc == r->pc &&
		    events[word->reads[i]].thread == r->thread)
			return;
	word->reads[word->next++ % READS_MAX] = read;
}

static bool look(struct looking *l, uint32_t e)
{
	const struct seen *events = l->d->events, *s = &events[e];
	if (!rt_op_is_access(s->op) || s->op == RT_OP_FENCE)
		return true;
	if (l->seen)
		return !rt_op_reads(s->op) ||
		       add(l, (struct sight){
		                  .read = s->pc, .write = s->needs == NONE ? 0 : events[s->needs].pc, .seen = true});
	struct read_word *word = word_of(l, s);
	bool ok = word;
	if (ok && rt_op_reads(s->op))
		ok = look_back(l, e);
	if (ok && rt_op_writes(s->op))
		ok = look_ahead(l, word, e);
	if (ok && rt_op_reads(s->op))
		keep(l, word, e);
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
	bool ok = true;
	for (uint32_t e = 0; ok && e < d->count; e++)
		ok = look(&l, e);
	l.seen = false;
	for (uint32_t e = 0; ok && e < d->count; e++)
		ok = look(&l, e);
	set_release(&l.known);
	HASH_FREE(l.words);
	if (ok)
		return RT_OK;
	sights_release(out);
	return rt_error_set(err, RT_EMEMORY, "no memory for what reads see");
}
