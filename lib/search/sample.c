/* A sample of tuples; see sample.h. Which tuple is replaced depends on their number alone, so runs can be repeated. */
#include "lib/search/sample.h"

#include "lib/base/vec.h"

bool sample_add(struct sample *s, const uint32_t *events, uint32_t n, uint32_t most, uint32_t stay)
{
	uint64_t place = s->count;
	s->offered++;
	if (s->count >= most) {
		place = s->offered * UINT64_C(0x9e3779b97f4a7c15);
		place = (place ^ place >> 31) % s->offered;
		if (place < stay || place >= s->count)
			return true;
	} else if (!vec_reserve(&s->events, &s->capacity, ((uint64_t)s->count + 1) * n, sizeof *s->events)) {
		return false;
	} else {
		s->count++;
	}
	memcpy(s->events + place * n, events, n * sizeof *events);
	return true;
}

void sample_release(struct sample *s)
{
	free(s->events);
	*s = (struct sample){0};
}
