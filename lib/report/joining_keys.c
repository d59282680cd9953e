/* Keys of anomalies that belong together; see joining_keys.h. */
#include "lib/report/joining_keys.h"

#include "lib/base/vec.h"
#include "lib/report/digest.h"

#include <stdlib.h>

uint64_t joining_key_of(enum joining_kind kind, const uint64_t *parts, size_t n)
{
	XXH3_state_t state;
	XXH3_64bits_reset(&state);
	digest_number(&state, kind);
	for (size_t i = 0; i < n; i++)
		digest_number(&state, parts[i]);
	return XXH3_64bits_digest(&state);
}

struct joining_key *joining_key_find(const struct joining_keys *keys, uint64_t key)
{
	for (uint32_t at = (uint32_t)key, i; (i = table_next(&keys->by_key, (uint32_t)key, &at)) != TABLE_NONE;)
		if (keys->items[i].key == key)
			return &keys->items[i];
	return NULL;
}

struct joining_key *joining_key_get(struct joining_keys *keys, uint64_t key, size_t entry, bool *is_new)
{
	struct joining_key *k = joining_key_find(keys, key);
	*is_new = !k;
	if (k)
		return k;
	uint32_t n = keys->by_key.count;
	if (!vec_reserve(&keys->items, &keys->capacity, (uint64_t)n + 1, sizeof *keys->items) ||
	    !table_put(&keys->by_key, (uint32_t)key, n))
		return NULL;
	k = &keys->items[n];
	*k = (struct joining_key){.key = key, .entry = entry};
	return k;
}

void joining_keys_release(struct joining_keys *keys)
{
	table_release(&keys->by_key);
	free(keys->items);
}
