/*
 * A hash table of indices: the items are in an array of the caller's, which compares them. Open addressing, 8 bytes a
 * slot; the hash beside the index distinguishes most items without touching them, and growing touches none. A zeroed
 * struct is the empty table.
 */
#ifndef LIB_BASE_TABLE_H
#define LIB_BASE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

struct table {
	uint64_t *slots; /* hash << 32 | index + 1; 0: free */
	uint32_t mask;   /* number of slots - 1, when slots is set */
	uint32_t count;
};

#define TABLE_NONE UINT32_MAX

/*
 * The next index that was put under the hash; TABLE_NONE: there are no more. *at is the hash at first.
 *
 *   for (uint32_t at = hash, i; (i = table_next(t, hash, &at)) != TABLE_NONE;)
 *           if (items[i] is the one)
 */
static inline uint32_t table_next(const struct table *t, uint32_t hash, uint32_t *at)
{
	for (uint64_t slot; t->slots && (slot = t->slots[(*at)++ & t->mask]);)
		if (slot >> 32 == hash)
			return (uint32_t)slot - 1;
	return TABLE_NONE;
}

/* Puts an index below TABLE_NONE under a hash. False without memory. */
bool table_put(struct table *t, uint32_t hash, uint32_t index);
/* Puts another index in the place of one that was put under the hash. */
void table_replace(struct table *t, uint32_t hash, uint32_t from, uint32_t to);

/*
 * Empties the table, which keeps its memory. Of a sparse one it is cheaper to empty what holds each of the hashes that
 * were put.
 */
void table_clear(struct table *t);
static inline bool table_is_sparse(const struct table *t)
{
	return (uint64_t)t->count * 4 < t->mask;
}
void table_clear_hash(struct table *t, uint32_t hash);
void table_release(struct table *t);

#endif
