/* The exhaustive prover; see search.h. */
#include "lib/prove/search.h"

#include "lib/prove/closure.h"
#include "lib/prove/in_order.h"
#include "lib/prove/needs.h"
#include "lib/prove/state/choices.h"
#include "lib/prove/state/space.h"
#include "lib/prove/sure.h"
#include "lib/relation/sections.h"

#include <stdlib.h>
#include <string.h>

struct search {
	const struct model *m;
	struct base base;
	struct base_work work;
	struct reads reads;
	struct needs needs;
	struct space space;
	uint32_t *start;  /* by thread: number of events of the base, which comes first */
	uint32_t *active; /* threads that have events after it, in their order */
	uint32_t active_count;
	struct choices choices;
	uint64_t budget;
};

void search_free(struct search *s)
{
	if (!s)
		return;
	space_release(&s->space);
	needs_release(&s->needs);
	free(s->work.threads);
	free(s->start);
	free(s->active);
	choices_release(&s->choices);
	free(s);
}

struct search *search_create(struct facts *f, const struct trf *trf, bool free, const struct values *values)
{
	const struct model *m = f->m;
	struct search *s = calloc(1, sizeof *s);
	if (!s)
		return NULL;
	s->m = m;
	s->base = (struct base){.m = m, .trf = trf, .sections = facts_sections(f), .work = &s->work};
	s->work.threads = calloc((size_t)m->thread_count + 1, sizeof *s->work.threads);
	s->start = calloc((size_t)m->thread_count + 1, sizeof *s->start);
	s->active = calloc((size_t)m->thread_count + 1, sizeof *s->active);
	if (s->work.threads && s->start && s->active && s->base.sections && reads_init(&s->reads, f, free, values) &&
	    space_init(&s->space, &s->reads, trf) && needs_init(&s->needs, &s->base, &s->reads))
		return s;
	search_free(s);
	return NULL;
}

/* True if e, which is enabled, is independent of all other relevant events: executing it now, alone, loses no
 * witness. */
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
		/* A goal's read of the cell may have to come first. */
		uint32_t end = m->events[e].object + m->sites[m->events[e].site].cells;
		for (uint32_t i = 0; !s->reads.free && goal->kind == GOAL_SEQUENCE && i < goal->count; i++) {
			uint32_t g = goal->events[i];
			if (m->events[g].object < end &&
			    m->events[e].object < m->events[g].object + m->sites[m->events[g].site].cells)
				return false;
		}
		return true;
	}
	return model_lock_taken(m, e) == MODEL_NONE && !rt_op_has(op, RT_WAKES) && op != RT_OP_SEM_INIT &&
	       !space_begins_wait(&s->space, e);
}

/*
 * Executes independent events while there are any. True at the goal. A look at many threads counts as further events:
 * the budget bounds the time with any number of them.
 */
static bool run_harmless(struct search *s)
{
	enum { THREADS_OF_EVENT = 16 };
	uint32_t idle = 0;
	/* A sequence ends with its last event; with values, executing that may enable others. */
	if (space_meets(&s->space, s->space.goal))
		return true;
	for (uint32_t t = 0; idle < s->active_count; t = t + 1 < s->active_count ? t + 1 : 0, idle++) {
		s->space.spent += idle % THREADS_OF_EVENT == THREADS_OF_EVENT - 1;
		for (;;) {
			uint32_t e = space_next(&s->space, s->active[t]);
			if (e == MODEL_NONE || !space_enabled(&s->space, e) || !harmless(s, e))
				break;
			space_execute(&s->space, e);
			idle = 0;
			if (s->space.failed || s->space.spent > s->budget)
				return false;
		}
	}
	return space_meets(&s->space, s->space.goal);
}

/* True if e is tried before other: needed events first, then by the order in the trace. */
static bool goes_first(const struct search *s, uint32_t e, uint32_t other)
{
	const struct model *m = s->m;
	bool needed = m->events[e].pos < s->needs.must[model_thread_of(m, e)];
	bool other_needed = m->events[other].pos < s->needs.must[model_thread_of(m, other)];
	return needed != other_needed ? needed : e < other;
}

