/* Turns at objects; see turns.h. */
#include "lib/explore/turns.h"

#include "lib/base/hash.h"
#include "lib/base/set.h"
#include "lib/base/vec.h"

#include <stdlib.h>

/* The last event at an object. */
struct object {
	uint64_t address;
	uint64_t pc;
	uint32_t thread;
	bool writes;
	UT_hash_handle hh;
};

struct turns {
	struct object *objects;
	struct set seen;
	struct turn *items;
	size_t count, room;
};

static bool add(struct turns *t, uint64_t first, uint64_t second)
{
	bool added;
	uint64_t key = first * UINT64_C(0x9e3779b97f4a7c15) ^ second;
	if (!set_add(&t->seen, key ? key : 1, &added))
		return false;
	if (!added)
		return true;
	if (!vec_reserve(&t->items, &t->room, (uint64_t)t->count + 1, sizeof *t->items))
		return false;
	t->items[t->count++] = (struct turn){first, second};
	return true;
}

/* False without memory. */
static bool take(struct turns *t, const struct rt_event *e)
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
	} else if (o->thread != e->thread && (o->writes || writes) && !add(t, o->pc, e->pc)) {
		return false;
	}
	o->pc = e->pc;
	o->thread = e->thread;
	o->writes = writes;
	return true;
}

static void release(struct turns *t)
{
	HASH_FREE(t->objects);
	set_release(&t->seen);
}

enum rt_status turns_of(struct rt_trace *trace, struct turn **turns, size_t *count, struct rt_error *err)
{
	struct turns t = {0};
	struct rt_pass pass;
	bool ok = true;
	for (struct rt_event *e = rt_pass_first(&pass, trace, err); e && ok; e = rt_pass_next(&pass))
		ok = take(&t, e);
	release(&t);
	if (pass.status || !ok) {
		free(t.items);
		return ok ? pass.status : rt_error_set(err, RT_EMEMORY, "no memory for the turns of a trace");
	}
	*turns = t.items;
	*count = t.count;
	return RT_OK;
}
