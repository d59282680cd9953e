/* Choices of a search; see choices.h. */
#include "lib/prove/state/choices.h"

#include "lib/base/vec.h"

void choices_release(struct choices *c)
{
	free(c->items);
	free(c->candidates);
	*c = (struct choices){0};
}

void choices_clear(struct choices *c)
{
	c->count = c->candidate_count = 0;
}

bool choices_push(struct choices *c, uint32_t depth)
{
	if (!vec_reserve(&c->items, &c->capacity, (uint64_t)c->count + 1, sizeof *c->items))
		return false;
	c->items[c->count++] = (struct choice){depth, c->candidate_count, c->candidate_count};
	return true;
}

bool choices_add(struct choices *c, uint32_t event)
{
	if (!vec_reserve(&c->candidates, &c->candidate_capacity, (uint64_t)c->candidate_count + 1,
	                 sizeof *c->candidates))
		return false;
	c->candidates[c->candidate_count++] = event;
	return true;
}

bool choices_next(struct choices *c, uint32_t *depth, uint32_t *event)
{
	for (; c->count; c->count--) {
		struct choice *newest = &c->items[c->count - 1];
		if (newest->next < c->candidate_count) {
			*depth = newest->depth;
			*event = c->candidates[newest->next++];
			return true;
		}
		c->candidate_count = newest->first;
	}
	return false;
}
