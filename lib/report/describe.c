/*
 * Descriptions of events; see describe.h.
 *
 * Call stacks are rebuilt from ENTER and LEAVE as lists of nodes that share their outer parts: a node is kept while its
 * call is open or while a saved event (an allocation, an acquire, a fork) refers to it. So the pass takes constant time
 * for each event, and memory only for open and saved stacks. Allocations matter only where a queried address is in
 * them: each such address is a slot with the block that it is currently in.
 */
#include "lib/report/describe.h"

#include "lib/base/hash.h"
#include "lib/base/lower_bound.h"
#include "lib/base/sort.h"
#include "lib/trace/jumps.h"

#include <stdlib.h>
#include <string.h>

enum {
	BATCH = 4096,
	LOCKS_MAX = 4096,        /* most locks held at once by a thread; a trace with more is invalid */
	NODES_MAX = 1 << 24,     /* most calls open or referred to; more are only counted */
	ROOT = 0,                /* node 0: outside of every call */
	STACK_GROW_NODES = 1024, /* first size of the node table */
};

/* One call: the position of its call site, and the call that it was made in. */
struct node {
	uint64_t pc;
	uint32_t parent; /* next free node while unused */
	uint32_t references;
};

/* An event with its stack at the time, kept until it is known whether a query leads to it. */
struct saved {
	struct rt_event event;
	uint32_t node;
	bool used;
};

struct held {
	uint64_t addr;
	bool shared;
	uint32_t depth; /* STD files have inner acquires of a held lock; the recorder leaves them out */
	struct saved acquired;
};

struct thread_state {
	uint32_t node;
	uint64_t uncounted; /* calls open beyond what the node table holds */
	uint64_t depth;     /* calls open */
	struct jumps jumps;
	struct held *held;
	size_t held_count, held_capacity;
	struct saved fork;
	uint64_t stack_base, stack_size; /* of a running thread; 0: unknown */
	uint64_t tls_base, tls_size;
};

/* One queried address: the blocks that it is currently in, heap inside mapping. */
struct slot {
	uint64_t addr;
	struct slot_block {
		struct saved alloc, freed;
	} heap, map;
};

struct entry {
	struct description d;
	UT_hash_handle hh;
};

struct ordinal {
	uint64_t number, ordinal;
};

struct descriptions {
	struct entry *entries;
	struct ordinal *ordinals; /* of all queried events, by number */
	size_t ordinal_count;
	bool cut, locks_cut;
};

struct pass {
	struct rt_trace *trace;
	struct descriptions *out;
	struct node *nodes;
	uint32_t node_count, node_capacity, node_free;
	struct thread_state *threads;
	uint32_t thread_count;
	struct slot *slots;
	size_t slot_count;
	bool no_memory;
};

/* Nodes */

static void node_release(struct pass *p, uint32_t node)
{
	while (node != ROOT && --p->nodes[node].references == 0) {
		uint32_t parent = p->nodes[node].parent;
		p->nodes[node].parent = p->node_free;
		p->node_free = node;
		node = parent;
	}
}

/* A new node inside parent, whose reference it takes; ROOT if there is no room. */
static uint32_t node_create(struct pass *p, uint64_t pc, uint32_t parent)
{
	uint32_t node = p->node_free;
	if (node != ROOT) {
		p->node_free = p->nodes[node].parent;
	} else {
		if (p->node_count == p->node_capacity) {
			uint32_t capacity = p->node_capacity ? p->node_capacity * 2 : STACK_GROW_NODES;
			struct node *nodes = capacity > NODES_MAX ? NULL : realloc(p->nodes, capacity * sizeof *nodes);
			if (!nodes)
				return ROOT;
			p->nodes = nodes;
			p->node_capacity = capacity;
		}
		node = p->node_count++;
	}
	p->nodes[node] = (struct node){.pc = pc, .parent = parent, .references = 1};
	return node;
}

static void enter(struct pass *p, struct thread_state *t, uint64_t pc)
{
	uint32_t node = t->uncounted ? ROOT : node_create(p, pc, t->node);
	t->depth++;
	if (node == ROOT)
		t->uncounted++;
	else
		t->node = node;
}

/* A LEAVE without its ENTER (the recording began inside the call) changes nothing. */
static void leave(struct pass *p, struct thread_state *t)
{
	if (t->depth)
		t->depth--;
	if (t->uncounted) {
		t->uncounted--;
		return;
	}
	uint32_t node = t->node;
	if (node == ROOT)
		return;
	t->node = p->nodes[node].parent;
	if (t->node != ROOT)
		p->nodes[t->node].references++;
	node_release(p, node);
}

