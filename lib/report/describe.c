/*
 * Descriptions of events; see describe.h.
 *
 * The pass takes constant time for each event, and memory only for open and saved stacks. Allocations matter only where
 * a queried address is in them: each such address is a slot with the block that it is currently in.
 */
#include "lib/report/describe_parts.h"

#include "lib/base/lower_bound.h"
#include "lib/base/sort.h"

#include <stdlib.h>
#include <string.h>

enum {
	LOCKS_MAX = 4096, /* most locks held at once by a thread; a trace with more is invalid */
};

/* Locks */

static struct lock_held *held_find(struct described_thread *t, uint64_t addr)
{
	for (size_t i = t->held_count; i-- > 0;)
		if (t->held[i].addr == addr)
			return &t->held[i];
	return NULL;
}

/* The lock is held again, as the last one. What the line says that took it first still names it. */
static void end_wait(struct describing *p, struct described_thread *t, struct lock_held *h,
                     const struct rt_event *event)
{
	struct lock_held again = *h;
	struct lock_held *last = &t->held[t->held_count - 1];
	memmove(h, h + 1, (size_t)(last - h) * sizeof *h);
	again.waits = false;
	again.depth = 1;
	*last = again;
	describe_save(p, &last->acquired, event);
	if (event->op != RT_OP_WAIT_END)
		describe_save(p, &last->taken, event);
}

/* True if a semaphore is a lock: those are asked about as locks are. */
static bool is_lock(const struct describing *p, uint64_t semaphore)
{
	size_t at = lower_bound(i, 0, p->lock_count, p->locks[i].addr < semaphore);
	return at < p->lock_count && p->locks[at].addr == semaphore;
}

static void acquire(struct describing *p, const struct rt_event *event, uint64_t addr, bool shared)
{
	struct described_thread *t = &p->threads[event->thread];
	struct lock_held *h = held_find(t, addr);
	if (h && h->waits) {
		end_wait(p, t, h, event);
		return;
	}
	if (h) {
		h->depth++;
		return;
	}
	if (t->held_count == t->held_capacity) {
		size_t capacity = t->held_capacity ? t->held_capacity * 2 : 4;
		struct lock_held *held = capacity > LOCKS_MAX ? NULL : realloc(t->held, capacity * sizeof *held);
		if (!held)
			return;
		t->held = held;
		t->held_capacity = capacity;
	}
	h = &t->held[t->held_count++];
	*h = (struct lock_held){.addr = addr, .shared = shared, .depth = 1};
	describe_save(p, &h->acquired, event);
	if (event->op != RT_OP_WAIT_END)
		describe_save(p, &h->taken, event);
}

static void release(struct describing *p, struct described_thread *t, uint64_t addr)
{
	struct lock_held *h = held_find(t, addr);
	if (!h || h->waits || --h->depth)
		return;
	describe_forget(p, &h->acquired);
	describe_forget(p, &h->taken);
	memmove(h, h + 1, (size_t)(t->held + t->held_count - h - 1) * sizeof *h);
	t->held_count--;
}

/* All nesting levels are released. */
static void begin_wait(struct describing *p, struct described_thread *t, uint64_t addr)
{
	struct lock_held *h = held_find(t, addr);
	if (!h)
		return;
	describe_forget(p, &h->acquired);
	h->waits = true;
}

static void describe_locks(struct describing *p, const struct described_thread *t, struct description *d)
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
		const struct lock_held *h = &t->held[i];
		if (h->waits)
			continue;
		d->locks[d->lock_count++] = (struct held_lock){.addr = h->addr,
		                                               .shared = h->shared,
		                                               .acquired = describe_saved(p, &h->acquired),
		                                               .taken = describe_saved(p, &h->taken),
		                                               .block = describe_block(p, h->addr)};
	}
}

/* The pass */

static void describe_event(struct describing *p, const struct rt_event *event, const struct describe_query *queries,
                           size_t n)
{
	bool is_new, wanted = false;
	const struct described_thread *t = &p->threads[event->thread];
	p->out->ordinals[p->out->ordinal_count++] = (struct numbered){event->number, event->ordinal};
	for (size_t i = 0; i < n; i++)
		wanted |= !queries[i].ordinal;
	if (!wanted)
		return;
	struct description *d = describe_entry(p, event, t->node, &is_new);
	if (!d || !is_new)
		return;
	d->fork = describe_saved(p, &t->fork);
	describe_places(p, queries, n, d);
	describe_locks(p, t, d);
	for (size_t i = 0; i < n; i++)
		d->waits = queries[i].waits ? queries[i].waits : d->waits;
	d->is_lock = event->op == RT_OP_SEM_WAIT && is_lock(p, event->addr);
}

