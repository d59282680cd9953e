/* Classes in an open hash table; see classes.h. It is emptied for each cell: uthash would allocate each class. */
#include "lib/search/classes.h"

#include "lib/base/vec.h"

/* With the hash, which distinguishes most classes without comparing them. */
struct class_slot {
	uint32_t class; /* + 1; 0: free */
	uint32_t hash;
};

void classes_release(struct classes *c)
{
	free(c->items);
	free(c->slots);
	*c = (struct classes){0};
}

static uint32_t hash(const uint32_t key[CLASS_KEY])
{
	uint64_t h = 0;
	for (int i = 0; i < CLASS_KEY; i++)
		h = (h ^ h >> 29 ^ key[i]) * UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t)(h >> 32);
}

static bool grow(struct classes *c)
{
	uint32_t mask = c->mask ? c->mask * 2 + 1 : 63;
	struct class_slot *slots = calloc((size_t)mask + 1, sizeof *slots);
	if (!slots)
		return false;
	for (uint32_t i = 0; c->slots && i <= c->mask; i++) {
		if (!c->slots[i].class)
			continue;
		uint32_t at = c->slots[i].hash & mask;
		while (slots[at].class)
			at = (at + 1) & mask;
		slots[at] = c->slots[i];
	}
	free(c->slots);
	c->slots = slots;
	c->mask = mask;
	return true;
}

void classes_clear(struct classes *c)
{
	if (c->count * 4 < c->mask) {
		for (uint32_t i = 0; i < c->count; i++) {
			uint32_t at = hash(c->items[i].key) & c->mask;
			for (; c->slots[at].class; at = (at + 1) & c->mask)
				c->slots[at] = (struct class_slot){0};
		}
	} else if (c->slots) {
		memset(c->slots, 0, ((size_t)c->mask + 1) * sizeof *c->slots);
	}
	c->count = 0;
}

uint32_t classes_index(struct classes *c, const uint32_t key[CLASS_KEY])
{
	if (c->count * 2 >= c->mask && !grow(c)) {
		c->failed = true;
		return 0;
	}
	uint32_t h = hash(key), at = h & c->mask;
	for (; c->slots[at].class; at = (at + 1) & c->mask)
		if (c->slots[at].hash == h && !memcmp(c->items[c->slots[at].class - 1].key, key, sizeof c->items->key))
			return c->slots[at].class - 1;
	if (!vec_reserve(&c->items, &c->capacity, (uint64_t)c->count + 1, sizeof *c->items)) {
		c->failed = true;
		return 0;
	}
	struct class *k = &c->items[c->count];
	memcpy(k->key, key, sizeof k->key);
	k->first = k->count = 0;
	k->next = UINT32_MAX;
	c->slots[at] = (struct class_slot){++c->count, h};
	return c->count - 1;
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
