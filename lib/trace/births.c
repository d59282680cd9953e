/*
 * Births: blocks that another thread than the one that allocated them uses. Pass one asks of the granules of a block
 * that was allocated after the first fork who touches them first. Where that is another thread than the owner, no
 * access of the owner tells how the block got there; the first such access of each thread is kept for the searches
 * (struct model_birth), together with the ALLOC, and nothing else of the block for that.
 *
 * Where the owner was first, its own access stands for the allocation: what the two conflict over is found as any race
 * is. A later access of the owner is one such too, so of each birth the first such meeting is kept in mind.
 *
 * Granules are of 8 bytes, and the other thread may use bytes of one that the owner has not touched. So where it comes
 * to a granule that the owner was first in, it is left open which of the two that is until the cells are known, which
 * are exact.
 */
#include "lib/base/vec.h"
#include "lib/trace/loader.h"

/* A block as it was allocated last at its address. */
struct birth_block {
	uint64_t addr, end;
	uint64_t number; /* of its ALLOC */
	uint32_t owner;
	/* Threads (modulo 64) that have made a birth of it; that have met its owner, or so it seems. */
	uint64_t users, met;
};

struct birth_use {
	uint64_t alloc, use; /* numbers */
	uint32_t thread, owner;
	bool open, kept; /* open: it may be a meeting instead. kept: it is a birth */
	uint32_t meets;  /* number; 0: none */
	uint32_t event;  /* pass two: index; MODEL_NONE: it was not kept */
	uint32_t place;  /* in allocs */
};

struct birth_alloc {
	uint64_t number;
	uint32_t event; /* as above */
	bool wanted;    /* it has a birth */
};

/* A thread that has used the block before meets its owner in it. */
struct birth_meeting {
	uint64_t alloc, number;
	uint32_t thread;
};

/* Of a larger block, what is used first beyond is not looked at. */
#define BLOCK_MAX (1 << 20)

static bool met(void *arg, uint32_t block, uint64_t addr, uint32_t owner, uint32_t thread, bool born, bool written);

void births_init(struct loader *l)
{
	l->shadow.met = met;
	l->shadow.met_arg = l;
	l->births.next_use = UINT64_MAX;
}

void births_release(struct loader *l)
{
	free(l->births.blocks);
	free(l->births.uses);
	free(l->births.meetings);
	free(l->births.allocs);
}

void births_alloc(struct loader *l, const struct rt_event *e, uint64_t size)
{
	struct births *b = &l->births;
	/* The same address again: its number is free. */
	uint32_t id = shadow_block(&l->shadow, (e->addr + 7) & ~UINT64_C(7));
	if (!id || b->blocks[id - 1].addr != e->addr) {
		if (!vec_reserve(&b->blocks, &b->block_capacity, (uint64_t)b->block_count + 1, sizeof *b->blocks)) {
			l->failed = true;
			return;
		}
		id = ++b->block_count;
	}
	b->blocks[id - 1] = (struct birth_block){e->addr, e->addr + size, e->number, e->thread, 0, 0};
	if (size > BLOCK_MAX)
		shadow_renew(&l->shadow, e->addr, size);
	shadow_bear(&l->shadow, e->addr, size < BLOCK_MAX ? size : BLOCK_MAX, e->thread, id);
}

static bool add_use(struct loader *l, const struct birth_block *block, uint32_t thread, bool open)
{
	struct births *b = &l->births;
	if (b->use_count && b->uses[b->use_count - 1].use == b->number)
		return false; /* of one access, one block */
	if (!vec_reserve(&b->uses, &b->use_capacity, (uint64_t)b->use_count + 1, sizeof *b->uses)) {
		l->failed = true;
		return false;
	}
	b->uses[b->use_count++] = (struct birth_use){.alloc = block->number,
	                                             .use = b->number,
	                                             .thread = thread,
	                                             .owner = block->owner,
	                                             .open = open,
	                                             .event = MODEL_NONE};
	return true;
}

static void add_meeting(struct loader *l, const struct birth_block *block, uint32_t thread)
{
	struct births *b = &l->births;
	if (!vec_reserve(&b->meetings, &b->meeting_capacity, (uint64_t)b->meeting_count + 1, sizeof *b->meetings))
		l->failed = true;
	else
		b->meetings[b->meeting_count++] = (struct birth_meeting){block->number, b->number, thread};
}