/* Accesses are of addresses by which the memory is known, and so are blocks. */
static void follow_memory(struct describing *p, const struct rt_event *event)
{
	struct rt_event piece = *event, rest;
	while (rt_aliases_apply(&p->aliases, event) && rt_aliases_split(&p->aliases, &piece, &rest)) {
		describe_memory(p, &piece);
		piece = rest;
	}
	describe_memory(p, &piece);
}

/* Lock and block events change the state after their description: an acquire does not hold its own lock yet. */
static void follow(struct describing *p, const struct rt_event *event)
{
	struct described_thread *t = &p->threads[event->thread];
	switch (event->op) {
	case RT_OP_ENTER:
		describe_enter(p, t, event->pc);
		break;
	case RT_OP_HB_AFTER:
		if (event->addr > RT_SIGNAL_OBJECT && event->addr < RT_SIGNAL_OBJECT + RT_SIGNAL_OBJECTS)
			t->delivered = (uint32_t)(event->addr - RT_SIGNAL_OBJECT);
		return;
	case RT_OP_LEAVE:
		describe_leave(p, t);
		break;
	case RT_OP_SETJMP:
		p->no_memory |= !jumps_set(&t->jumps, event->addr, t->depth);
		break;
	case RT_OP_LONGJMP:
		for (uint64_t target = jumps_target(&t->jumps, event->addr, t->depth); t->depth > target;)
			describe_leave(p, t);
		break;
	case RT_OP_ACQUIRE:
	case RT_OP_ACQUIRE_SHARED:
		acquire(p, event, event->addr, event->op == RT_OP_ACQUIRE_SHARED);
		break;
	case RT_OP_RELEASE:
		release(p, t, event->addr);
		break;
	case RT_OP_SEM_WAIT:
		if (is_lock(p, event->addr))
			acquire(p, event, event->addr, false);
		break;
	case RT_OP_SEM_POST:
		release(p, t, event->addr);
		break;
	case RT_OP_WAIT_BEGIN:
		begin_wait(p, t, event->arg);
		break;
	case RT_OP_WAIT_END:
		acquire(p, event, event->arg, false);
		break;
	case RT_OP_FORK:
		if (event->addr < p->thread_count && event->addr != event->thread)
			describe_save(p, &p->threads[event->addr].fork, event);
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
		follow_memory(p, event);
		break;
	case RT_OP_ALIAS:
		p->no_memory |= !rt_aliases_event(&p->aliases, event);
		break;
	case RT_OP_SHARED:
		describe_shared(p, event);
		break;
	default:
		break;
	}
	t->delivered = 0;
}

