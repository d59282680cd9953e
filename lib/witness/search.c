/* The exhaustive prover; see search.h. */
#include "lib/witness/search.h"

#include "lib/order/sections.h"
#include "lib/trace/vec.h"
#include "lib/witness/closure.h"
#include "lib/witness/needs.h"
#include "lib/witness/space.h"

/* A state in which more than one thread may go on: the threads still to be tried. */
struct choice {
	uint32_t depth;            /* executed events when it was made */
	uint32_t first, next, end; /* in candidates */
};

struct search {
	const struct model *m;
	struct base base;
	struct reads reads;
	struct needs needs;
	struct space space;
	uint32_t *start; /* by thread: so many are the base, which comes first */
	struct choice *choices;
	uint32_t choice_count, choice_capacity;
	uint32_t *candidates;
	uint32_t candidate_count, candidate_capacity;
	uint64_t budget;
};

void search_free(struct search *s)
{
	if (!s)
		return;
	space_release(&s->space);
	needs_release(&s->needs);
	base_release(&s->base);
	reads_release(&s->reads);
	free(s->start);
	free(s->choices);
	free(s->candidates);
	free(s);
}

struct search *search_create(const struct model *m, const struct trf *trf, const uint8_t *free_reads,
                             const struct values *values)
{
	struct search *s = calloc(1, sizeof *s);
	if (!s)
		return NULL;
	s->m = m;
	s->start = calloc((size_t)m->thread_count + 1, sizeof *s->start);
	if (s->start && reads_init(&s->reads, m, free_reads, values) && space_init(&s->space, &s->reads, trf) &&
	    base_init(&s->base, m, trf) && needs_init(&s->needs, &s->base, &s->reads))
		return s;
	search_free(s);
	return NULL;
}

/* Can e, which is enabled, be in nobody's way: is executing it now, alone, as good as anything else? */
static bool harmless(const struct search *s, uint32_t e)
{
	const struct model *m = s->m;
	const struct goal *goal = s->space.goal;
	unsigned op = model_op(m, e);
	if (goal_runs(goal, e))
		return false;
	if (rt_op_writes(op)) {
		if (!space_writes_alone(&s->space, e))
			return false;
		/* A goal read of the cell may want to come first. */
		uint32_t end = m->events[e].object + m->sites[m->events[e].site].cells;
		for (uint32_t i = 0; goal->kind == GOAL_SEQUENCE && i < goal->count; i++) {
			uint32_t g = goal->events[i];
			if (m->events[g].object < end &&
			    m->events[e].object < m->events[g].object + m->sites[m->events[g].site].cells)
				return false;
		}
		return true;
	}
	return section_lock_taken(m, e) == MODEL_NONE && op != RT_OP_SIGNAL && op != RT_OP_BROADCAST &&
	       op != RT_OP_SEM_INIT;
}

static bool at_goal(const struct search *s)
{
	const struct goal *goal = s->space.goal;
	if (goal->kind == GOAL_SEQUENCE)
		return s->space.reached == goal->count;
	for (uint32_t i = 0; i < goal->count; i++)
		if (!space_stands_before(&s->space, goal->events[i]))
			return false;
	return true;
}

/* Executes whatever is harmless, as long as there is some. True at the goal. */
static bool run_harmless(struct search *s)
{
	uint32_t idle = 0;
	/* A sequence ends with its last event; with values, that may make others possible. */
	if (at_goal(s))
		return true;
	for (uint32_t t = 0; idle < s->m->thread_count; t = t + 1 < s->m->thread_count ? t + 1 : 0, idle++) {
		for (;;) {
			uint32_t e = space_next(&s->space, t);
			if (e == MODEL_NONE || !space_enabled(&s->space, e) || !harmless(s, e))
				break;
			space_execute(&s->space, e);
			idle = 0;
			if (s->space.failed || s->space.spent > s->budget)
				return false;
		}
	}
	return at_goal(s);
}

