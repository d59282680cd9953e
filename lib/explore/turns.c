/* Turns at objects; see turns.h. */
#include "lib/explore/turns.h"

#include "lib/base/hash.h"
#include "lib/base/set.h"
#include "lib/base/vec.h"

#include <stdlib.h>

enum { PAIRS_MAX = 32, PLACES_MAX = 16 }; /* of an object: more are too many to try */

/* Two turns of a thread at the object with none of its own in between. */
struct pair {
	uint64_t before, after;
	uint32_t thread;
	bool write; /* both do */
};
struct place {
	uint64_t pc;
	uint32_t thread;
	bool writes;
};
/* The last turn of a thread at the object. */
struct last {
	uint32_t thread;
	bool writes;
	uint64_t pc;
	UT_hash_handle hh;
};

struct object {
	uint64_t address;
	uint64_t pc; /* of the last event, */
	uint32_t thread;
	bool writes;
	struct last *last;
	struct pair *pairs; /* PAIRS_MAX */
	struct place *places;
	unsigned pair_count, place_count;
	UT_hash_handle hh;
};

struct finding_turns {
	struct turns *found;
	struct object *objects;
	struct set seen, between;
};

static uint64_t mix(uint64_t a, uint64_t b)
{
	uint64_t key = a * UINT64_C(0x9e3779b97f4a7c15) ^ b;
	return key ? key : 1;
}

static bool add(struct finding_turns *t, uint64_t first, uint64_t second)
{
	struct turns *f = t->found;
	bool added;
	if (!set_add(&t->seen, mix(first, second), &added))
		return false;
	if (!added)
		return true;
	if (!vec_reserve(&f->items, &f->room, (uint64_t)f->count + 1, sizeof *f->items))
		return false;
	f->items[f->count++] = (struct turn){first, second};
	return true;
}

static bool add_between(struct finding_turns *t, struct between b)
{
	struct turns *f = t->found;
	bool added;
	if (!set_add(&t->between, mix(mix(b.before, b.turn), b.after), &added))
		return false;
	if (!added)
		return true;
	if (!vec_reserve(&f->between, &f->between_room, (uint64_t)f->between_count + 1, sizeof *f->between))
		return false;
	f->between[f->between_count++] = b;
	return true;
}

/* What could come between two turns: each position of each thread at the object. */
static bool note_place(struct object *o, struct place place)
{
	for (unsigned i = 0; i < o->place_count; i++)
		if (o->places[i].pc == place.pc && o->places[i].thread == place.thread)
			return true;
	if (o->place_count == PLACES_MAX)
		return true;
	if (!o->places && !(o->places = calloc(PLACES_MAX, sizeof *o->places)))
		return false;
	o->places[o->place_count++] = place;
	return true;
}

static bool note_pair(struct object *o, struct pair pair)
{
	for (unsigned i = 0; i < o->pair_count; i++)
		if (o->pairs[i].before == pair.before && o->pairs[i].after == pair.after &&
		    o->pairs[i].thread == pair.thread)
			return true;
	if (o->pair_count == PAIRS_MAX)
		return true;
	if (!o->pairs && !(o->pairs = calloc(PAIRS_MAX, sizeof *o->pairs)))
		return false;
	o->pairs[o->pair_count++] = pair;
	return true;
}

/* The thread's turn before this one is behind it. */
static bool follow(struct finding_turns *t, struct object *o, const struct rt_event *e, bool writes)
{
	struct last *last;
	HASH_FIND(hh, o->last, &e->thread, sizeof e->thread, last);
	if (!last) {
		HASH_MAKE(o->last, thread, e->thread, last);
		if (!last)
			return false;
	} else if (!note_pair(o, (struct pair){last->pc, e->pc, e->thread, last->writes && writes}) ||
	           (o->thread != e->thread && !add_between(t, (struct between){last->pc, o->pc, e->pc, true}))) {
		return false;
	}
	last->pc = e->pc;
	last->writes = writes;
	return note_place(o, (struct place){e->pc, e->thread, writes});
}

/* False without memory. */
static bool take(struct finding_turns *t, const struct rt_event *e)
{
	bool lock = e->op == RT_OP_ACQUIRE || e->op == RT_OP_ACQUIRE_SHARED;
	struct object *o;
	if (!lock && !rt_op_is_atomic(e->op))
		return true;
	bool writes = lock ? e->op == RT_OP_ACQUIRE : rt_op_writes(e->op);
	HASH_FIND(hh, t->objects, &e->addr, sizeof e->addr, o);
	if (!o) {
		HASH_MAKE(t->objects, address, e->addr, o);
		if (!o)
			return false;
		o->thread = e->thread;
	} else if (o->thread != e->thread && (o->writes || writes) && !add(t, o->pc, e->pc)) {
		return false;
	}
	if (!follow(t, o, e, writes))
		return false;
	o->pc = e->pc;
	o->thread = e->thread;
	o->writes = writes;
	return true;
}

/* What no two turns had between them, but could have: it conflicts with both. */
static bool combine(struct finding_turns *t, const struct object *o)
{
	bool ok = true;
	for (unsigned i = 0; i < o->pair_count; i++)
		for (unsigned k = 0; ok && k < o->place_count; k++) {
			const struct pair *pair = &o->pairs[i];
			const struct place *place = &o->places[k];
			if (place->thread != pair->thread && (place->writes || pair->write))
				ok = add_between(t, (struct between){pair->before, place->pc, pair->after, false});
		}
	return ok;
}

static void release(struct finding_turns *t)
{
	for (struct object *o = t->objects; o; o = o->hh.next) {
		HASH_FREE(o->last);
		free(o->pairs);
		free(o->places);
	}
	HASH_FREE(t->objects);
	set_release(&t->seen);
	set_release(&t->between);
}

void turns_release(struct turns *turns)
{
	free(turns->items);
	free(turns->between);
	*turns = (struct turns){0};
}

enum rt_status turns_of(struct rt_trace *trace, struct turns *turns, struct rt_error *err)
{
	*turns = (struct turns){0};
	struct finding_turns t = {.found = turns};
	struct rt_pass pass;
	bool ok = true;
	for (struct rt_event *e = rt_pass_first(&pass, trace, err); e && ok; e = rt_pass_next(&pass))
		ok = take(&t, e);
	for (const struct object *o = t.objects; o && ok; o = o->hh.next)
		ok = combine(&t, o);
	release(&t);
	if (!pass.status && ok)
		return RT_OK;
	turns_release(turns);
	return ok ? pass.status : rt_error_set(err, RT_EMEMORY, "no memory for the turns of a trace");
}
