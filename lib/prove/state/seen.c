/* A set of fingerprints; see seen.h. */
#include "lib/prove/state/seen.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST = 256, KEEP = 65536 }; /* slots */

void seen_release(struct seen *seen)
{
	free(seen->slots);
	*seen = (struct seen){0};
}

void seen_clear(struct seen *seen)
{
	if (seen->capacity > KEEP)
		seen_release(seen);
	else if (seen->capacity)
		memset(seen->slots, 0, seen->capacity * sizeof *seen->slots);
	seen->count = 0;
}

static bool seen_grow(struct seen *seen)
{
	size_t capacity = seen->capacity ? seen->capacity * 2 : FIRST;
	uint64_t(*slots)[2] = calloc(capacity, sizeof *slots);
	if (!slots)
		return false;
	for (size_t i = 0; i < seen->capacity; i++) {
		if (!seen->slots[i][0] && !seen->slots[i][1])
			continue;
		size_t at = seen->slots[i][0] & (capacity - 1);
		while (slots[at][0] || slots[at][1])
			at = (at + 1) & (capacity - 1);
		slots[at][0] = seen->slots[i][0];
		slots[at][1] = seen->slots[i][1];
	}
	free(seen->slots);
	seen->slots = slots;
	seen->capacity = capacity;
	return true;
}

bool seen_add(struct seen *seen, const uint64_t hash[2])
{
	if (seen->count * 2 >= seen->capacity && !seen_grow(seen)) {
		seen->failed = true;
		return false;
	}
	size_t at = hash[0] & (seen->capacity - 1);
	for (; seen->slots[at][0] || seen->slots[at][1]; at = (at + 1) & (seen->capacity - 1))
		if (seen->slots[at][0] == hash[0] && seen->slots[at][1] == hash[1])
			return false;
	seen->slots[at][0] = hash[0];
	seen->slots[at][1] = hash[1];
	seen->count++;
	return true;
}
