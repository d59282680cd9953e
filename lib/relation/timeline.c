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
	for (uint32_t i = 0; t->threads && i < t->thread_count; i++) {
		free(t->threads[i].entries);
		free(t->threads[i].first);
	}
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
	uint32_t buckets = pos / TIMELINE_BUCKET + 1;
	if (!vec_reserve(&h->entries, &h->capacity, (uint64_t)h->count + 1, sizeof *h->entries) ||
	    !vec_reserve(&h->first, &h->bucket_capacity, buckets, sizeof *h->first)) {
		t->failed = true;
		return;
	}
	while (h->bucket_count < buckets)
		h->first[h->bucket_count++] = h->count;
	h->entries[h->count++] = (struct timeline_entry){pos, clock};
}

uint32_t timeline_at(const struct timeline *t, uint32_t thread, uint32_t pos)
{
	const struct timeline_thread *h = &t->threads[thread];
	uint32_t bucket = pos / TIMELINE_BUCKET;
	uint32_t from = bucket < h->bucket_count ? h->first[bucket] : h->count;
	uint32_t to = bucket + 1 < h->bucket_count ? h->first[bucket + 1] : h->count;
	uint32_t low = lower_bound(mid, from, to, h->entries[mid].pos <= pos);
	return low ? h->entries[low - 1].clock : 0;
}
