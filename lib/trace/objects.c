/*
 * Synchronisation objects as memory. A call on one also reads it, so that init, destroy and free() of a lock in use are
 * races like any other. An event with RT_F_OBJECT becomes two with one number: an atomic load of the object's first
 * byte and the synchronisation itself. Two such loads never conflict, so of a thread's loads between two writes of the
 * object the first and the last are enough: a write that is ordered with these is ordered with all.
 *
 * A release by a thread that does not hold the lock is no release, unless another thread takes the lock although its
 * holder has not released it: then the hold was handed over. Such a hold protects nothing (its lock is in no lockset)
 * but keeps its place: sections before it stay before it, and a later acquire of the lock comes after the release
 * (threads.c). Which holds those are is known only at that acquire, so the trace is then loaded again (loader.handed).
 *
 * An object that is initialised again at the same address is another object, unless only one thread has used it so far.
 */
#include "lib/base/hash.h"
#include "lib/base/vec.h"
#include "lib/trace/loader.h"

/* A thread's loads of an object since the last write of the object. */
struct use {
	uint32_t thread, last; /* event index of the last one */
	bool several;          /* more than one load */
};
struct object_cell {
	uint32_t cell;
	struct use *uses;
	uint32_t count, capacity;
	UT_hash_handle hh;
};

struct objects {
	struct object_cell *cells;
	uint32_t *users; /* by object: thread + 1, USERS_SEVERAL; and USERS_STALE: it was initialised again since */
	uint32_t user_capacity, user_count;
	uint32_t renewals;
	uint8_t lines[OBJECT_LINES / 8]; /* bits, by hash of address >> LINE_SHIFT: an object may be there */
};

#define USERS_STALE (UINT32_C(1) << 31)
#define USERS_SEVERAL (USERS_STALE - 1)
enum {
	LINE_SHIFT = 6,
	RENEWALS_MAX = 1 << 16,    /* most objects; beyond, objects stay the same, which hides races and invents none */
	RENEW_BYTES_MAX = 1 << 16, /* most bytes of an allocation that are searched for old objects */
	OBJECT_ALIGN = 4,          /* of a spin lock */
};

static uint64_t object_address(const struct rt_event *e)
{
	return e->op == RT_OP_WAIT_END ? e->arg : e->addr;
}

void loader_touch_object(struct loader *l, const struct rt_event *e)
{
	if (!l->threads[e->thread].ignored[0])
		shadow_touch(&l->shadow, object_address(e), 1, e->thread, false);
}

bool loader_objects_init(struct loader *l)
{
	l->objects = calloc(1, sizeof *l->objects);
	return l->objects;
}

void loader_objects_release(struct loader *l)
{
	struct object_cell *c, *next;
	if (!l->objects)
		return;
	HASH_ITER(hh, l->objects->cells, c, next)
	{
		HASH_DELETE(hh, l->objects->cells, c);
		free(c->uses);
		free(c);
	}
	free(l->objects->users);
	free(l->objects);
}

static struct object_cell *object_cell(struct loader *l, uint32_t cell)
{
	struct object_cell *c;
	HASH_FIND(hh, l->objects->cells, &cell, sizeof cell, c);
	if (!c)
		HASH_MAKE(l->objects->cells, cell, cell, c);
	l->failed |= !c;
	return c;
}

void loader_object_written(struct loader *l, uint32_t cell)
{
	struct object_cell *c;
	HASH_FIND(hh, l->objects->cells, &cell, sizeof cell, c);
	if (c)
		c->count = 0;
}

/* Keeps the load. The one before, unless it was the thread's first, is not needed any more. */
static void thin(struct loader *l, struct object_cell *c, uint32_t thread, uint32_t event)
{
	for (uint32_t i = 0; i < c->count; i++) {
		struct use *use = &c->uses[i];
		if (use->thread != thread)
			continue;
		if (use->several) {
			l->m->events[use->last].site = MODEL_NONE;
			l->thinned = true;
		}
		use->several = true;
		use->last = event;
		return;
	}
	if (!vec_reserve(&c->uses, &c->capacity, (uint64_t)c->count + 1, sizeof *c->uses)) {
		l->failed = true;
		return;
	}
	c->uses[c->count++] = (struct use){thread, event, false};
}