/* Saved events */

static void saved_release(struct pass *p, struct saved *s)
{
	if (s->used)
		node_release(p, s->node);
	*s = (struct saved){0};
}

static void saved_set(struct pass *p, struct saved *s, const struct rt_event *event)
{
	uint32_t node = p->threads[event->thread].node;
	if (node != ROOT)
		p->nodes[node].references++;
	saved_release(p, s);
	*s = (struct saved){.event = *event, .node = node, .used = true};
}

/* True if it is a call in the recorder, which is between the program and a library that calls it back. */
static bool in_recorder(const struct pass *p, uint64_t pc)
{
	size_t n = 0;
	const struct rt_frame *frames = rt_trace_frames(p->trace, pc, &n);
	const char *module = n ? frames[0].module : NULL;
	return module && (strncmp(module, "libtsan.so.", 11) == 0 || strncmp(module, "libracetrace.so.", 16) == 0);
}

/* The entry of an event; created if absent, with its stack only. NULL without memory. */
static struct description *entry_add(struct pass *p, const struct rt_event *event, uint32_t node, bool *is_new)
{
	struct entry *e;
	HASH_FIND(hh, p->out->entries, &event->number, sizeof event->number, e);
	*is_new = !e;
	if (e)
		return &e->d;
	size_t depth = 1;
	for (uint32_t n = node; n != ROOT && depth < LIMIT_STACK_FRAMES_MAX; n = p->nodes[n].parent)
		depth++;
	e = calloc(1, sizeof *e);
	uint64_t *stack = malloc(depth * sizeof *stack);
	if (!e || !stack) {
		free(e);
		free(stack);
		p->no_memory = true;
		return NULL;
	}
	stack[0] = event->pc;
	size_t kept = 1;
	for (size_t i = 1; i < depth; i++) {
		if (!in_recorder(p, p->nodes[node].pc))
			stack[kept++] = p->nodes[node].pc;
		node = p->nodes[node].parent;
	}
	e->d.event = *event;
	e->d.stack = stack;
	e->d.stack_count = kept;
	e->d.stack_cut = node != ROOT;
	p->out->cut |= e->d.stack_cut;
	HASH_ADD(hh, p->out->entries, d.event.number, sizeof event->number, e);
	if (HASH_ADDED(e))
		return &e->d;
	free(stack);
	free(e);
	p->no_memory = true;
	return NULL;
}

/* Describes a saved event that a query leads to; returns its number, 0 if there is none. */
static uint64_t saved_use(struct pass *p, const struct saved *s)
{
	bool is_new;
	if (!s->used)
		return 0;
	struct description *d = entry_add(p, &s->event, s->node, &is_new);
	if (d && is_new && s->event.thread < p->thread_count)
		d->fork = p->threads[s->event.thread].fork.event.number;
	return s->event.number;
}

/* Memory */

static struct slot *slots_from(struct pass *p, uint64_t addr)
{
	size_t low = lower_bound(mid, 0, p->slot_count, p->slots[mid].addr < addr);
	return p->slots + low;
}

static void memory_event(struct pass *p, const struct rt_event *event)
{
	bool mapping = event->op == RT_OP_MAP || event->op == RT_OP_UNMAP;
	bool begins = event->op == RT_OP_ALLOC || event->op == RT_OP_MAP;
	const struct slot *end = p->slots + p->slot_count;
	/* A FREE may have no size: the slots of its block are those whose ALLOC has its address. */
	for (struct slot *s = slots_from(p, event->addr); s < end; s++) {
		struct slot_block *b = mapping ? &s->map : &s->heap;
		uint64_t offset = s->addr - event->addr;
		if (begins) {
			if (offset >= event->arg)
				break;
			saved_set(p, &b->alloc, event);
			saved_release(p, &b->freed);
		} else if (mapping) {
			if (offset >= event->arg)
				break;
			if (b->alloc.used)
				saved_set(p, &b->freed, event);
		} else {
			if (!b->alloc.used || b->alloc.event.addr != event->addr)
				break;
			saved_set(p, &b->freed, event);
		}
	}
}

