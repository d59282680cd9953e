/* Ownership of objects; see ownership.h. */
#include "lib/trace/ownership.h"

#include "lib/base/free.h"
#include "lib/base/hash.h"
#include "lib/base/lower_bound.h"
#include "lib/base/sort.h"
#include "lib/base/table.h"
#include "lib/base/vec.h"
#include "tracefmt/alias.h"

#include <stdlib.h>
#include <string.h>

enum {
	GRANULE_SHIFT = 4, /* heap blocks begin at multiples of 16 */
	PAGE_SHIFT = 12,
	PAGE_GRANULES = 1 << (PAGE_SHIFT - GRANULE_SHIFT),
	LINE = 64,            /* an object of memory that is neither a heap block nor a global */
	BLOCK_MAX = 64 << 20, /* larger blocks are many objects */
	GLOBAL_MAX = 1 << 20, /* and so are larger globals */
	ACCESS_MAX = 1 << 28, /* longer accesses are truncated, as in the shadow memory */
	ALL = 0,              /* lockset: of no access yet */
	NONE = 1              /* the empty lockset */
};

struct page {
	uint64_t key;
	uint32_t objects[PAGE_GRANULES]; /* number of the object + 1; 0: none yet */
	UT_hash_handle hh;
};

struct object {
	uint64_t addr, end;
	uint64_t last;    /* number of the owner's last access before it was shared */
	uint32_t owner;   /* thread + 1; 0: not accessed */
	uint32_t lockset; /* held at each access that counts */
	bool shared, written, atomic, failed;
	bool ordered; /* the owner's accesses up to `last` are ordered before the other threads' by creation */
};

struct lockset {
	uint32_t count;
	uint64_t *locks; /* sorted */
};

struct meet {
	uint64_t key; /* two locksets */
	uint32_t result;
	UT_hash_handle hh;
};

struct held {
	uint64_t lock;
	uint32_t depth;
	bool shared;
};

struct thread {
	struct held *held;
	uint32_t count, capacity;
	uint32_t sets[2]; /* held at reads; at writes: not those held as a reader */
	bool stale;
	uint32_t parent; /* + 1; 0: unknown */
	uint64_t forked; /* number of its FORK; 0: none */
};

struct range {
	uint64_t addr, end;
};

struct ownership {
	struct rt_trace *trace;
	struct rt_aliases aliases; /* as of the event that is read */
	struct page *pages, *recent;
	struct object *objects;
	uint32_t object_count, object_capacity;
	struct lockset *sets;
	uint32_t set_count, set_capacity;
	struct table set_index;
	struct meet *meets;
	struct thread *threads;
	uint32_t thread_capacity;
	uint64_t *strays; /* locks that a thread released that did not hold them */
	uint32_t stray_count, stray_capacity;
	struct range *ranges; /* of failed objects, sorted, apart */
	size_t range_count, range_capacity;
	size_t hint;
	uint64_t shared, failed_count;
	bool failed; /* no memory */
};

/* --- locksets --- */

static uint32_t set_intern(struct ownership *o, const uint64_t *locks, uint32_t n)
{
	uint32_t hash = (uint32_t)XXH3_64bits(locks, n * sizeof *locks);
	for (uint32_t at = hash, i; (i = table_next(&o->set_index, hash, &at)) != TABLE_NONE;)
		if (o->sets[i].count == n && (!n || !memcmp(o->sets[i].locks, locks, n * sizeof *locks)))
			return i;
	uint64_t *own = malloc((n + 1) * sizeof *own);
	if (!own || !vec_reserve(&o->sets, &o->set_capacity, (uint64_t)o->set_count + 1, sizeof *o->sets) ||
	    !table_put(&o->set_index, hash, o->set_count)) {
		free(own);
		o->failed = true;
		return NONE;
	}
	if (n)
		memcpy(own, locks, n * sizeof *own);
	o->sets[o->set_count] = (struct lockset){n, own};
	return o->set_count++;
}

