/* The memory that described events access: the blocks that it is in, whose stack it is; see describe_parts.h. */
#include "lib/report/describe_parts.h"

#include "lib/base/lower_bound.h"

#include <stdlib.h>
#include <string.h>

static struct memory_slot *slots_from(struct describing *p, uint64_t addr)
{
	size_t low = lower_bound(mid, 0, p->slot_count, p->slots[mid].addr < addr);
	return p->slots + low;
}

/* The event, for addresses that later stretches may ask about. */
static void carry(struct describing *p, const struct rt_event *event)
{
	switch (event->op) {
	case RT_OP_ALLOC:
		describe_block_begins(p, &p->heap, event, event->arg);
		break;
	case RT_OP_MAP:
		describe_block_begins(p, &p->mapped, event, event->arg);
		break;
	case RT_OP_SHARED:
		describe_block_begins(p, &p->shared, event, RT_SHARED_MAX);
		break;
	case RT_OP_FREE:
		describe_block_ends(p, &p->heap, event);
		break;
	default:
		describe_range_ends(p, &p->mapped, event);
		break;
	}
	if (describe_blocks_memory(p) > p->most)
		describe_blocks_forget(p);
}

void describe_memory(struct describing *p, const struct rt_event *event)
{
	if (p->most)
		carry(p, event);
	bool mapping = event->op == RT_OP_MAP || event->op == RT_OP_UNMAP;
	bool begins = event->op == RT_OP_ALLOC || event->op == RT_OP_MAP;
	const struct memory_slot *end = p->slots + p->slot_count;
	/* A FREE may have no size: the slots of its block are those whose ALLOC has its address. */
	for (struct memory_slot *s = slots_from(p, event->addr); s < end; s++) {
		struct slot_block *b = mapping ? &s->map : &s->heap;
		uint64_t offset = s->addr - event->addr;
		if (begins) {
			if (offset >= event->arg)
				break;
			describe_save(p, &b->alloc, event);
			describe_forget(p, &b->freed);
		} else if (mapping) {
			if (offset >= event->arg)
				break;
			if (b->alloc.used)
				describe_save(p, &b->freed, event);
		} else {
			if (!b->alloc.used || b->alloc.event.addr != event->addr)
				break;
			describe_save(p, &b->freed, event);
		}
	}
}

static void share(const struct describing *p, struct memory_slot *s, const struct rt_event *event)
{
	struct rt_variable variable;
	uint64_t addr = event->arg + (s->addr - event->addr);
	s->shared = rt_trace_variable(p->trace, addr, &variable) ? addr : 0;
	s->region = event->pc;
}

void describe_shared(struct describing *p, const struct rt_event *event)
{
	const struct memory_slot *end = p->slots + p->slot_count;
	if (p->most)
		carry(p, event);
	for (struct memory_slot *s = slots_from(p, event->addr); s < end && s->addr - event->addr < RT_SHARED_MAX; s++)
		share(p, s, event);
}

void describe_slots_find(struct describing *p)
{
	for (struct memory_slot *s = p->slots; s < p->slots + p->slot_count; s++) {
		struct slot_block shared;
		describe_block_find(p, &p->heap, s->addr, &s->heap);
		describe_block_find(p, &p->mapped, s->addr, &s->map);
		describe_block_find(p, &p->shared, s->addr, &shared);
		if (shared.alloc.used)
			share(p, s, &shared.alloc.event);
		describe_forget(p, &shared.alloc);
	}
}

/* True if the event is in the function of this position. */
static bool is_inside(const struct describing *p, const struct description *d, uint64_t position)
{
	size_t n = 0;
	const struct rt_frame *frames = rt_trace_frames(p->trace, position, &n);
	const char *function = n ? frames[n - 1].function : NULL;
	for (size_t i = 0; function && i < d->stack_count; i++) {
		frames = rt_trace_frames(p->trace, d->stack[i], &n);
		for (size_t k = 0; k < n; k++)
			if (frames[k].function && !strcmp(frames[k].function, function))
				return true;
	}
	return false;
}

static struct memory_block block_use(struct describing *p, const struct slot_block *b, bool mapped)
{
	return (struct memory_block){.address = b->alloc.event.addr,
	                             .size = b->alloc.event.arg,
	                             .alloc = describe_saved(p, &b->alloc),
	                             .freed = describe_saved(p, &b->freed),
	                             .mapped = mapped};
}

struct memory_block describe_block(struct describing *p, uint64_t addr)
{
	const struct memory_slot *s = slots_from(p, addr);
	if (s == p->slots + p->slot_count || s->addr != addr)
		return (struct memory_block){0};
	/* A freed block is still the best description, until its memory is used again. */
	bool live_map = s->map.alloc.used && !s->map.freed.used;
	bool newer_map = live_map && s->heap.freed.used && s->map.alloc.event.number > s->heap.freed.event.number;
	if (s->heap.alloc.used && !newer_map)
		return block_use(p, &s->heap, false);
	return s->map.alloc.used ? block_use(p, &s->map, true) : (struct memory_block){0};
}

static bool stack_owner(const struct describing *p, uint64_t addr, uint32_t *owner)
{
	for (uint32_t i = 0; i < p->thread_count; i++) {
		const struct described_thread *t = &p->threads[i];
		if (addr >= t->stack_base && addr - t->stack_base < t->stack_size) {
			*owner = i;
			return true;
		}
	}
	return false;
}

/* Most threads have their thread-local memory inside their stack's mapping. */
static bool is_thread_local(const struct describing *p, struct memory_place *place)
{
	for (uint32_t i = 0; i < p->thread_count; i++) {
		const struct described_thread *t = &p->threads[i];
		if (place->addr >= t->tls_base && place->addr - t->tls_base < t->tls_size) {
			place->owner = i;
			place->tls_end = t->tls_base + t->tls_size;
			return true;
		}
	}
	return false;
}

/* d: of the event that accesses it. */
static struct memory_place place_at(struct describing *p, uint64_t addr, const struct description *d)
{
	struct rt_variable variable;
	struct memory_place place = {.addr = addr, .block = describe_block(p, addr)};
	if (rt_trace_variable(p->trace, addr, &variable)) {
		place.kind = RT_MEMORY_GLOBAL;
		place.block = (struct memory_block){0};
	} else if (is_thread_local(p, &place)) {
		place.kind = RT_MEMORY_TLS;
		place.block = (struct memory_block){0};
	} else if (place.block.alloc && !place.block.mapped) {
		place.kind = RT_MEMORY_HEAP;
	} else if (stack_owner(p, addr, &place.owner)) {
		const struct memory_slot *s = slots_from(p, addr);
		place.kind = RT_MEMORY_STACK;
		place.block = (struct memory_block){0};
		if (s < p->slots + p->slot_count && s->addr == addr && s->shared && is_inside(p, d, s->region))
			place.shared = s->shared;
	}
	return place;
}

static bool is_new_place(const struct describe_query *queries, size_t i)
{
	return queries[i].addr && (i == 0 || queries[i].addr != queries[i - 1].addr);
}

/* queries: all n of one event, sorted by address. */
void describe_places(struct describing *p, const struct describe_query *queries, size_t n, struct description *d)
{
	size_t places = 0;
	for (size_t i = 0; i < n; i++)
		places += is_new_place(queries, i);
	d->places = calloc(places ? places : 1, sizeof *d->places);
	if (!d->places) {
		p->no_memory = true;
		return;
	}
	for (size_t i = 0; i < n; i++)
		if (is_new_place(queries, i))
			d->places[d->place_count++] = place_at(p, queries[i].addr, d);
}