/* first, last: numbers of the events to follow; last is 0: up to the last one of the queries. */
static enum rt_status run(struct describing *p, const struct rt_mark *from, uint64_t first, uint64_t last,
                          const struct describe_query *queries, size_t n, struct rt_error *err)
{
	struct rt_pass pass;
	size_t next = 0;
	rt_trace_select(p->trace, RT_SELECT_ALL);
	for (struct rt_event *event = rt_pass_from(&pass, p->trace, from, err);
	     event && (last ? event->number <= last : next < n) && !p->no_memory; event = rt_pass_next(&pass)) {
		if (event->thread >= p->thread_count || event->number < first)
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
	if (!pass.status && p->no_memory)
		return rt_error_set(err, RT_EMEMORY, "no memory to describe events");
	return pass.status;
}

static int compare_queries(const void *a, const void *b)
{
	const struct describe_query *x = a, *y = b;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->ordinal - y->ordinal;
}

/* Sorted, each once. */
static size_t tidy_queries(struct describe_query *queries, size_t n)
{
	size_t kept = 0;
	qsort(queries, n, sizeof *queries, compare_queries);
	for (size_t i = 0; i < n; i++)
		if (!kept || compare_queries(&queries[kept - 1], &queries[i]) != 0)
			queries[kept++] = queries[i];
	return kept;
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

static bool state_init(struct describing *p, struct rt_trace *trace, uint64_t most)
{
	*p = (struct describing){.trace = trace,
	                         .thread_count = rt_trace_info(trace)->thread_count,
	                         .most = most,
	                         .heap.random = 1,
	                         .mapped.random = 1,
	                         .shared.random = 1};
	p->threads = calloc(p->thread_count ? p->thread_count : 1, sizeof *p->threads);
	return p->threads && describe_stacks_init(p);
}

static void state_release(struct describing *p)
{
	describe_blocks_forget(p);
	for (uint32_t i = 0; p->threads && i < p->thread_count; i++) {
		free(p->threads[i].held);
		jumps_release(&p->threads[i].jumps);
	}
	free(p->threads);
	rt_aliases_release(&p->aliases);
	free(p->nodes);
}

/* What is asked of the state. addrs: n, sorted. */
static bool questions_init(struct describing *p, const uint64_t *addrs, size_t n, size_t queries)
{
	p->out = calloc(1, sizeof *p->out);
	if (p->out)
		p->out->ordinals = calloc(queries ? queries : 1, sizeof *p->out->ordinals);
	p->slots = calloc(n ? n : 1, sizeof *p->slots);
	if (!p->out || !p->out->ordinals || !p->slots)
		return false;
	p->slot_count = n;
	for (size_t i = 0; i < n; i++)
		p->slots[i].addr = addrs[i];
	describe_slots_find(p);
	return true;
}

static void block_forget(struct describing *p, struct slot_block *b)
{
	describe_forget(p, &b->alloc);
	describe_forget(p, &b->freed);
}

static void questions_release(struct describing *p)
{
	for (size_t i = 0; p->slots && i < p->slot_count; i++) {
		block_forget(p, &p->slots[i].heap);
		block_forget(p, &p->slots[i].map);
	}
	free(p->slots);
	p->slots = NULL;
	p->slot_count = 0;
	descriptions_free(p->out);
	p->out = NULL;
}

/* Answers the queries by a pass over events first to last; see run(). */
static enum rt_status answer(struct describing *p, const struct rt_mark *from, uint64_t first, uint64_t last,
                             const struct describe_query *queries, size_t n, struct descriptions **out,
                             struct rt_error *err)
{
	enum rt_status status = RT_EMEMORY;
	struct describe_query *sorted = calloc(n ? n : 1, sizeof *sorted);
	uint64_t *addrs = calloc(n ? n : 1, sizeof *addrs);
	for (size_t i = 0; sorted && i < n; i++)
		sorted[i] = queries[i];
	if (sorted && addrs)
		n = tidy_queries(sorted, n);
	for (size_t i = 0; sorted && addrs && i < n; i++)
		addrs[i] = sorted[i].addr;
	p->locks = sorted;
	for (p->lock_count = 0; sorted && p->lock_count < n && !sorted[p->lock_count].number;)
		p->lock_count++;
	if (!sorted || !addrs || !questions_init(p, addrs, tidy(addrs, n), n))
		rt_error_set(err, RT_EMEMORY, "no memory to describe events");
	else
		status = run(p, from, first, last, sorted, n, err);
	if (!status) {
		*out = p->out;
		p->out = NULL;
	}
	questions_release(p);
	free(sorted);
	free(addrs);
	return status;
}

enum rt_status describe(struct rt_trace *trace, const struct describe_query *queries, size_t n,
                        struct descriptions **out, struct rt_error *err)
{
	struct describing p;
	enum rt_status status = state_init(&p, trace, 0)
	                            ? answer(&p, NULL, 0, 0, queries, n, out, err)
	                            : rt_error_set(err, RT_EMEMORY, "no memory to describe events");
	state_release(&p);
	return status;
}

struct describe_pass {
	struct describing state;
	uint64_t next; /* number of the event before which that is */
};

struct describe_pass *describe_pass_create(struct rt_trace *trace, uint64_t most)
{
	struct describe_pass *pass = calloc(1, sizeof *pass);
	if (!pass)
		return NULL;
	if (state_init(&pass->state, trace, most))
		return pass;
	describe_pass_free(pass);
	return NULL;
}

void describe_pass_free(struct describe_pass *pass)
{
	if (pass)
		state_release(&pass->state);
	free(pass);
}

enum rt_status describe_stretch(const struct describe_stretch *stretch, const struct describe_query *queries, size_t n,
                                struct descriptions **out, struct rt_error *err)
{
	struct describe_pass *pass = stretch->pass;
	struct describing *p = &pass->state;
	if (!p->most)
		return describe(p->trace, queries, n, out, err);
	enum rt_status status = answer(p, stretch->from, pass->next, stretch->last, queries, n, out, err);
	pass->next = stretch->last + 1;
	return status;
}

uint64_t describe_pass_room(const struct describe_pass *pass)
{
	return pass->state.most ? pass->state.most - describe_blocks_memory(&pass->state) : 0;
}

static int compare_ordinals(const void *a, const void *b)
{
	const struct numbered *x = a, *y = b;
	return (x->number > y->number) - (x->number < y->number);
}

uint64_t description_ordinal(const struct descriptions *d, uint64_t number)
{
	const struct numbered key = {.number = number};
	const struct numbered *found =
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
	struct described *e;
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
	struct described *e, *next;
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