/* Lists the threads that may go on, those with needed events first, then in the order of the trace. */
static bool push_choice(struct search *s)
{
	const struct model *m = s->m;
	struct choice c = {s->space.done_count, s->candidate_count, 0, 0};
	for (uint32_t t = 0; t < m->thread_count; t++) {
		uint32_t e = space_next(&s->space, t);
		if (e == MODEL_NONE || !space_enabled(&s->space, e))
			continue;
		if (!vec_reserve(&s->candidates, &s->candidate_capacity, (uint64_t)s->candidate_count + 1,
		                 sizeof *s->candidates))
			return false;
		uint32_t i = s->candidate_count++;
		bool needed = s->space.pos[t] < s->needs.must[t];
		for (; i > c.first; i--) {
			uint32_t other = s->candidates[i - 1];
			bool other_needed = m->events[other].pos < s->needs.must[model_thread_of(m, other)];
			if (other_needed > needed || (other_needed == needed && other < e))
				break;
			s->candidates[i] = other;
		}
		s->candidates[i] = e;
	}
	c.next = c.first;
	c.end = s->candidate_count;
	if (!vec_reserve(&s->choices, &s->choice_capacity, (uint64_t)s->choice_count + 1, sizeof *s->choices))
		return false;
	s->choices[s->choice_count++] = c;
	return true;
}

/* Takes the next way at the newest choice that has one left; false: there is none anywhere. */
static bool next_way(struct search *s)
{
	while (s->choice_count) {
		struct choice *c = &s->choices[s->choice_count - 1];
		while (s->space.done_count > c->depth)
			space_take_back(&s->space);
		if (c->next < c->end) {
			space_execute(&s->space, s->candidates[c->next++]);
			return true;
		}
		s->candidate_count = c->first;
		s->choice_count--;
	}
	return false;
}

static enum search_answer explore(struct search *s)
{
	for (;;) {
		if (run_harmless(s))
			return SEARCH_FOUND;
		if (s->space.failed)
			return SEARCH_NO_MEMORY;
		if (s->space.spent > s->budget)
			return SEARCH_GAVE_UP;
		if (space_see(&s->space) && !push_choice(s))
			s->space.failed = true;
		if (s->space.failed)
			return SEARCH_NO_MEMORY;
		if (!next_way(s))
			return SEARCH_NONE;
		if (s->space.failed)
			return SEARCH_NO_MEMORY;
	}
}

bool search_refutes(struct search *s, const struct goal *goal)
{
	return !needs_find(&s->needs, goal);
}

bool search_as_recorded(struct search *s, const struct goal *goal, struct schedule *out)
{
	const struct model *m = s->m;
	uint32_t end = 0;
	needs_find(&s->needs, goal);
	for (uint32_t i = 0; i < goal->count; i++)
		end = goal->events[i] >= end ? goal->events[i] + 1 : end;
	for (uint32_t e = 0; e < end; e++)
		if (m->events[e].pos < s->needs.must[model_thread_of(m, e)] && !schedule_push(out, m, e))
			return false;
	return true;
}

enum search_answer search_goal(struct search *s, const struct goal *goal, uint64_t budget, struct schedule *out,
                               uint64_t *spent)
{
	*spent = 0;
	if (s->space.failed)
		return SEARCH_NO_MEMORY; /* the state was left half changed */
	s->budget = budget;
	if (!needs_find(&s->needs, goal))
		return SEARCH_NONE;
	needs_relevant(&s->needs);
	/* Where a read may see several writes, the order of the base's writes may matter. */
	if (s->reads.values)
		memset(s->start, 0, s->m->thread_count * sizeof *s->start);
	else
		base_find(&s->base, goal, s->needs.must, s->needs.bound, s->start);
	space_begin(&s->space, goal, s->needs.must, s->needs.bound, s->start);
	enum search_answer answer = explore(s);
	if (answer == SEARCH_FOUND && !space_schedule(&s->space, out))
		answer = SEARCH_NO_MEMORY;
	*spent = s->space.spent;
	s->choice_count = s->candidate_count = 0;
	if (!s->space.failed)
		space_end(&s->space);
	return answer;
}

enum search_answer search_closure(struct search *s, const struct goal *goal, uint64_t budget, struct schedule *out,
                                  uint64_t *spent)
{
	*spent = 0;
	if (s->space.failed)
		return SEARCH_NO_MEMORY;
	return closure_goal(&s->needs, &s->space, s->start, goal, budget, out, spent);
}
