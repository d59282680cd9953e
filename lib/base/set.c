/* Sets of keys; see set.h. */
#include "lib/base/set.h"
#include "lib/base/sort.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST = 64 }; /* places */

static bool grow(struct set *s)
{
	size_t before = s->keys ? s->mask + 1 : 0, places = before ? before * 2 : FIRST;
	struct set grown = {.keys = calloc(places, sizeof *grown.keys), .mask = places - 1, .count = s->count};
	if (!grown.keys)
		return false;
	for (size_t i = 0; i < before; i++)
		if (s->keys[i])
			*set_place(&grown, s->keys[i]) = s->keys[i];
	free(s->keys);
	*s = grown;
	return true;
}

bool set_add(struct set *s, uint64_t key, bool *added)
{
	if ((!s->keys || s->count * 2 > s->mask) && !grow(s))
		return false;
	uint64_t *place = set_place(s, key);
	*added = !*place;
	s->count += *added;
	*place = key;
	return true;
}

void set_clear(struct set *s)
{
	if (s->keys)
		memset(s->keys, 0, (s->mask + 1) * sizeof *s->keys);
	s->count = 0;
}

uint64_t *set_sorted(const struct set *s, size_t *n)
{
	uint64_t *keys = malloc((s->count + 1) * sizeof *keys);
	if (!keys)
		return NULL;
	*n = 0;
	for (size_t i = 0; s->keys && i <= s->mask; i++)
		if (s->keys[i])
			keys[(*n)++] = s->keys[i];
	qsort(keys, *n, sizeof *keys, compare_u64);
	return keys;
}

void set_release(struct set *s)
{
	free(s->keys);
	*s = (struct set){0};
}