static struct memory_block block_use(struct pass *p, const struct slot_block *b, bool mapped)
{
	return (struct memory_block){.address = b->alloc.event.addr,
	                             .size = b->alloc.event.arg,
	                             .alloc = saved_use(p, &b->alloc),
	                             .freed = saved_use(p, &b->freed),
	                             .mapped = mapped};
}

static struct memory_block block_at(struct pass *p, uint64_t addr)
{
	const struct slot *s = slots_from(p, addr);
	if (s == p->slots + p->slot_count || s->addr != addr)
		return (struct memory_block){0};
	/* A freed block is still the best description, until its memory is used again. */
	bool live_map = s->map.alloc.used && !s->map.freed.used;
	bool newer_map = live_map && s->heap.freed.used && s->map.alloc.event.number > s->heap.freed.event.number;
	if (s->heap.alloc.used && !newer_map)
		return block_use(p, &s->heap, false);
	return s->map.alloc.used ? block_use(p, &s->map, true) : (struct memory_block){0};
}

static bool stack_owner(const struct pass *p, uint64_t addr, uint32_t *owner)
{
	for (uint32_t i = 0; i < p->thread_count; i++) {
		const struct thread_state *t = &p->threads[i];
		if (addr >= t->stack_base && addr - t->stack_base < t->stack_size) {
			*owner = i;
			return true;
		}
	}
	return false;
}

/* Most threads have their thread-local memory inside their stack's mapping. */
static bool is_thread_local(const struct pass *p, struct memory_place *place)
{
	for (uint32_t i = 0; i < p->thread_count; i++) {
		const struct thread_state *t = &p->threads[i];
		if (place->addr >= t->tls_base && place->addr - t->tls_base < t->tls_size) {
			place->owner = i;
			place->tls_end = t->tls_base + t->tls_size;
			return true;
		}
	}
	return false;
}

static struct memory_place place_at(struct pass *p, uint64_t addr)
{
	struct rt_variable variable;
	struct memory_place place = {.addr = addr, .block = block_at(p, addr)};
	if (rt_trace_variable(p->trace, addr, &variable)) {
		place.kind = RT_MEMORY_GLOBAL;
		place.block = (struct memory_block){0};
	} else if (is_thread_local(p, &place)) {
		place.kind = RT_MEMORY_TLS;
		place.block = (struct memory_block){0};
	} else if (place.block.alloc && !place.block.mapped) {
		place.kind = RT_MEMORY_HEAP;
	} else if (stack_owner(p, addr, &place.owner)) {
		place.kind = RT_MEMORY_STACK;
		place.block = (struct memory_block){0};
	}
	return place;
}

/* queries: all n of one event, sorted by address. */
static void describe_places(struct pass *p, const struct describe_query *queries, size_t n, struct description *d)
{
	d->places = calloc(n, sizeof *d->places);
	if (!d->places) {
		p->no_memory = true;
		return;
	}
	for (size_t i = 0; i < n; i++)
		if (queries[i].addr && (i == 0 || queries[i].addr != queries[i - 1].addr))
			d->places[d->place_count++] = place_at(p, queries[i].addr);
}

/* Locks */

static struct held *held_find(struct thread_state *t, uint64_t addr)
{
	for (size_t i = t->held_count; i-- > 0;)
		if (t->held[i].addr == addr)
			return &t->held[i];
	return NULL;
}

static void acquire(struct pass *p, const struct rt_event *event, uint64_t addr, bool shared)
{
	struct thread_state *t = &p->threads[event->thread];
	struct held *h = held_find(t, addr);
	if (h) {
		h->depth++;
		return;
	}
	if (t->held_count == t->held_capacity) {
		size_t capacity = t->held_capacity ? t->held_capacity * 2 : 4;
		struct held *held = capacity > LOCKS_MAX ? NULL : realloc(t->held, capacity * sizeof *held);
		if (!held)
			return;
		t->held = held;
		t->held_capacity = capacity;
	}
	h = &t->held[t->held_count++];
	*h = (struct held){.addr = addr, .shared = shared, .depth = 1};
	saved_set(p, &h->acquired, event);
}

/* all: all nesting levels, as a wait does. */
static void release(struct pass *p, struct thread_state *t, uint64_t addr, bool all)
{
	struct held *h = held_find(t, addr);
	if (!h || (--h->depth && !all))
		return;
	saved_release(p, &h->acquired);
	memmove(h, h + 1, (size_t)(t->held + t->held_count - h - 1) * sizeof *h);
	t->held_count--;
}

