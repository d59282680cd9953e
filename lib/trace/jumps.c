/* setjmp and longjmp; see jumps.h. */
#include "lib/trace/jumps.h"

#include "lib/base/vec.h"

/* Beyond this many the oldest is dropped. */
enum { JUMPS_MAX = 256 };

bool jumps_set(struct jumps *jumps, uint64_t buffer, uint64_t depth)
{
	uint32_t n = jumps->count, kept = 0;

	while (n && jumps->items[n - 1].depth > depth)
		n--;
	/* A buffer that is set again replaces its old place. */
	for (uint32_t i = n > JUMPS_MAX ? 1 : 0; i < n; i++)
		if (jumps->items[i].buffer != buffer)
			jumps->items[kept++] = jumps->items[i];
	jumps->count = kept;
	if (!vec_reserve(&jumps->items, &jumps->capacity, (uint64_t)kept + 1, sizeof *jumps->items))
		return false;
	jumps->items[jumps->count++] = (struct jump){buffer, depth};
	return true;
}

uint64_t jumps_target(const struct jumps *jumps, uint64_t buffer, uint64_t depth)
{
	for (uint32_t i = jumps->count; i-- > 0;)
		if (jumps->items[i].buffer == buffer)
			return jumps->items[i].depth < depth ? jumps->items[i].depth : depth;
	return depth;
}

void jumps_release(struct jumps *jumps)
{
	free(jumps->items);
	*jumps = (struct jumps){0};
}