static uint32_t set_meet(struct ownership *o, uint32_t a, uint32_t b)
{
	if (a == ALL || a == b)
		return b;
	if (b == ALL)
		return a;
	if (a == NONE || b == NONE)
		return NONE;
	uint64_t key = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
	struct meet *known;
	HASH_FIND(hh, o->meets, &key, sizeof key, known);
	if (known)
		return known->result;
	const struct lockset *x = &o->sets[a], *y = &o->sets[b];
	uint64_t *both = malloc((x->count + 1) * sizeof *both);
	uint32_t n = 0;
	for (uint32_t i = 0, k = 0; both && i < x->count && k < y->count;) {
		uint64_t p = x->locks[i], q = y->locks[k];
		if (p == q)
			both[n++] = p;
		i += p <= q;
		k += q <= p;
	}
	uint32_t result = both ? set_intern(o, both, n) : NONE;
	free(both);
	known = calloc(1, sizeof *known);
	if (!known) {
		o->failed = true;
		return result;
	}
	known->key = key;
	known->result = result;
	HASH_ADD(hh, o->meets, key, sizeof known->key, known);
	if (!HASH_ADDED(known)) {
		free(known);
		o->failed = true;
	}
	return result;
}

/* --- threads --- */

static struct thread *thread_of(struct ownership *o, uint32_t thread)
{
	if (vec_extend(&o->threads, &o->thread_capacity, (uint64_t)thread + 1, sizeof *o->threads))
		return &o->threads[thread];
	o->failed = true;
	return NULL;
}

static uint32_t held_set(struct ownership *o, struct thread *t, bool write)
{
	if (t->stale || !t->sets[0]) {
		uint64_t *locks = malloc((t->count + 1) * sizeof *locks);
		for (int w = 0; locks && w < 2; w++) {
			uint32_t n = 0;
			for (uint32_t i = 0; i < t->count; i++)
				if (!w || !t->held[i].shared)
					locks[n++] = t->held[i].lock;
			if (n)
				qsort(locks, n, sizeof *locks, compare_u64);
			t->sets[w] = set_intern(o, locks, n);
		}
		o->failed |= !locks;
		free(locks);
		t->stale = false;
	}
	return t->sets[write];
}

static void acquire(struct ownership *o, struct thread *t, uint64_t lock, bool shared)
{
	t->stale = true;
	for (uint32_t i = 0; i < t->count; i++)
		if (t->held[i].lock == lock) {
			t->held[i].depth++;
			return;
		}
	if (vec_reserve(&t->held, &t->capacity, (uint64_t)t->count + 1, sizeof *t->held))
		t->held[t->count++] = (struct held){lock, 1, shared};
	else
		o->failed = true;
}

static void release(struct ownership *o, struct thread *t, uint64_t lock, bool all)
{
	t->stale = true;
	for (uint32_t i = 0; i < t->count; i++)
		if (t->held[i].lock == lock) {
			if (!--t->held[i].depth || all)
				t->held[i] = t->held[--t->count];
			return;
		}
	if (vec_reserve(&o->strays, &o->stray_capacity, (uint64_t)o->stray_count + 1, sizeof *o->strays))
		o->strays[o->stray_count++] = lock;
	else
		o->failed = true;
}

/* --- objects --- */

static uint32_t *granule(struct ownership *o, uint64_t addr)
{
	uint64_t key = addr >> PAGE_SHIFT;
	if (!o->recent || o->recent->key != key) {
		struct page *p;
		HASH_FIND(hh, o->pages, &key, sizeof key, p);
		if (!p)
			HASH_MAKE(o->pages, key, key, p);
		if (!p) {
			o->failed = true;
			return NULL;
		}
		o->recent = p;
	}
	return &o->recent->objects[addr >> GRANULE_SHIFT & (PAGE_GRANULES - 1)];
}

static uint64_t end_of(uint64_t addr, uint64_t size)
{
	return size > UINT64_MAX - addr ? UINT64_MAX : addr + size;
}

/* A new object; what had its granules before keeps its state, but no later access is its own. fresh: only granules
 * without an object. */
static void object_create(struct ownership *o, uint64_t addr, uint64_t size, bool fresh)
{
	if (!vec_reserve(&o->objects, &o->object_capacity, (uint64_t)o->object_count + 1, sizeof *o->objects)) {
		o->failed = true;
		return;
	}
	o->objects[o->object_count++] = (struct object){.addr = addr, .end = end_of(addr, size)};
	const uint64_t step = 1 << GRANULE_SHIFT;
	for (uint64_t at = addr & ~(step - 1); at < end_of(addr, size) && !o->failed; at += step) {
		uint32_t *g = granule(o, at);
		if (g && (!fresh || !*g))
			*g = o->object_count;
		if (at > UINT64_MAX - step)
			break;
	}
}