static void describe_locks(struct pass *p, const struct thread_state *t, struct description *d)
{
	if (!t->held_count)
		return;
	size_t first = t->held_count > LIMIT_EVENT_LOCKS_MAX ? t->held_count - LIMIT_EVENT_LOCKS_MAX : 0;
	p->out->locks_cut |= first;
	d->locks = calloc(t->held_count - first, sizeof *d->locks);
	if (!d->locks) {
		p->no_memory = true;
		return;
	}
	for (size_t i = first; i < t->held_count; i++) {
		const struct held *h = &t->held[i];
		d->locks[d->lock_count++] = (struct held_lock){.addr = h->addr,
		                                               .shared = h->shared,
		                                               .acquired = saved_use(p, &h->acquired),
		                                               .block = block_at(p, h->addr)};
	}
}

/* The pass */

static void describe_event(struct pass *p, const struct rt_event *event, const struct describe_query *queries, size_t n)
{
	bool is_new, wanted = false;
	const struct thread_state *t = &p->threads[event->thread];
	p->out->ordinals[p->out->ordinal_count++] = (struct ordinal){event->number, event->ordinal};
	for (size_t i = 0; i < n; i++)
		wanted |= !queries[i].ordinal;
	if (!wanted)
		return;
	struct description *d = entry_add(p, event, t->node, &is_new);
	if (!d || !is_new)
		return;
	d->fork = saved_use(p, &t->fork);
	describe_places(p, queries, n, d);
	describe_locks(p, t, d);
}

/* Lock and block events change the state after their description: an acquire does not hold its own lock yet. */
static void follow(struct pass *p, const struct rt_event *event)
{
	struct thread_state *t = &p->threads[event->thread];
	switch (event->op) {
	case RT_OP_ENTER:
		enter(p, t, event->pc);
		break;
	case RT_OP_LEAVE:
		leave(p, t);
		break;
	case RT_OP_SETJMP:
		p->no_memory |= !jumps_set(&t->jumps, event->addr, t->depth);
		break;
	case RT_OP_LONGJMP:
		for (uint64_t target = jumps_target(&t->jumps, event->addr, t->depth); t->depth > target;)
			leave(p, t);
		break;
	case RT_OP_ACQUIRE:
	case RT_OP_ACQUIRE_SHARED:
		acquire(p, event, event->addr, event->op == RT_OP_ACQUIRE_SHARED);
		break;
	case RT_OP_RELEASE:
		release(p, t, event->addr, false);
		break;
	case RT_OP_WAIT_BEGIN:
		release(p, t, event->arg, true);
		break;
	case RT_OP_WAIT_END:
		acquire(p, event, event->arg, false);
		break;
	case RT_OP_FORK:
		if (event->addr < p->thread_count && event->addr != event->thread)
			saved_set(p, &p->threads[event->addr].fork, event);
		break;
	case RT_OP_BEGIN:
		t->stack_base = event->addr;
		t->stack_size = event->arg;
		break;
	case RT_OP_TLS:
		t->tls_base = event->addr;
		t->tls_size = event->arg;
		break;
	case RT_OP_END:
		t->stack_size = t->tls_size = 0;
		break;
	case RT_OP_ALLOC:
	case RT_OP_FREE:
	case RT_OP_MAP:
	case RT_OP_UNMAP:
		memory_event(p, event);
		break;
	default:
		break;
	}
}

static enum rt_status run(struct pass *p, const struct describe_query *queries, size_t n, struct rt_error *err)
{
	struct rt_event *events = malloc(BATCH * sizeof *events);
	if (!events)
		return rt_error_set(err, RT_EMEMORY, "no memory to describe events");
	enum rt_status status = rt_trace_rewind(p->trace, err);
	size_t next = 0, got = 1;
	while (!status && next < n && got && !p->no_memory) {
		status = rt_trace_read(p->trace, events, BATCH, &got, err);
		for (size_t i = 0; !status && i < got && next < n; i++) {
			const struct rt_event *event = &events[i];
			if (event->thread >= p->thread_count)
				continue;
			while (next < n && queries[next].number < event->number)
				next++;
			size_t end = next;
			while (end < n && queries[end].number == event->number)
				end++;
			if (end > next)
				describe_event(p, event, queries + next, end - next);
			next = end;
			follow(p, event);
		}
	}
	free(events);
	if (!status && p->no_memory)
		return rt_error_set(err, RT_EMEMORY, "no memory to describe events");
	return status;
}

