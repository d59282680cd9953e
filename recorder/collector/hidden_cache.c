/* Found atomic instructions by the build ids of all modules that are looked at; see hidden_cache.h. */
#include "recorder/collector/hidden_cache.h"

#include "lib/base/vec.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { ENTRIES_MAX = 64 };

/* An item whose addresses are relative to its images, which are named by index. */
struct relative {
	struct hidden_atomic item; /* function: owned */
	size_t code, origin;       /* indices: of the image with the code, of the one with the instruction */
};

struct hidden_entry {
	XXH128_hash_t key;
	struct relative *items;
	size_t count;
};

/* False: a module has no build id, so that another may look the same. */
static bool key_of(const struct debug *d, XXH128_hash_t *key)
{
	XXH3_state_t *state = XXH3_createState();
	bool known = state && XXH3_128bits_reset(state) == XXH_OK;
	for (size_t i = 0; i < d->image_count && known; i++) {
		const unsigned char *id = NULL;
		GElf_Addr address;
		/* Where it is in the list counts, too: items name their images by index. */
		uint64_t place[2] = {i, 0};
		if (!d->images[i].instrumented && !hidden_may_be_opaque(d, i))
			continue;
		int n = dwfl_module_build_id(d->images[i].module, &id, &address);
		known = n > 0;
		place[1] = known ? (uint64_t)n : 0;
		known = known && XXH3_128bits_update(state, place, sizeof place) == XXH_OK &&
		        XXH3_128bits_update(state, id, (size_t)n) == XXH_OK;
	}
	if (known)
		*key = XXH3_128bits_digest(state);
	XXH3_freeState(state);
	return known;
}

static void shift(struct hidden_atomic *item, uint64_t code, uint64_t origin)
{
	item->start += code;
	item->end += code;
	item->from += code;
	item->until += code;
	item->at += origin;
}

static void entry_release(struct hidden_entry *e)
{
	for (size_t i = 0; i < e->count; i++)
		free((char *)(uintptr_t)e->items[i].item.function);
	free(e->items);
}

/* False: it cannot be kept. */
static bool entry_add(struct hidden_entry *e, const struct hidden_atomic *item, struct debug *d)
{
	const struct debug_image *code = debug_image_at(d, item->start);
	char *name = item->function ? strdup(item->function) : NULL;
	if (!code || (item->function && !name)) {
		free(name);
		return false;
	}
	struct relative *r = &e->items[e->count++];
	*r = (struct relative){*item, (size_t)(code - d->images), (size_t)(item->image - d->images)};
	r->item.function = name;
	shift(&r->item, -code->low, -item->image->low);
	return true;
}

/* Keeps what was found, if there is room and memory; else it is searched for again. */
static void keep(struct hidden_cache *c, XXH128_hash_t key, const struct hidden_atomics *a, struct debug *d)
{
	struct hidden_entry e = {.key = key, .items = malloc((a->count + 1) * sizeof *e.items)};
	bool ok = e.items && c->count < ENTRIES_MAX;
	for (size_t i = 0; i < a->count && ok; i++)
		ok = entry_add(&e, &a->items[i], d);
	if (ok && vec_reserve(&c->entries, &c->size, (uint64_t)c->count + 1, sizeof *c->entries))
		c->entries[c->count++] = e;
	else
		entry_release(&e);
}

static enum rt_status use(const struct hidden_entry *e, struct hidden_atomics *a, const struct debug *d,
                          struct rt_error *err)
{
	if (!vec_reserve(&a->items, &a->size, (uint64_t)e->count + 1, sizeof *a->items))
		return rt_error_set(err, RT_EMEMORY, "no memory for atomic instructions");
	for (size_t i = 0; i < e->count; i++) {
		const struct relative *r = &e->items[i];
		struct hidden_atomic item = r->item;
		item.image = &d->images[r->origin];
		shift(&item, d->images[r->code].low, item.image->low);
		a->items[a->count++] = item;
	}
	return RT_OK;
}

enum rt_status hidden_cache_find(struct hidden_cache *c, struct hidden_atomics *a, struct debug *d,
                                 struct rt_error *err)
{
	XXH128_hash_t key;
	bool known = key_of(d, &key);
	for (size_t i = 0; i < c->count && known; i++)
		if (XXH128_isEqual(c->entries[i].key, key))
			return use(&c->entries[i], a, d, err);
	enum rt_status status = hidden_atomics_find(a, d, err);
	if (!status && known)
		keep(c, key, a, d);
	return status;
}

void hidden_cache_release(struct hidden_cache *c)
{
	for (size_t i = 0; i < c->count; i++)
		entry_release(&c->entries[i]);
	free(c->entries);
	*c = (struct hidden_cache){0};
}