static struct object *object_at(struct ownership *o, uint64_t addr)
{
	struct rt_variable v;
	uint32_t *g = granule(o, addr);
	if (g && !*g) {
		bool global = rt_trace_variable(o->trace, addr, &v) && v.address <= addr && v.size <= GLOBAL_MAX &&
		              addr - v.address < v.size;
		if (global)
			object_create(o, v.address, v.size, true);
		else
			object_create(o, addr / LINE * LINE, LINE, true);
		g = granule(o, addr);
	}
	return g && *g ? &o->objects[*g - 1] : NULL;
}

/* True if what the owner did up to its access `last` is ordered before the thread by its creation. */
static bool is_created_later(const struct ownership *o, const struct object *x, uint32_t thread)
{
	const struct thread *t = &o->threads[thread];
	return t->parent == x->owner && t->forked > x->last;
}

static void object_access(struct ownership *o, struct object *x, const struct rt_event *e, bool write)
{
	uint32_t lockset = held_set(o, &o->threads[e->thread], write);
	x->atomic |= rt_op_is_atomic(e->op) != 0;
	if (!x->owner) {
		x->owner = e->thread + 1;
	} else if (!x->shared && x->owner != e->thread + 1) {
		x->shared = true;
		if ((x->ordered = is_created_later(o, x, e->thread))) {
			x->lockset = ALL;
			x->written = false;
		}
	}
	if (!x->shared)
		x->last = e->number;
	else if (x->ordered && x->owner != e->thread + 1 && !is_created_later(o, x, e->thread))
		x->failed = true; /* it may meet what the owner did before */
	x->lockset = set_meet(o, x->lockset, lockset);
	x->written |= write;
	x->failed |= x->shared && x->written && x->lockset == NONE;
}

static void access_memory(struct ownership *o, const struct rt_event *e, bool write)
{
	uint64_t end = end_of(e->addr, e->arg < ACCESS_MAX ? e->arg : ACCESS_MAX);
	uint64_t at = e->addr;
	if (!thread_of(o, e->thread))
		return;
	do {
		struct object *x = object_at(o, at);
		if (!x)
			return;
		object_access(o, x, e, write);
		/* An object of another shape may begin in the next granule. */
		uint64_t next = (at | ((1 << GRANULE_SHIFT) - 1)) + 1;
		while (next && next < end) {
			uint32_t *g = granule(o, next);
			if (!g || !*g || &o->objects[*g - 1] != x)
				break;
			next += 1 << GRANULE_SHIFT;
		}
		at = next;
	} while (at && at < end && !o->failed);
}

/* Memory that is mapped twice is one object, as in the model. */
static void access_mapped(struct ownership *o, const struct rt_event *e, bool write)
{
	struct rt_event piece = *e, rest;
	while (rt_aliases_apply(&o->aliases, e) && rt_aliases_split(&o->aliases, &piece, &rest)) {
		access_memory(o, &piece, write);
		piece = rest;
	}
	access_memory(o, &piece, write);
}

static void create_mapped(struct ownership *o, const struct rt_event *e)
{
	struct rt_event piece = *e, rest;
	while (rt_aliases_apply(&o->aliases, e) && rt_aliases_split(&o->aliases, &piece, &rest)) {
		object_create(o, piece.addr, piece.arg, false);
		piece = rest;
	}
	object_create(o, piece.addr, piece.arg ? piece.arg : 1, false);
}

/* --- the pass --- */

static void take(struct ownership *o, const struct rt_event *e)
{
	struct thread *t = thread_of(o, e->thread);
	if (!t)
		return;
	if (rt_op_is_access(e->op) && e->op != RT_OP_FENCE) {
		access_mapped(o, e, rt_op_writes(e->op) != 0);
	} else if (e->op == RT_OP_ALIAS) {
		o->failed |= !rt_aliases_event(&o->aliases, e);
	} else if (e->op == RT_OP_ACQUIRE || e->op == RT_OP_ACQUIRE_SHARED) {
		acquire(o, t, e->addr, e->op == RT_OP_ACQUIRE_SHARED);
	} else if (e->op == RT_OP_RELEASE) {
		release(o, t, e->addr, false);
	} else if (e->op == RT_OP_WAIT_BEGIN) {
		release(o, t, e->arg, true);
	} else if (e->op == RT_OP_WAIT_END) {
		acquire(o, t, e->arg, false);
	} else if (e->op == RT_OP_ALLOC && e->arg <= BLOCK_MAX) {
		create_mapped(o, e);
	} else if (e->op == RT_OP_FORK && e->addr < UINT32_MAX) {
		uint32_t parent = e->thread + 1;
		struct thread *child = thread_of(o, (uint32_t)e->addr);
		if (child && !child->forked) {
			child->parent = parent;
			child->forked = e->number;
		}
	}
}

