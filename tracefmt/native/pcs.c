/* A set of pcs; see pcs.h. */
#include "tracefmt/native/pcs.h"

#include <stdlib.h>
#include <string.h>

/* The slot of pc, or the free one for it. */
static uint64_t *find_slot(uint64_t *slots, size_t cap, uint64_t pc)
{
	size_t h = (size_t)((pc * UINT64_C(0x9e3779b97f4a7c15)) >> 20) & (cap - 1);
	while (slots[h] && slots[h] != pc)
		h = (h + 1) & (cap - 1);
	return &slots[h];
}

static bool grow(struct rt_pc_set *set)
{
	size_t cap = set->cap ? set->cap * 2 : 1024;
	uint64_t *slots = calloc(cap, sizeof *slots);
	if (!slots)
		return false;
	for (size_t i = 0; i < set->cap; i++)
		if (set->slots[i])
			*find_slot(slots, cap, set->slots[i]) = set->slots[i];
	free(set->slots);
	set->slots = slots;
	set->cap = cap;
	return true;
}

bool rt_pc_set_add(struct rt_pc_set *set, uint64_t pc)
{
	if (!pc)
		return true;
	if (set->count * 2 >= set->cap && !grow(set))
		return false;
	uint64_t *slot = find_slot(set->slots, set->cap, pc);
	set->count += !*slot;
	*slot = pc;
	return true;
}

static int compare_pcs(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

uint64_t *rt_pc_set_sorted(const struct rt_pc_set *set, size_t *n)
{
	uint64_t *pcs = malloc((set->count + 1) * sizeof *pcs);
	if (!pcs)
		return NULL;
	*n = 0;
	for (size_t i = 0; i < set->cap; i++)
		if (set->slots[i])
			pcs[(*n)++] = set->slots[i];
	qsort(pcs, *n, sizeof *pcs, compare_pcs);
	return pcs;
}

void rt_pc_set_release(struct rt_pc_set *set)
{
	free(set->slots);
	memset(set, 0, sizeof *set);
}
