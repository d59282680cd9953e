/* Clocks that change anywhere; see timeline.h. */
#include "lib/relation/timeline.h"

#include "lib/base/lower_bound.h"
#include "lib/base/vec.h"

bool timeline_init(struct timeline *t, uint32_t threads)
{
	*t = (struct timeline){.thread_count = threads};
	t->threads = calloc((size_t)threads + 1, sizeof *t->threads);
	return t->threads;
}

void timeline_release(struct timeline *t)
{
	for (uint32_t i = 0; t->threads && i < t->thread_count; i++)
		free(t->threads[i].entries);
	free(t->threads);
	*t = (struct timeline){0};
}

void timeline_add(struct timeline *t, uint32_t thread, uint32_t pos, uint32_t clock)
{
	struct timeline_thread *h = &t->threads[thread];
	if (h->count && h->entries[h->count - 1].clock == clock)
		return;
	if (h->count && h->entries[h->count - 1].pos == pos) {
		h->entries[h->count - 1].clock = clock;
		return;
	}
	if (!vec_reserve(&h->entries, &h->capacity, (uint64_t)h->count + 1, sizeof *h->entries)) {
		t->failed = true;
		return;
	}
	h->entries[h->count++] = (struct timeline_entry){pos, clock};
}

uint32_t timeline_at(const struct timeline *t, uint32_t thread, uint32_t pos)
{
	const struct timeline_thread *h = &t->threads[thread];
	uint32_t low = lower_bound(mid, 0, h->count, h->entries[mid].pos <= pos);
	return low ? h->entries[low - 1].clock : 0;
}
