/* The closure prover; see closure.h. */
#include "lib/prove/closure.h"

#include "lib/prove/saturate.h"

#include <stdlib.h>
#include <string.h>

struct closure {
	struct needs *needs;
	struct space *space;
	uint32_t *start;
	const struct goal *goal;
	struct saturation order;
	uint64_t budget, spent;
};

/* Saturates the order of the events after the start, up to the given places. */
static enum saturated saturate_to(struct closure *c, const uint32_t *to, bool last)
{
	uint64_t left = c->spent < c->budget ? c->budget - c->spent : 0;
	saturation_release(&c->order);
	c->order = (struct saturation){.m = c->needs->m,
	                               .base = c->needs->base,
	                               .reads = c->needs->reads,
	                               .waits = &c->space->waits,
	                               .goal = c->goal,
	                               .from = c->start,
	                               .to = to};
	enum saturated result = saturate(&c->order, last, left);
	c->spent += c->order.spent;
	return result;
}

static enum search_answer answer_of(enum saturated result)
{
	return result == SATURATED_CYCLE       ? SEARCH_NONE
	       : result == SATURATED_NO_MEMORY ? SEARCH_NO_MEMORY
	                                       : SEARCH_GAVE_UP;
}

/* Saturates the order of what the goal needs, which may grow. SEARCH_FOUND: an order exists. */
static enum search_answer saturate_needs(struct closure *c)
{
	if (!needs_find(c->needs, c->goal))
		return SEARCH_NONE;
	for (;;) {
		needs_relevant(c->needs);
		base_find(c->needs->base, c->goal, c->needs->must, c->needs->bound, c->start);
		enum saturated result = saturate_to(c, c->needs->must, false);
		if (result == SATURATED)
			return SEARCH_FOUND;
		if (result != SATURATED_MISSING)
			return answer_of(result);
		if (!needs_require(c->needs, c->order.missing))
			return SEARCH_NONE;
	}
}

/* The next event to execute; MODEL_NONE if none may be. first: a thread that goes first, or MODEL_NONE. */
static uint32_t choose(const struct closure *c, uint32_t first)
{
	uint32_t best = MODEL_NONE;
	for (uint32_t i = 0; i < c->order.slots; i++) {
		uint32_t thread = c->order.thread[i], e = space_next(c->space, thread);
		if (e == MODEL_NONE || (e >= best && thread != first) ||
		    !saturation_allows(&c->order, e, c->space->pos) || !space_enabled(c->space, e))
			continue;
		best = e;
		if (thread == first)
			break;
	}
	return best;
}

static enum search_answer linearise(struct closure *c, const uint32_t *to, uint32_t first, struct schedule *out)
{
	uint32_t e;
	bool reached = false;
	space_begin(c->space, c->goal, to, to, c->start);
	while (!c->space->failed && !(reached = space_meets(c->space, c->goal)) && (e = choose(c, first)) != MODEL_NONE)
		space_execute(c->space, e);
	c->spent += c->space->spent;
	bool failed = c->space->failed || (reached && !space_schedule(c->space, out));
	if (!c->space->failed)
		space_end(c->space);
	return failed ? SEARCH_NO_MEMORY : reached ? SEARCH_FOUND : SEARCH_GAVE_UP;
}

/* Tries to linearise the events up to these places; holds at their ends stay. */
static enum search_answer build(struct closure *c, const uint32_t *to, struct schedule *out)
{
	const struct model *m = c->needs->m;
	enum saturated result = saturate_to(c, to, true);
	if (result != SATURATED)
		return result == SATURATED_NO_MEMORY ? SEARCH_NO_MEMORY : SEARCH_GAVE_UP;
	enum search_answer answer = linearise(c, to, MODEL_NONE, out);
	for (uint32_t i = 0; i < c->goal->count && answer == SEARCH_GAVE_UP && c->spent < c->budget; i++)
		answer = linearise(c, to, model_thread_of(m, c->goal->events[i]), out);
	return answer;
}

/* Tries with more and more section ends: only needed ones, then those of threads without an event of the goal, then all
 * that may occur. */
static enum search_answer build_any(struct closure *c, struct schedule *out)
{
	const struct needs *n = c->needs;
	size_t threads = n->m->thread_count, size = threads * sizeof *n->must;
	uint32_t *to = malloc(size + 1);
	enum search_answer answer = to ? build(c, n->must, out) : SEARCH_NO_MEMORY;
	if (answer == SEARCH_GAVE_UP && memcmp(n->must, n->bound, size) != 0) {
		memcpy(to, n->bound, size);
		for (uint32_t i = 0; i < c->goal->count; i++) {
			uint32_t thread = model_thread_of(n->m, c->goal->events[i]);
			to[thread] = n->must[thread];
		}
		if (memcmp(n->must, to, size) != 0)
			answer = build(c, to, out);
		if (answer == SEARCH_GAVE_UP && memcmp(n->bound, to, size) != 0)
			answer = build(c, n->bound, out);
	}
	free(to);
	return answer;
}

enum search_answer closure_goal(struct needs *needs, struct space *space, uint32_t *start, const struct goal *goal,
                                uint64_t budget, struct schedule *out, uint64_t *spent)
{
	struct closure c = {.needs = needs, .space = space, .start = start, .goal = goal, .budget = budget};
	enum search_answer answer = saturate_needs(&c);
	if (answer == SEARCH_FOUND)
		answer = build_any(&c, out);
	saturation_release(&c.order);
	*spent = c.spent;
	return answer;
}

bool closure_refutes(struct needs *needs, struct space *space, uint32_t *start, const struct goal *goal,
                     uint64_t budget, uint64_t *spent)
{
	struct closure c = {.needs = needs, .space = space, .start = start, .goal = goal, .budget = budget};
	enum search_answer answer = saturate_needs(&c);
	saturation_release(&c.order);
	*spent = c.spent;
	return answer == SEARCH_NONE;
}
