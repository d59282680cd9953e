/* Witnesses for any writes that the racy reads may have seen; see sure.h. */
#include "lib/prove/sure.h"

#include <stdlib.h>

struct sure {
	struct needs *needs;
	struct certain *certain;
	uint32_t *looked; /* by thread: number of its events that were examined */
	uint64_t budget, spent;
	bool more, possible; /* the prefixes have grown; they may still end before the goal */
};

/* Adds a write that a read may have seen, with its needs. False: it comes after the goal. */
static bool include_writer(void *arg, uint32_t write)
{
	struct sure *s = arg;
	const struct model *m = s->needs->m;
	s->spent++;
	if (m->events[write].pos < s->needs->must[model_thread_of(m, write)])
		return true;
	s->more = true;
	s->possible = needs_require(s->needs, write);
	return s->possible;
}

/* Adds the writes that the reads of a thread's prefix may have seen. */
static void include_seen(struct sure *s, uint32_t thread)
{
	const struct model *m = s->needs->m;
	uint32_t *pos = &s->looked[thread];
	for (; s->possible && *pos < s->needs->must[thread]; ++*pos) {
		if (++s->spent > s->budget || !certain_writers(s->certain, m->threads[thread].events[*pos],
		                                               s->budget - s->spent, include_writer, s))
			s->possible = false;
	}
}

enum search_answer sure_goal(struct needs *needs, struct certain *certain, const struct goal *goal, uint64_t budget,
                             struct schedule *out, uint64_t *spent)
{
	const struct model *m = needs->m;
	struct sure s = {.needs = needs, .certain = certain, .budget = budget, .more = true, .possible = true};
	*spent = 0;
	if (goal->kind == GOAL_SEQUENCE || !needs_find(needs, goal))
		return SEARCH_GAVE_UP;
	if (!(s.looked = calloc((size_t)m->thread_count + 1, sizeof *s.looked)))
		return SEARCH_NO_MEMORY;
	while (s.more && s.possible) {
		s.more = false;
		for (uint32_t t = 0; t < m->thread_count; t++)
			include_seen(&s, t);
	}
	free(s.looked);
	*spent = s.spent;
	if (!s.possible || !base_keeps_locks(needs->base, needs->must))
		return SEARCH_GAVE_UP;
	return schedule_push_recorded(out, m, needs->must, m->event_count) ? SEARCH_FOUND : SEARCH_NO_MEMORY;
}
