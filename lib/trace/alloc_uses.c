/*
 * Uses of allocated blocks by other threads than the one that allocated them, for the search for allocation races. Pass
 * one records, for each granule of a block that was allocated after the first fork, which thread touches it first. If
 * that is another thread than the owner, no access of the owner shows how the block got there. The first such access of
 * each thread is kept for the searches (struct model_alloc_use), together with the ALLOC.
 *
 * If the owner was first, its own access stands for the allocation: a conflict of the two is found as any race is. A
 * later access of the owner does so too, so the first such meeting is kept for each use.
 *
 * A granule has 8 bytes, and the other thread may use bytes of it that the owner has not touched. Where it comes to a
 * granule that the owner was first in, both cases stay open until the cells, which are exact, are known.
 *
 * The user's pointer may be one of the block that had this memory before. So pass two looks for that block: the last
 * ALLOC before the use's own that has the used byte, and the free after it (struct model_alloc_use). Where other memory
 * was there in between (a mapping, a stack, what a program's own allocator gave), the pointer may be one of that: then
 * no block is known.
 */
#include "lib/base/free.h"
#include "lib/base/lower_bound.h"
#include "lib/base/vec.h"
#include "lib/trace/loader.h"

/* A block as it was last allocated at its address. */
struct used_block {
	uint64_t addr, end;
	uint64_t number; /* of its ALLOC */
	uint32_t owner;
	/* Threads (modulo 64) that have a use of the block; threads that have met its owner, as far as is known. */
	uint64_t users, met;
};

struct alloc_use {
	uint64_t alloc, use; /* numbers */
	uint32_t thread, owner;
	bool open, kept; /* open: it may be a meeting instead; kept: it is a use */
	uint32_t meets;  /* number; 0: none */
	uint32_t event;  /* pass two: index; MODEL_NONE: it was not kept */
	uint32_t place;  /* in allocs */
	uint64_t addr;   /* of a byte that it uses */
	/* Pass two, the block that had this byte before: number and thread of its ALLOC (number 0: none), and event
	 * index of its free (MODEL_NONE: none). */
	uint64_t former;
	uint32_t former_owner, freed;
};

struct used_alloc {
	uint64_t number;
	uint32_t event; /* as above */
	bool wanted;    /* it has a use */
};

/* A thread that has used the block before meets its owner in it. */
struct alloc_meeting {
	uint64_t alloc, number;
	uint32_t thread;
};

/* A first use beyond this many bytes of a block is not recorded. */
#define BLOCK_MAX (1 << 20)

static bool met(void *arg, uint32_t block, uint64_t addr, uint32_t owner, uint32_t thread, bool untouched,
                bool written);

void alloc_uses_init(struct loader *l)
{
	l->shadow.met = met;
	l->shadow.met_arg = l;
	l->alloc_uses.next_use = UINT64_MAX;
}

void alloc_uses_release(struct loader *l)
{
	free_all(l->alloc_uses.blocks, l->alloc_uses.uses, l->alloc_uses.meetings, l->alloc_uses.allocs,
	         l->alloc_uses.by_addr, l->alloc_uses.held);
}

void alloc_uses_alloc(struct loader *l, const struct rt_event *e, uint64_t size)
{
	struct alloc_uses *b = &l->alloc_uses;
	/* The block was allocated again at the same address: its number is free. */
	uint32_t id = shadow_block(&l->shadow, (e->addr + 7) & ~UINT64_C(7));
	if (!id || b->blocks[id - 1].addr != e->addr) {
		if (!vec_reserve(&b->blocks, &b->block_capacity, (uint64_t)b->block_count + 1, sizeof *b->blocks)) {
			l->failed = true;
			return;
		}
		id = ++b->block_count;
	}
	b->blocks[id - 1] = (struct used_block){e->addr, e->addr + size, e->number, e->thread, 0, 0};
	if (size > BLOCK_MAX)
		shadow_renew(&l->shadow, e->addr, size);
	shadow_allocate(&l->shadow, e->addr, size < BLOCK_MAX ? size : BLOCK_MAX, e->thread, id);
}

static bool add_use(struct loader *l, const struct used_block *block, uint32_t thread, bool open)
{
	struct alloc_uses *b = &l->alloc_uses;
	if (b->use_count && b->uses[b->use_count - 1].use == b->number)
		return false; /* of one access, one block */
	if (!vec_reserve(&b->uses, &b->use_capacity, (uint64_t)b->use_count + 1, sizeof *b->uses)) {
		l->failed = true;
		return false;
	}
	b->uses[b->use_count++] = (struct alloc_use){.alloc = block->number,
	                                             .use = b->number,
	                                             .thread = thread,
	                                             .owner = block->owner,
	                                             .open = open,
	                                             .event = MODEL_NONE,
	                                             .addr = b->addr > block->addr ? b->addr : block->addr,
	                                             .freed = MODEL_NONE};
	return true;
}

