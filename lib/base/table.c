/* Hash tables; see table.h. */
#include "lib/base/table.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST = 64 }; /* slots */

static void place(struct table *t, uint64_t slot)
{
	uint32_t at = (uint32_t)(slot >> 32) & t->mask;
	while (t->slots[at])
		at = (at + 1) & t->mask;
	t->slots[at] = slot;
}

/* Doubles the slots when they are half full. Of 2^32 slots half are enough for all indices. */
static bool grow(struct table *t)
{
	if (t->slots && t->count <= t->mask / 2)
		return true;
	size_t before = t->slots ? (size_t)t->mask + 1 : 0, slots = before ? before * 2 : FIRST;
	if (slots - 1 > UINT32_MAX)
		return t->count < t->mask;
	struct table grown = {.slots = calloc(slots, sizeof *grown.slots), .mask = (uint32_t)(slots - 1)};
	if (!grown.slots)
		return false;
	for (size_t i = 0; i < before; i++)
		if (t->slots[i])
			place(&grown, t->slots[i]);
	free(t->slots);
	t->slots = grown.slots;
	t->mask = grown.mask;
	return true;
}

bool table_put(struct table *t, uint32_t hash, uint32_t index)
{
	if (!grow(t))
		return false;
	place(t, (uint64_t)hash << 32 | (index + 1));
	t->count++;
	return true;
}

void table_replace(struct table *t, uint32_t hash, uint32_t from, uint32_t to)
{
	uint32_t at = hash;
	while (table_next(t, hash, &at) != from)
		;
	t->slots[(at - 1) & t->mask] = (uint64_t)hash << 32 | (to + 1);
}

void table_clear(struct table *t)
{
	if (t->slots)
		memset(t->slots, 0, ((size_t)t->mask + 1) * sizeof *t->slots);
	t->count = 0;
}

void table_clear_hash(struct table *t, uint32_t hash)
{
	for (uint32_t at = hash; t->slots && t->slots[at & t->mask]; at++)
		t->slots[at & t->mask] = 0;
	t->count = 0;
}

void table_release(struct table *t)
{
	free(t->slots);
	*t = (struct table){0};
}