/* Makes a choice of the enabled events, in the order in which they are tried. */
static bool push_choice(struct search *s)
{
	struct choices *c = &s->choices;
	uint32_t first = c->candidate_count;
	if (!choices_push(c, s->space.done_count))
		return false;
	for (uint32_t t = 0; t < s->active_count; t++) {
		uint32_t e = space_next(&s->space, s->active[t]);
		if (e == MODEL_NONE || !space_enabled(&s->space, e))
			continue;
		if (!choices_add(c, e))
			return false;
		uint32_t i = c->candidate_count - 1;
		for (; i > first && goes_first(s, e, c->candidates[i - 1]); i--)
			c->candidates[i] = c->candidates[i - 1];
		c->candidates[i] = e;
	}
	return true;
}

/* Continues with the newest choice that has an event left; false if none has. */
static bool next_way(struct search *s)
{
	uint32_t depth, e;
	if (!choices_next(&s->choices, &depth, &e))
		return false;
	while (s->space.done_count > depth)
		space_take_back(&s->space);
	space_execute(&s->space, e);
	return true;
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

uint64_t search_looked(const struct search *s)
{
	return (s->needs.looked_at + s->work.looked_at) / NEEDS_OF_EVENT;
}

bool search_refutes(struct search *s, const struct goal *goal)
{
	return !needs_find(&s->needs, goal);
}

enum search_answer search_sure(struct search *s, struct certain *certain, const struct goal *goal, uint64_t budget,
                               struct schedule *out, uint64_t *spent)
{
	*spent = 0;
	return sure_goal(&s->needs, certain, goal, budget, out, spent);
}

enum search_answer search_in_order(struct search *s, const struct goal *goal, const struct trf *sees, uint64_t budget,
                                   struct schedule *out, uint64_t *spent)
{
	*spent = 0;
	return in_order_goal(&s->needs, s->start, goal, sees, budget, out, spent);
}

bool search_as_recorded(struct search *s, const struct goal *goal, struct schedule *out)
{
	needs_find(&s->needs, goal);
	return schedule_push_recorded(out, s->m, s->needs.must, goal_last(goal) + 1);
}

/* Finds what is relevant to the goal, and which of it comes after the base; returns the number of these events. Once
 * they are known to be over the budget, there may be more of them. */
static uint64_t find_window(struct search *s, const struct goal *goal, uint64_t budget)
{
	const struct needs *n = &s->needs;
	uint64_t window = 0;
	/* If a read may see several writes, the order of the base's writes may matter: the base is empty. */
	memset(s->start, 0, s->m->thread_count * sizeof *s->start);
	for (uint32_t t = 0; s->reads.values && t < s->m->thread_count; t++)
		window += n->must[t];
	if (window > budget)
		return window;
	needs_relevant(&s->needs);
	if (!s->reads.values)
		base_find(&s->base, goal, n->must, n->bound, s->start);
	window = s->active_count = 0;
	for (uint32_t t = 0; t < s->m->thread_count; t++) {
		window += n->bound[t] - s->start[t];
		if (n->bound[t] > s->start[t])
			s->active[s->active_count++] = t;
	}
	return window;
}

enum search_answer search_goal(struct search *s, const struct goal *goal, uint64_t budget, struct schedule *out,
                               uint64_t *spent)
{
	*spent = 0;
	if (s->space.failed)
		return SEARCH_NO_MEMORY; /* the state is half changed */
	s->budget = budget;
	if (!needs_find(&s->needs, goal))
		return SEARCH_NONE;
	/* Examining the events after the base once may exceed the budget. */
	uint64_t window = find_window(s, goal, budget);
	bool looks = window <= budget;
	space_begin(&s->space, goal, s->needs.must, looks ? s->needs.bound : s->start, s->start);
	enum search_answer answer = looks ? explore(s) : space_meets(&s->space, goal) ? SEARCH_FOUND : SEARCH_GAVE_UP;
	if (answer == SEARCH_FOUND && !space_schedule(&s->space, out))
		answer = SEARCH_NO_MEMORY;
	*spent = looks ? s->space.spent : window;
	choices_clear(&s->choices);
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

bool search_contradicts(struct search *s, const struct goal *goal, uint64_t budget, uint64_t *spent)
{
	*spent = 0;
	return !s->space.failed && closure_refutes(&s->needs, &s->space, s->start, goal, budget, spent);
}