static void add_meeting(struct loader *l, const struct used_block *block, uint32_t thread)
{
	struct alloc_uses *b = &l->alloc_uses;
	if (!vec_reserve(&b->meetings, &b->meeting_capacity, (uint64_t)b->meeting_count + 1, sizeof *b->meetings))
		l->failed = true;
	else
		b->meetings[b->meeting_count++] = (struct alloc_meeting){block->number, b->number, thread};
}

static bool met(void *arg, uint32_t id, uint64_t addr, uint32_t owner, uint32_t thread, bool untouched, bool written)
{
	struct loader *l = arg;
	struct used_block *block = &l->alloc_uses.blocks[id - 1];
	uint64_t bit = UINT64_C(1) << thread % 64;
	if (!l->alloc_uses.number || addr < block->addr || addr >= block->end)
		return false;
	if (untouched) {
		if (block->users & bit)
			return false;
		block->users |= bit;
		return add_use(l, block, thread, false);
	}
	if (owner == block->owner && written && !(block->met & bit)) {
		block->met |= bit;
		if (block->users & bit)
			add_meeting(l, block, thread);
		else
			add_use(l, block, thread, true);
	}
	return false;
}

static int by_alloc(const void *a, const void *b)
{
	const struct used_alloc *x = a, *y = b;
	return (x->number > y->number) - (x->number < y->number);
}

static int by_meeting(const void *a, const void *b)
{
	const struct alloc_meeting *x = a, *y = b;
	if (x->alloc != y->alloc)
		return x->alloc < y->alloc ? -1 : 1;
	return (x->thread > y->thread) - (x->thread < y->thread);
}

/* ---- The blocks that were there before ---- */

enum { PLACES_MAX = 64 }; /* places of uses that are looked at in one block */

static int by_addr(const void *a, const void *b)
{
	const struct alloc_use *x = *(struct alloc_use *const *)a, *y = *(struct alloc_use *const *)b;
	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return (x->alloc > y->alloc) - (x->alloc < y->alloc);
}

static bool sort_by_addr(struct alloc_uses *b)
{
	b->by_addr = malloc(b->use_count * sizeof(*b->by_addr));
	for (uint32_t i = 0; b->by_addr && i < b->use_count; i++)
		b->by_addr[i] = &b->uses[i];
	if (b->by_addr)
		qsort(b->by_addr, b->use_count, sizeof(*b->by_addr), by_addr);
	return b->by_addr;
}

/* The event from `from` on that has the byte, MODEL_NONE: none does. */
static uint32_t event_with(const struct model *m, uint32_t from, uint64_t addr)
{
	for (uint32_t i = from; i < m->event_count; i++) {
		const struct model_event *e = &m->events[i];
		for (uint32_t c = e->object; c < e->object + m->sites[e->site].cells; c++)
			if (addr - m->cells[c].addr < m->cells[c].size)
				return i;
	}
	return MODEL_NONE;
}

/* The uses at one address, from *first on, of the next block that has it after the event. */
static void note_former(struct loader *l, const struct rt_event *e, uint32_t *first, uint32_t from)
{
	const struct alloc_uses *b = &l->alloc_uses;
	uint64_t addr = b->by_addr[*first]->addr;
	uint32_t next = lower_bound(i, *first, b->use_count, b->by_addr[i]->addr <= addr);
	uint32_t at = lower_bound(i, *first, next, b->by_addr[i]->alloc <= e->number);
	uint32_t freed = at < next && rt_op_is_access(e->op) ? event_with(l->m, from, addr) : MODEL_NONE;
	for (uint32_t i = at; i < next && b->by_addr[i]->alloc == b->by_addr[at]->alloc; i++) {
		struct alloc_use *u = b->by_addr[i];
		u->freed = freed;
		if (!rt_op_is_access(e->op)) {
			u->former = e->op == RT_OP_ALLOC ? e->number : 0;
			u->former_owner = e->thread;
		}
	}
	*first = next;
}

void alloc_uses_former(struct loader *l, const struct rt_event *e, uint32_t from)
{
	struct alloc_uses *b = &l->alloc_uses;
	uint32_t first = lower_bound(i, 0, b->use_count, b->by_addr[i]->addr < e->addr);
	for (int n = 0; n < PLACES_MAX && first < b->use_count && b->by_addr[first]->addr - e->addr < e->arg; n++)
		note_former(l, e, &first, from);
	if (rt_op_is_access(e->op) || first == b->use_count || b->by_addr[first]->addr - e->addr >= e->arg)
		return;
	b->skipped_first = b->skipped_first ? b->skipped_first : e->number;
	b->skipped_last = e->number;
}