static bool met(void *arg, uint32_t id, uint64_t addr, uint32_t owner, uint32_t thread, bool born, bool written)
{
	struct loader *l = arg;
	struct birth_block *block = &l->births.blocks[id - 1];
	uint64_t bit = UINT64_C(1) << thread % 64;
	if (!l->births.number || addr < block->addr || addr >= block->end)
		return false;
	if (born) {
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
	const struct birth_alloc *x = a, *y = b;
	return (x->number > y->number) - (x->number < y->number);
}

static int by_meeting(const void *a, const void *b)
{
	const struct birth_meeting *x = a, *y = b;
	if (x->alloc != y->alloc)
		return x->alloc < y->alloc ? -1 : 1;
	return (x->thread > y->thread) - (x->thread < y->thread);
}

bool births_sort(struct loader *l)
{
	struct births *b = &l->births;
	free(b->blocks);
	b->blocks = NULL;
	if (!b->use_count)
		return true;
	b->allocs = malloc(b->use_count * sizeof *b->allocs);
	if (!b->allocs)
		return false;
	for (uint32_t i = 0; i < b->use_count; i++)
		b->allocs[i] = (struct birth_alloc){.number = b->uses[i].alloc, .event = MODEL_NONE};
	qsort(b->allocs, b->use_count, sizeof *b->allocs, by_alloc);
	for (uint32_t i = 0; i < b->use_count; i++)
		if (!i || b->allocs[i].number != b->allocs[b->alloc_count - 1].number)
			b->allocs[b->alloc_count++] = b->allocs[i];
	if (b->meeting_count)
		qsort(b->meetings, b->meeting_count, sizeof *b->meetings, by_meeting);
	for (uint32_t i = 0; i < b->use_count; i++) {
		struct birth_use *u = &b->uses[i];
		const struct birth_meeting key = {.alloc = u->alloc, .thread = u->thread}, *m = NULL;
		if (b->meeting_count)
			m = bsearch(&key, b->meetings, b->meeting_count, sizeof *m, by_meeting);
		u->meets = m && m->number <= UINT32_MAX ? (uint32_t)m->number : 0;
		const struct birth_alloc alloc = {.number = u->alloc};
		u->place = (uint32_t)((struct birth_alloc *)bsearch(&alloc, b->allocs, b->alloc_count, sizeof alloc,
		                                                    by_alloc) -
		                      b->allocs);
	}
	b->next_use = b->uses[0].use;
	return true;
}

void births_keep_alloc(struct loader *l, const struct rt_event *e)
{
	struct births *b = &l->births;
	while (b->alloc < b->alloc_count && b->allocs[b->alloc].number < e->number)
		b->alloc++;
	if (b->alloc < b->alloc_count && b->allocs[b->alloc].number == e->number)
		b->allocs[b->alloc++].event = loader_push(l, e, MODEL_NONE, 0, 0, false);
}

void births_keep_use(struct loader *l, const struct rt_event *e, uint32_t event)
{
	struct births *b = &l->births;
	while (b->use < b->use_count && b->uses[b->use].use < e->number)
		b->use++;
	if (b->use < b->use_count && b->uses[b->use].use == e->number)
		b->uses[b->use++].event = event;
	b->next_use = b->use < b->use_count ? b->uses[b->use].use : UINT64_MAX;
}

enum { NEITHER, MEETING, BIRTH };

/* What an open use is, by its cells: one that the owner was first in, or one that it is first in itself. */
static int kind_of(const struct loader *l, const struct birth_use *u)
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
	const struct birth_use *x = *(struct birth_use *const *)a, *y = *(struct birth_use *const *)b;
	if (x->alloc != y->alloc)
		return x->alloc < y->alloc ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (x->use > y->use) - (x->use < y->use);
}

/* Of each thread and block the first birth is kept, if no meeting comes before it. False without memory. */
static bool choose(struct loader *l)
{
	const struct births *b = &l->births;
	struct birth_use **sorted = malloc(b->use_count * sizeof(*sorted));
	if (!sorted)
		return false;
	for (uint32_t i = 0; i < b->use_count; i++)
		sorted[i] = &b->uses[i];
	qsort(sorted, b->use_count, sizeof(*sorted), by_user);
	bool settled = false;
	for (uint32_t i = 0; i < b->use_count; i++) {
		struct birth_use *u = sorted[i];
		if (!i || sorted[i - 1]->alloc != u->alloc || sorted[i - 1]->thread != u->thread)
			settled = false;
		int kind = settled ? NEITHER : kind_of(l, u);
		u->kept = kind == BIRTH;
		settled |= kind != NEITHER;
	}
	free(sorted);
	return true;
}

/* Allocations that turned out to have no birth are as good as not kept. */
static void drop_allocs(struct loader *l)
{
	const struct births *b = &l->births;
	for (uint32_t i = 0; i < b->alloc_count; i++)
		if (b->allocs[i].event != MODEL_NONE && !b->allocs[i].wanted) {
			l->m->events[b->allocs[i].event].site = MODEL_NONE;
			b->allocs[i].event = MODEL_NONE;
			l->thinned = true;
		}
}

bool births_settle(struct loader *l)
{
	const struct births *b = &l->births;
	struct model *m = l->m;
	if (!b->use_count)
		return true;
	if (!choose(l))
		return false;
	m->births = malloc(b->use_count * sizeof *m->births);
	for (uint32_t i = 0; m->births && i < b->use_count; i++) {
		const struct birth_use *u = &b->uses[i];
		if (!u->kept || b->allocs[u->place].event == MODEL_NONE)
			continue;
		b->allocs[u->place].wanted = true;
		m->births[m->birth_count++] = (struct model_birth){u->place, u->event, u->meets};
	}
	drop_allocs(l);
	l->births.alloc = 0;
	return m->births;
}

void births_move_alloc(struct loader *l, uint32_t from, uint32_t to)
{
	struct births *b = &l->births;
	while (b->alloc < b->alloc_count &&
	       (b->allocs[b->alloc].event == MODEL_NONE || b->allocs[b->alloc].event < from))
		b->alloc++;
	if (b->alloc < b->alloc_count && b->allocs[b->alloc].event == from)
		b->allocs[b->alloc++].event = to;
}

void births_finish(struct loader *l)
{
	for (uint32_t i = 0; i < l->m->birth_count; i++)
		l->m->births[i].alloc = l->births.allocs[l->m->births[i].alloc].event;
}