void loader_use_object(struct loader *l, const struct rt_event *e)
{
	enum { RELAXED = 0 };
	struct rt_event load = *e;
	uint32_t event = l->m->event_count, cell;
	load.op = RT_OP_ATOMIC_LOAD;
	load.order = RELAXED;
	load.addr = object_address(e);
	load.arg = 1;
	load.flags = RT_F_OBJECT;
	loader_access(l, &load);
	if (l->m->event_count == event || l->failed)
		return;
	cell = l->m->events[event].object;
	struct object_cell *c = object_cell(l, cell);
	if (c) {
		loader_object_cell(l, cell);
		thin(l, c, e->thread, event);
	}
}

/* Generations */

static uint32_t line_of(uint64_t addr)
{
	return (uint32_t)((addr >> LINE_SHIFT) * UINT64_C(0x9e3779b97f4a7c15) >> 32) % OBJECT_LINES;
}

/* The users of an object; created if absent. */
static uint32_t *users_of(struct loader *l, uint32_t object)
{
	struct objects *o = l->objects;
	if (object >= o->user_count) {
		if (!vec_reserve(&o->users, &o->user_capacity, (uint64_t)object + 1, sizeof *o->users)) {
			l->failed = true;
			return NULL;
		}
		for (; o->user_count <= object; o->user_count++)
			o->users[o->user_count] = 0;
	}
	return &o->users[object];
}

uint32_t loader_object(struct loader *l, const struct rt_event *e, uint64_t addr, enum model_object_kind kind)
{
	uint32_t object = intern_object(&l->intern, addr, kind), *users = users_of(l, object);
	uint32_t user = e->thread + 1;
	if (!users || *users == user || *users == USERS_SEVERAL)
		return object;
	if (*users & USERS_STALE && *users != (USERS_STALE | user) && l->objects->renewals < RENEWALS_MAX) {
		l->objects->renewals++;
		object = intern_object_anew(&l->intern, addr, kind);
		users = users_of(l, object);
		if (!users)
			return object;
	}
	uint32_t before = *users & ~USERS_STALE;
	*users = !before || before == user ? user : USERS_SEVERAL;
	uint32_t line = line_of(addr);
	l->objects->lines[line / 8] |= (uint8_t)(1u << line % 8);
	return object;
}

static void stale(struct loader *l, uint64_t addr)
{
	static const enum model_object_kind kinds[] = {OBJECT_LOCK, OBJECT_CONDITION, OBJECT_BARRIER, OBJECT_SEMAPHORE};
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		uint32_t object = intern_object_find(&l->intern, addr, kinds[i]);
		uint32_t *users = object == MODEL_NONE ? NULL : users_of(l, object);
		if (users && *users)
			*users |= USERS_STALE;
	}
}

void loader_new_objects(struct loader *l, uint64_t addr, uint64_t size)
{
	if (addr > RT_OPERAND_MAX) /* no event has such an object */
		return;
	uint64_t end = addr + (size < RENEW_BYTES_MAX ? size : RENEW_BYTES_MAX);
	for (uint64_t at = addr; at < end;) {
		uint64_t next = ((at >> LINE_SHIFT) + 1) << LINE_SHIFT;
		uint32_t line = line_of(at);
		if (l->objects->lines[line / 8] & 1u << line % 8)
			for (at = (at + OBJECT_ALIGN - 1) & ~(uint64_t)(OBJECT_ALIGN - 1); at < next && at < end;
			     at += OBJECT_ALIGN)
				stale(l, at);
		at = next;
	}
}

/* Holds that were handed over */

struct handed_entry {
	uint64_t key;
	UT_hash_handle hh;
};

static uint64_t handed_key(enum handed_part part, uint64_t what)
{
	return what << 2 | part;
}

void handed_release(struct handed *h)
{
	HASH_FREE(h->entries);
}

bool loader_is_handed(const struct loader *l, enum handed_part part, uint64_t what)
{
	struct handed_entry *entry = NULL;
	uint64_t key = handed_key(part, what);
	if (l->handed->entries)
		HASH_FIND(hh, l->handed->entries, &key, sizeof key, entry);
	return entry;
}

static void handed_add(struct loader *l, enum handed_part part, uint64_t what)
{
	if (loader_is_handed(l, part, what))
		return;
	struct handed_entry *entry;
	HASH_MAKE(l->handed->entries, key, handed_key(part, what), entry);
	if (entry)
		l->handed->grew = true;
	else
		l->failed = true;
}

void loader_hand_over(struct loader *l, uint64_t addr, uint64_t acquire, uint64_t release)
{
	handed_add(l, HANDED_LOCK, addr);
	handed_add(l, HANDED_ACQUIRE, acquire);
	handed_add(l, HANDED_RELEASE, release);
}