/* True if no block in between may have been skipped. */
static bool is_last_former(const struct alloc_uses *b, const struct alloc_use *u)
{
	return u->former >= b->skipped_last || u->alloc <= b->skipped_first;
}

bool alloc_uses_sort(struct loader *l)
{
	struct alloc_uses *b = &l->alloc_uses;
	free(b->blocks);
	b->blocks = NULL;
	if (!b->use_count)
		return true;
	b->allocs = malloc(b->use_count * sizeof *b->allocs);
	if (!b->allocs)
		return false;
	for (uint32_t i = 0; i < b->use_count; i++)
		b->allocs[i] = (struct used_alloc){.number = b->uses[i].alloc, .event = MODEL_NONE};
	qsort(b->allocs, b->use_count, sizeof *b->allocs, by_alloc);
	for (uint32_t i = 0; i < b->use_count; i++)
		if (!i || b->allocs[i].number != b->allocs[b->alloc_count - 1].number)
			b->allocs[b->alloc_count++] = b->allocs[i];
	if (b->meeting_count)
		qsort(b->meetings, b->meeting_count, sizeof *b->meetings, by_meeting);
	for (uint32_t i = 0; i < b->use_count; i++) {
		struct alloc_use *u = &b->uses[i];
		const struct alloc_meeting key = {.alloc = u->alloc, .thread = u->thread}, *m = NULL;
		if (b->meeting_count)
			m = bsearch(&key, b->meetings, b->meeting_count, sizeof *m, by_meeting);
		u->meets = m && m->number <= UINT32_MAX ? (uint32_t)m->number : 0;
		const struct used_alloc alloc = {.number = u->alloc};
		u->place =
		    (uint32_t)((struct used_alloc *)bsearch(&alloc, b->allocs, b->alloc_count, sizeof alloc, by_alloc) -
		               b->allocs);
	}
	b->next_use = b->uses[0].use;
	return sort_by_addr(b);
}

void alloc_uses_keep_alloc(struct loader *l, const struct rt_event *e)
{
	struct alloc_uses *b = &l->alloc_uses;
	while (b->alloc < b->alloc_count && b->allocs[b->alloc].number < e->number)
		b->alloc++;
	if (b->alloc < b->alloc_count && b->allocs[b->alloc].number == e->number)
		b->allocs[b->alloc++].event = loader_push(l, e, MODEL_NONE, 0, 0, false);
}

void alloc_uses_keep_use(struct loader *l, const struct rt_event *e, uint32_t event)
{
	struct alloc_uses *b = &l->alloc_uses;
	while (b->use < b->use_count && b->uses[b->use].use < e->number)
		b->use++;
	if (b->use < b->use_count && b->uses[b->use].use == e->number)
		b->uses[b->use++].event = event;
	b->next_use = b->use < b->use_count ? b->uses[b->use].use : UINT64_MAX;
}

enum { NEITHER, MEETING, BIRTH };

/* Decides an open use by its cells: one that the owner was first in, or one that this thread is first in. */
static int kind_of(const struct loader *l, const struct alloc_use *u)
{
	const struct model *m = l->m;
	if (u->event == MODEL_NONE)
		return NEITHER;
	if (!u->open)
		return BIRTH;
	const struct model_event *e = &m->events[u->event];
	int kind = NEITHER;
	for (uint32_t c = e->object; c < e->object + m->sites[e->site].cells; c++) {
		uint32_t first = loader_first_thread(l, c);
		if (first == u->owner)
			return MEETING;
		if (first == u->thread)
			kind = BIRTH;
	}
	return kind;
}

static int by_user(const void *a, const void *b)
{
	const struct alloc_use *x = *(struct alloc_use *const *)a, *y = *(struct alloc_use *const *)b;
	if (x->alloc != y->alloc)
		return x->alloc < y->alloc ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (x->use > y->use) - (x->use < y->use);
}

