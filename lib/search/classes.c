/* Classes; see classes.h. The table is emptied for each cell: uthash would allocate each class. */
#include "lib/search/classes.h"

#include "lib/base/vec.h"

void classes_release(struct classes *c)
{
	free(c->items);
	table_release(&c->table);
	*c = (struct classes){0};
}

static uint32_t hash(const uint32_t key[CLASS_KEY])
{
	uint64_t h = 0;
	for (int i = 0; i < CLASS_KEY; i++)
		h = (h ^ h >> 29 ^ key[i]) * UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t)(h >> 32);
}

void classes_clear(struct classes *c)
{
	if (table_is_sparse(&c->table))
		for (uint32_t i = 0; i < c->count; i++)
			table_clear_hash(&c->table, hash(c->items[i].key));
	else
		table_clear(&c->table);
	c->count = 0;
}

uint32_t classes_index(struct classes *c, const uint32_t key[CLASS_KEY])
{
	uint32_t h = hash(key);
	for (uint32_t at = h, i; (i = table_next(&c->table, h, &at)) != TABLE_NONE;)
		if (!memcmp(c->items[i].key, key, sizeof c->items->key))
			return i;
	if (!vec_reserve(&c->items, &c->capacity, (uint64_t)c->count + 1, sizeof *c->items) ||
	    !table_put(&c->table, h, c->count)) {
		c->failed = true;
		return 0;
	}
	struct class *k = &c->items[c->count];
	memcpy(k->key, key, sizeof k->key);
	k->first = k->count = 0;
	k->next = UINT32_MAX;
	return c->count++;
}

void classes_place(struct classes *c)
{
	uint32_t first = 0;
	for (uint32_t i = 0; i < c->count; i++) {
		c->items[i].first = first;
		first += c->items[i].count;
		c->items[i].count = 0;
	}
}
