/* Which atomic regions are combined; see region_sample.h. */
#include "lib/search/region_sample.h"

#include "lib/base/vec.h"
#include "lib/search/classes.h"

enum { KIND_SITE, KIND_THREAD };

/* The steps of a kind of region: of all of them, its share, of those passed so far, and of these the ones chosen. */
struct region_kind {
	uint64_t all, share, passed, chosen;
};

struct kinds {
	struct classes classes;
	struct region_kind *items;
	uint32_t capacity;
	uint64_t steps; /* of all regions */
};

static uint32_t count_of(const struct region_accesses *accesses, uint32_t region)
{
	return accesses->first[region + 1] - accesses->first[region];
}

static uint64_t steps_of_region(const struct region_accesses *accesses, uint32_t region, uint32_t recent)
{
	uint32_t n = count_of(accesses, region);
	return n < 2 ? 0 : (uint64_t)n * (n < recent ? n : recent);
}

/* The kind of a region that has accesses; created if absent. */
static uint32_t kind_of(struct kinds *k, const struct model *m, const struct region_accesses *accesses, uint32_t region)
{
	uint32_t e = accesses->items[accesses->first[region]].event;
	return classes_index(
	    &k->classes, (uint32_t[CLASS_KEY]){[KIND_SITE] = m->events[e].site, [KIND_THREAD] = model_thread_of(m, e)});
}

static bool count_kinds(struct kinds *k, const struct model *m, const struct region_accesses *accesses, uint32_t recent)
{
	for (uint32_t r = 0; r < m->region_count; r++) {
		uint64_t steps = steps_of_region(accesses, r, recent);
		if (!steps)
			continue;
		uint32_t kind = kind_of(k, m, accesses, r);
		if (k->classes.failed || !vec_extend(&k->items, &k->capacity, k->classes.count, sizeof *k->items))
			return false;
		k->items[kind].all += steps;
		k->steps += steps;
	}
	return true;
}

/* Deals the steps out: kinds that need less than an equal share leave the rest to the others. Returns that share. */
static uint64_t deal(struct kinds *k, uint64_t steps)
{
	enum { ROUNDS = 16 };
	uint64_t share = 0, left = steps, open = k->classes.count;
	for (int round = 0; round < ROUNDS && open; round++) {
		share = left / open;
		for (uint32_t i = 0; i < k->classes.count; i++)
			if (!k->items[i].share && k->items[i].all <= share) {
				k->items[i].share = k->items[i].all;
				left -= k->items[i].all;
				open--;
			}
	}
	for (uint32_t i = 0; i < k->classes.count; i++)
		if (!k->items[i].share)
			k->items[i].share = share + 1;
	return share + 1;
}

/* True if the next region of this kind is to be chosen, so that those chosen are spread evenly. */
static bool choose(struct region_kind *k, uint64_t steps)
{
	bool chosen = (double)k->chosen * (double)k->all <= (double)k->passed * (double)k->share;
	k->passed += steps;
	k->chosen += chosen ? steps : 0;
	return chosen;
}

bool region_sample_draw(struct region_sample *s, const struct model *m, const struct region_accesses *accesses,
                        uint32_t recent, uint64_t steps)
{
	struct kinds k = {.items = NULL};
	region_sample_release(s);
	s->most = UINT64_MAX;
	s->left_out = calloc((size_t)m->region_count / 8 + 1, 1);
	bool ok = s->left_out && count_kinds(&k, m, accesses, recent);
	s->all = k.steps;
	s->partial = k.steps > steps;
	if (ok && s->partial) {
		s->most = deal(&k, steps);
		for (uint32_t r = 0; r < m->region_count; r++) {
			uint64_t own = steps_of_region(accesses, r, recent);
			if (own && !choose(&k.items[kind_of(&k, m, accesses, r)], own))
				s->left_out[r / 8] |= (uint8_t)(1u << r % 8);
		}
	}
	classes_release(&k.classes);
	free(k.items);
	return ok;
}

void region_sample_release(struct region_sample *s)
{
	free(s->left_out);
	*s = (struct region_sample){0};
}
