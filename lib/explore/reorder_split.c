/* Whether one thread comes between two things that another one does; see reorder.h. */
#include "lib/explore/reorder_parts.h"

static void forget_places(struct search *s)
{
	for (uint32_t i = 0; i < s->variable_count; i++)
		s->variables[i].read_at = s->variables[i].written_at = 0;
}

static void note_place(struct search *s, const struct matter *m, uint32_t at)
{
	struct variable *v = m->variable == NONE ? NULL : &s->variables[m->variable];
	enum rt_op op = seen_of(s, m)->op;
	if (v && rt_op_reads(op))
		v->read_at = at;
	if (v && rt_op_writes(op))
		v->written_at = at;
}

/* Where a thread's accesses to variables are in the path, the last of each. */
static void note_places(struct search *s, uint32_t thread)
{
	forget_places(s);
	for (uint32_t i = 1; i <= s->depth; i++)
		if (s->path[i].current == thread)
			note_place(s, &s->all[s->path[i].matter], i);
}

/* True if one of them conflicts with the event, and is behind that place. */
static bool meets(const struct search *s, const struct matter *m, uint32_t after)
{
	const struct variable *v = m->variable == NONE ? NULL : &s->variables[m->variable];
	return v && (v->written_at > after || (v->read_at > after && rt_op_writes(seen_of(s, m)->op)));
}

/* The event has nothing to do with the thread's making. */
static bool is_beside(const struct search *s, const struct matter *m, uint32_t thread)
{
	const struct seen *first = &s->d->events[s->d->first[thread]];
	return first->needs == NONE || s->d->events[first->needs].thread != seen_of(s, m)->thread ||
	       m->event > first->needs;
}

static bool has_more(const struct search *s, uint32_t thread)
{
	enum { LOOKED_AT = 64 };
	for (uint32_t i = s->at[thread]; i < s->lengths[thread] && i < s->at[thread] + LOOKED_AT; i++)
		if (meets(s, &s->all[s->by_thread[thread][i]], 0))
			return true;
	return false;
}

/* Of another thread: how far it has gone on since it did what the thread comes behind, though it is to do what comes
 * behind the thread. */
static uint32_t splits_other(struct search *s, const struct matter *read, uint32_t thread)
{
	uint32_t best = NONE;
	note_places(s, thread);
	note_place(s, read, s->depth + 1);
	for (uint32_t i = s->depth; i > 0; i--) {
		const struct matter *m = &s->all[s->path[i].matter];
		uint32_t other = s->path[i].current;
		if (other == thread || !meets(s, m, i) || !is_beside(s, m, thread))
			continue;
		uint32_t distance = s->at[other] - m->rank;
		if (distance < best && has_more(s, other))
			best = distance;
	}
	return best;
}

/* How far the thread itself has gone on since it did what that comes behind whose write it sees now. */
static uint32_t is_split(struct search *s, const struct matter *read, uint32_t thread)
{
	uint32_t writer = s->variables[read->variable].writer;
	uint32_t other = writer == NONE ? NONE : s->d->events[writer].thread;
	if (other == NONE || other == thread)
		return NONE;
	note_places(s, other);
	for (uint32_t i = s->depth; i > 0; i--) {
		const struct matter *m = &s->all[s->path[i].matter];
		if (s->path[i].current == thread && meets(s, m, i) && s->variables[read->variable].written_at > i)
			return read->rank - m->rank;
	}
	return NONE;
}

uint32_t reorder_splits(struct search *s, const struct matter *read, uint32_t thread)
{
	uint32_t other = splits_other(s, read, thread), own = is_split(s, read, thread);
	return other < own ? other : own;
}