static bool is_stray(const struct ownership *o, uint32_t set)
{
	for (uint32_t i = 0; i < o->sets[set].count; i++) {
		bool stray = false;
		for (uint32_t k = 0; k < o->stray_count && !stray; k++)
			stray = o->strays[k] == o->sets[set].locks[i];
		if (!stray)
			return false;
	}
	return true;
}

static int by_addr(const void *a, const void *b)
{
	const struct range *x = a, *y = b;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* The memory of the objects that failed. Granules count as a whole, since objects may share one. */
static void gather(struct ownership *o)
{
	for (uint32_t i = 0; i < o->object_count && !o->failed; i++) {
		struct object *x = &o->objects[i];
		o->shared += x->shared;
		x->failed |= x->atomic || (x->shared && x->written && o->stray_count && is_stray(o, x->lockset));
		if (!x->failed)
			continue;
		o->failed_count++;
		if (!vec_reserve(&o->ranges, &o->range_capacity, (uint64_t)o->range_count + 1, sizeof *o->ranges)) {
			o->failed = true;
			return;
		}
		const uint64_t mask = (1 << GRANULE_SHIFT) - 1;
		o->ranges[o->range_count++] = (struct range){x->addr & ~mask, (x->end - 1) | mask};
	}
	if (o->range_count)
		qsort(o->ranges, o->range_count, sizeof *o->ranges, by_addr);
	size_t kept = 0;
	for (size_t i = 0; i < o->range_count; i++) {
		struct range *last = kept ? &o->ranges[kept - 1] : NULL;
		if (last && o->ranges[i].addr <= last->end)
			last->end = o->ranges[i].end > last->end ? o->ranges[i].end : last->end;
		else
			o->ranges[kept++] = o->ranges[i];
	}
	o->range_count = kept;
}

enum rt_status ownership_create(struct rt_trace *trace, struct ownership **out, struct rt_error *err)
{
	struct ownership *o = calloc(1, sizeof *o);
	struct rt_pass pass;
	if (o) {
		o->trace = trace;
		set_intern(o, NULL, 0); /* ALL: never compared */
		if (!o->failed)
			o->sets[ALL].count = UINT32_MAX;
		set_intern(o, NULL, 0); /* NONE */
	}
	for (struct rt_event *e = o ? rt_pass_first(&pass, trace, err) : NULL; e && !o->failed; e = rt_pass_next(&pass))
		take(o, e);
	enum rt_status status = o ? pass.status : RT_EMEMORY;
	if (!status && !o->failed)
		gather(o);
	if (!o || status == RT_EMEMORY || o->failed)
		status = rt_error_set(err, RT_EMEMORY, "no memory for the objects of the trace");
	if (status) {
		ownership_free(o);
		return status;
	}
	*out = o;
	return RT_OK;
}

bool ownership_fails(struct ownership *o, uint64_t addr, uint64_t size)
{
	uint64_t end = end_of(addr, size ? size : 1);
	if (o->hint < o->range_count && addr >= o->ranges[o->hint].addr && addr <= o->ranges[o->hint].end)
		return true;
	size_t at = lower_bound(i, 0, o->range_count, o->ranges[i].end < addr);
	if (at == o->range_count || o->ranges[at].addr >= end)
		return false;
	o->hint = at;
	return true;
}

void ownership_counts(const struct ownership *o, uint64_t *objects, uint64_t *shared, uint64_t *failed)
{
	*objects = o->object_count;
	*shared = o->shared;
	*failed = o->failed_count;
}

void ownership_free(struct ownership *o)
{
	if (!o)
		return;
	HASH_FREE(o->pages);
	HASH_FREE(o->meets);
	for (uint32_t i = 0; i < o->set_count; i++)
		free(o->sets[i].locks);
	table_release(&o->set_index);
	for (uint32_t i = 0; i < o->thread_capacity; i++)
		free(o->threads[i].held);
	rt_aliases_release(&o->aliases);
	free_all(o->sets, o->threads, o->objects, o->strays, o->ranges, o);
}