static int compare_queries(const void *a, const void *b)
{
	const struct describe_query *x = a, *y = b;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return (x->addr > y->addr) - (x->addr < y->addr);
}

/* Sorted, each once, without 0. */
static size_t tidy(uint64_t *addrs, size_t n)
{
	size_t kept = 0;
	qsort(addrs, n, sizeof *addrs, compare_u64);
	for (size_t i = 0; i < n; i++)
		if (addrs[i] && (!kept || addrs[kept - 1] != addrs[i]))
			addrs[kept++] = addrs[i];
	return kept;
}

static bool pass_init(struct pass *p, struct rt_trace *trace, const uint64_t *addrs, size_t n, size_t queries)
{
	*p = (struct pass){.trace = trace, .thread_count = rt_trace_info(trace)->thread_count, .slot_count = n};
	p->out = calloc(1, sizeof *p->out);
	if (p->out)
		p->out->ordinals = calloc(queries ? queries : 1, sizeof *p->out->ordinals);
	p->threads = calloc(p->thread_count ? p->thread_count : 1, sizeof *p->threads);
	p->slots = calloc(n ? n : 1, sizeof *p->slots);
	p->nodes = calloc(STACK_GROW_NODES, sizeof *p->nodes);
	if (!p->out || !p->out->ordinals || !p->threads || !p->slots || !p->nodes)
		return false;
	p->node_count = 1; /* ROOT */
	p->node_capacity = STACK_GROW_NODES;
	for (size_t i = 0; i < n; i++)
		p->slots[i].addr = addrs[i];
	return true;
}

static void pass_release(struct pass *p)
{
	for (uint32_t i = 0; p->threads && i < p->thread_count; i++) {
		free(p->threads[i].held);
		jumps_release(&p->threads[i].jumps);
	}
	free(p->threads);
	free(p->slots);
	free(p->nodes);
	descriptions_free(p->out);
}

enum rt_status describe(struct rt_trace *trace, const struct describe_query *queries, size_t n,
                        struct descriptions **out, struct rt_error *err)
{
	struct pass p = {0};
	enum rt_status status = RT_EMEMORY;
	struct describe_query *sorted = calloc(n ? n : 1, sizeof *sorted);
	uint64_t *addrs = calloc(n ? n : 1, sizeof *addrs);
	for (size_t i = 0; sorted && addrs && i < n; i++) {
		sorted[i] = queries[i];
		addrs[i] = queries[i].addr;
	}
	if (!sorted || !addrs || !pass_init(&p, trace, addrs, tidy(addrs, n), n)) {
		rt_error_set(err, RT_EMEMORY, "no memory to describe events");
	} else {
		qsort(sorted, n, sizeof *sorted, compare_queries);
		rt_trace_select(trace, RT_SELECT_ALL);
		status = run(&p, sorted, n, err);
	}
	if (!status) {
		*out = p.out;
		p.out = NULL;
	}
	pass_release(&p);
	free(sorted);
	free(addrs);
	return status;
}

static int compare_ordinals(const void *a, const void *b)
{
	const struct ordinal *x = a, *y = b;
	return (x->number > y->number) - (x->number < y->number);
}

uint64_t description_ordinal(const struct descriptions *d, uint64_t number)
{
	const struct ordinal key = {.number = number};
	const struct ordinal *found =
	    bsearch(&key, d->ordinals, d->ordinal_count, sizeof *d->ordinals, compare_ordinals);
	return found ? found->ordinal : 0;
}

const struct memory_place *description_place(const struct description *d, uint64_t addr)
{
	for (size_t i = 0; i < d->place_count; i++)
		if (d->places[i].addr == addr)
			return &d->places[i];
	return NULL;
}

const struct description *description_of(const struct descriptions *d, uint64_t number)
{
	struct entry *e;
	HASH_FIND(hh, d->entries, &number, sizeof number, e);
	return e ? &e->d : NULL;
}

bool descriptions_cut(const struct descriptions *d)
{
	return d->cut;
}

bool descriptions_locks_cut(const struct descriptions *d)
{
	return d->locks_cut;
}

void descriptions_free(struct descriptions *d)
{
	if (!d)
		return;
	struct entry *e, *next;
	HASH_ITER(hh, d->entries, e, next)
	{
		HASH_DELETE(hh, d->entries, e);
		free(e->d.stack);
		free(e->d.places);
		free(e->d.locks);
		free(e);
	}
	free(d->ordinals);
	free(d);
}