/* Keeps the first use of each thread and block if no meeting comes before it. False without memory. */
static bool choose(struct loader *l)
{
	const struct alloc_uses *b = &l->alloc_uses;
	struct alloc_use **sorted = malloc(b->use_count * sizeof(*sorted));
	if (!sorted)
		return false;
	for (uint32_t i = 0; i < b->use_count; i++)
		sorted[i] = &b->uses[i];
	qsort(sorted, b->use_count, sizeof(*sorted), by_user);
	bool settled = false;
	for (uint32_t i = 0; i < b->use_count; i++) {
		struct alloc_use *u = sorted[i];
		if (!i || sorted[i - 1]->alloc != u->alloc || sorted[i - 1]->thread != u->thread)
			settled = false;
		int kind = settled ? NEITHER : kind_of(l, u);
		u->kept = kind == BIRTH;
		settled |= kind != NEITHER;
	}
	free(sorted);
	return true;
}

/* Drops the ALLOC events that have no use. */
static void drop_allocs(struct loader *l)
{
	const struct alloc_uses *b = &l->alloc_uses;
	for (uint32_t i = 0; i < b->alloc_count; i++)
		if (b->allocs[i].event != MODEL_NONE && !b->allocs[i].wanted) {
			l->m->events[b->allocs[i].event].site = MODEL_NONE;
			b->allocs[i].event = MODEL_NONE;
			l->thinned = true;
		}
}

static int by_event(const void *a, const void *b)
{
	const struct held_event *x = a, *y = b;
	return (x->from > y->from) - (x->from < y->from);
}

/* Place in `held` of an event that has one. */
static uint32_t held_place(const struct alloc_uses *b, uint32_t event)
{
	return lower_bound(i, 0, b->held_count, b->held[i].from < event);
}

/* The events that stay though their cells may not be shared: uses, and the frees before them. */
static bool hold(struct alloc_uses *b, struct model *m)
{
	b->held = malloc(((size_t)m->alloc_use_count * 2 + 1) * sizeof *b->held);
	if (!b->held)
		return false;
	uint32_t n = 0;
	for (uint32_t i = 0; i < m->alloc_use_count; i++) {
		const struct model_alloc_use *u = &m->alloc_uses[i];
		b->held[n++] = (struct held_event){u->use, u->use};
		if (u->freed != MODEL_NONE)
			b->held[n++] = (struct held_event){u->freed, u->freed};
	}
	qsort(b->held, n, sizeof *b->held, by_event);
	for (uint32_t i = 0; i < n; i++)
		if (!i || b->held[i].from != b->held[b->held_count - 1].from)
			b->held[b->held_count++] = b->held[i];
	for (uint32_t i = 0; i < m->alloc_use_count; i++) {
		struct model_alloc_use *u = &m->alloc_uses[i];
		u->use = held_place(b, u->use);
		u->freed = u->freed == MODEL_NONE ? MODEL_NONE : held_place(b, u->freed);
	}
	return true;
}

bool alloc_uses_settle(struct loader *l)
{
	struct alloc_uses *b = &l->alloc_uses;
	struct model *m = l->m;
	if (!b->use_count)
		return true;
	if (!choose(l))
		return false;
	m->alloc_uses = malloc(b->use_count * sizeof *m->alloc_uses);
	for (uint32_t i = 0; m->alloc_uses && i < b->use_count; i++) {
		const struct alloc_use *u = &b->uses[i];
		if (!u->kept || b->allocs[u->place].event == MODEL_NONE)
			continue;
		uint32_t freed = is_last_former(b, u) ? u->freed : MODEL_NONE;
		/* To give a block back is a use only of one that was there before it. */
		if (freed == MODEL_NONE && m->sites[m->events[u->event].site].flags & RT_F_FREE)
			continue;
		b->allocs[u->place].wanted = true;
		m->alloc_uses[m->alloc_use_count++] =
		    (struct model_alloc_use){u->place, u->event, u->meets, freed, u->former_owner, (uint32_t)u->former};
	}
	drop_allocs(l);
	b->alloc = 0;
	return m->alloc_uses && hold(b, m);
}

void alloc_uses_move_alloc(struct loader *l, uint32_t from, uint32_t to)
{
	struct alloc_uses *b = &l->alloc_uses;
	while (b->alloc < b->alloc_count &&
	       (b->allocs[b->alloc].event == MODEL_NONE || b->allocs[b->alloc].event < from))
		b->alloc++;
	if (b->alloc < b->alloc_count && b->allocs[b->alloc].event == from)
		b->allocs[b->alloc++].event = to;
}

void alloc_uses_finish(struct loader *l)
{
	const struct alloc_uses *b = &l->alloc_uses;
	for (uint32_t i = 0; i < l->m->alloc_use_count; i++) {
		struct model_alloc_use *u = &l->m->alloc_uses[i];
		u->alloc = b->allocs[u->alloc].event;
		u->use = b->held[u->use].to;
		u->freed = u->freed == MODEL_NONE ? MODEL_NONE : b->held[u->freed].to;
	}
}
