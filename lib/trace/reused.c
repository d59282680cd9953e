/* Memory that was given out several times; see reused.h. */
#include "lib/trace/reused.h"

#include "lib/base/lower_bound.h"
#include "lib/base/vec.h"

bool reused_add(struct reused *r, uint64_t at, uint64_t size, bool is_free)
{
	if (!vec_reserve(&r->blocks, &r->capacity, (uint64_t)r->count + 1, sizeof *r->blocks))
		return false;
	uint64_t end = size <= UINT64_MAX - at ? at + size : UINT64_MAX;
	r->blocks[r->count] = (struct reused_block){at, end, r->count, is_free};
	r->count++;
	return true;
}

static int by_place(const void *a, const void *b)
{
	const struct reused_block *x = a, *y = b;
	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* Adds memory that begins no earlier than what was kept before. */
static void keep(struct reused *r, uint32_t *kept, uint64_t at, uint64_t end)
{
	if (*kept && at <= r->blocks[*kept - 1].end) {
		if (end > r->blocks[*kept - 1].end)
			r->blocks[*kept - 1].end = end;
		return;
	}
	r->blocks[(*kept)++] = (struct reused_block){.at = at, .end = end};
}

/* A block that is freed, and that the trace has no allocation of, is one of its own. */
void reused_settle(struct reused *r)
{
	uint32_t kept = 0;
	uint64_t covered = 0; /* the furthest end of the blocks so far */
	struct reused_block before = {.is_free = true};
	if (r->count)
		qsort(r->blocks, r->count, sizeof *r->blocks, by_place);
	for (uint32_t i = 0; i < r->count; i++) {
		struct reused_block b = r->blocks[i];
		bool ends = b.is_free && !before.is_free && b.at == before.at;
		before = b;
		if (ends || b.at == b.end)
			continue;
		if (b.at < covered)
			keep(r, &kept, b.at, b.end < covered ? b.end : covered);
		covered = b.end > covered ? b.end : covered;
	}
	r->count = kept;
}

bool reused_has(const struct reused *r, uint64_t address)
{
	uint32_t i = lower_bound(at, 0, r->count, r->blocks[at].end < address);
	return i < r->count && r->blocks[i].at <= address;
}

void reused_release(struct reused *r)
{
	free(r->blocks);
	*r = (struct reused){0};
}
