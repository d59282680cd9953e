/*
 * The blocks that any address is in, or was in last; see describe_parts.h. What is asked of a later stretch of a trace
 * is not known when its allocations are read. Pieces of memory are in a treap (Seidel, Aragon, Algorithmica 1996) by
 * their addresses: a sorted array would move 4 MB at each allocation among 100,000 blocks.
 */
#include "lib/report/describe_parts.h"

#include <stdlib.h>

/* Addresses of the same block: none overlaps another. */
struct block_piece {
	uint64_t first, last;
	struct block_piece *below, *above;
	uint64_t priority; /* at least those of both */
	struct slot_block block;
};

static uint64_t next_priority(struct block_map *map)
{
	map->random ^= map->random << 13;
	map->random ^= map->random >> 7;
	map->random ^= map->random << 17;
	return map->random;
}

static struct block_piece *join(struct block_piece *below, struct block_piece *above)
{
	if (!below || !above)
		return below ? below : above;
	if (below->priority > above->priority) {
		below->above = join(below->above, above);
		return below;
	}
	above->below = join(below, above->below);
	return above;
}

/* Parts pieces that begin before the address from the others. */
static void part(struct block_piece *all, uint64_t addr, struct block_piece **below, struct block_piece **above)
{
	if (!all) {
		*below = *above = NULL;
	} else if (all->first < addr) {
		part(all->above, addr, &all->above, above);
		*below = all;
	} else {
		part(all->below, addr, below, &all->below);
		*above = all;
	}
}

static struct block_piece *piece_at(const struct block_map *map, uint64_t addr)
{
	struct block_piece *p = map->root;
	while (p && (addr < p->first || addr > p->last))
		p = addr < p->first ? p->below : p->above;
	return p;
}

/* The block has one more piece: what it refers to stays as long. NULL without memory. */
static struct block_piece *piece_create(struct describing *d, struct block_map *map, uint64_t first, uint64_t last,
                                        const struct slot_block *block)
{
	struct block_piece *p = malloc(sizeof *p);
	if (!p) {
		d->no_memory = true;
		return NULL;
	}
	*p = (struct block_piece){.first = first, .last = last, .priority = next_priority(map), .block = *block};
	describe_refer(d, &p->block.alloc);
	describe_refer(d, &p->block.freed);
	d->piece_count++;
	return p;
}

static void pieces_free(struct describing *d, struct block_piece *p)
{
	if (!p)
		return;
	pieces_free(d, p->below);
	pieces_free(d, p->above);
	describe_forget(d, &p->block.alloc);
	describe_forget(d, &p->block.freed);
	d->piece_count--;
	free(p);
}

/* Cuts the piece across the address in two. */
static void cut(struct describing *d, struct block_map *map, uint64_t addr)
{
	struct block_piece *p = piece_at(map, addr), *below, *above;
	if (!p || p->first == addr)
		return;
	struct block_piece *rest = piece_create(d, map, addr, p->last, &p->block);
	if (!rest)
		return;
	p->last = addr - 1;
	part(map->root, addr, &below, &above);
	map->root = join(join(below, rest), above);
}

/* Takes out the pieces of the range, which ends at `last`. */
static struct block_piece *take(struct describing *d, struct block_map *map, uint64_t first, uint64_t last)
{
	struct block_piece *below, *within, *above = NULL;
	cut(d, map, first);
	if (last < UINT64_MAX)
		cut(d, map, last + 1);
	part(map->root, first, &below, &within);
	if (last < UINT64_MAX)
		part(within, last + 1, &within, &above);
	map->root = join(below, above);
	return within;
}

static void put(struct block_map *map, struct block_piece *pieces, uint64_t first)
{
	struct block_piece *below, *above;
	part(map->root, first, &below, &above);
	map->root = join(join(below, pieces), above);
}

static void end_pieces(struct describing *d, struct block_piece *p, const struct rt_event *event)
{
	if (!p)
		return;
	end_pieces(d, p->below, event);
	end_pieces(d, p->above, event);
	describe_save(d, &p->block.freed, event);
}

static uint64_t last_of(const struct rt_event *event, uint64_t size)
{
	return event->addr + (size - 1) < event->addr ? UINT64_MAX : event->addr + (size - 1);
}

void describe_block_begins(struct describing *d, struct block_map *map, const struct rt_event *event, uint64_t size)
{
	const struct slot_block none = {0};
	uint64_t last = last_of(event, size);
	if (!size)
		return;
	struct block_piece *p = piece_create(d, map, event->addr, last, &none);
	if (!p)
		return;
	describe_save(d, &p->block.alloc, event);
	pieces_free(d, take(d, map, event->addr, last));
	put(map, p, event->addr);
}

void describe_range_ends(struct describing *d, struct block_map *map, const struct rt_event *event)
{
	uint64_t last = last_of(event, event->arg);
	if (!event->arg)
		return;
	struct block_piece *pieces = take(d, map, event->addr, last);
	end_pieces(d, pieces, event);
	put(map, pieces, event->addr);
}

void describe_block_ends(struct describing *d, struct block_map *map, const struct rt_event *event)
{
	struct block_piece *p = piece_at(map, event->addr);
	while (p && p->block.alloc.event.addr == event->addr) {
		describe_save(d, &p->block.freed, event);
		p = p->last < UINT64_MAX ? piece_at(map, p->last + 1) : NULL;
	}
}

void describe_block_find(struct describing *d, const struct block_map *map, uint64_t addr, struct slot_block *out)
{
	const struct block_piece *p = piece_at(map, addr);
	*out = p ? p->block : (struct slot_block){0};
	describe_refer(d, &out->alloc);
	describe_refer(d, &out->freed);
}

void describe_blocks_forget(struct describing *d)
{
	pieces_free(d, d->heap.root);
	pieces_free(d, d->mapped.root);
	pieces_free(d, d->shared.root);
	d->heap.root = d->mapped.root = d->shared.root = NULL;
	d->most = 0;
}

uint64_t describe_blocks_memory(const struct describing *d)
{
	enum { CALLS = 2 }; /* that only a block still refers to */
	return d->piece_count * (sizeof(struct block_piece) + CALLS * sizeof(struct call_node));
}
