/* Witnesses in which reads see other writes; see conditional.h. */
#include "lib/prove/conditional.h"

#include "lib/prove/pecan.h"

#include <stdlib.h>

void conditional_release(struct conditional *c)
{
	free(c->reads.events);
	c->reads = (struct judge_reads){0};
}

/* Judges what was built; drops a schedule that is refused. */
static enum search_answer judged(struct conditional *c, const struct goal *goal, enum search_answer answer,
                                 struct schedule *out, bool promised)
{
	struct verdict_of_judge v;
	if (answer != SEARCH_FOUND)
		return answer;
	judge_verify_free(c->judge, out, goal, &v, &c->reads);
	if (c->reads.failed)
		return SEARCH_NO_MEMORY;
	c->spent += out->events;
	if (!v.fault)
		return SEARCH_FOUND;
	c->refused += promised;
	schedule_release(out);
	return SEARCH_GAVE_UP;
}

static enum search_answer in_order(struct conditional *c, struct search *search, const struct goal *goal,
                                   uint64_t linear, struct schedule *out)
{
	uint64_t spent;
	if (c->spent >= linear)
		return search_refutes(search, goal) ? SEARCH_NONE : SEARCH_GAVE_UP;
	enum search_answer answer =
	    search_in_order(search, goal, c->searches->strict.trf, linear - c->spent, out, &spent);
	c->spent += spent;
	/* A sequence's last event may have to come before other events that it needs, and signals before a wait. */
	return judged(c, goal, answer, out, goal->kind != GOAL_SEQUENCE && !goal_awaits_any(c->searches->m, goal));
}

static enum search_answer pecan(struct conditional *c, const struct goal *goal, uint64_t linear, struct schedule *out)
{
	uint64_t built;
	if (c->spent >= linear)
		return SEARCH_GAVE_UP;
	return judged(c, goal, pecan_schedule(c->por, goal, linear - c->spent, out, &built), out, false);
}

enum search_answer conditional_goal(struct conditional *c, const struct goal *goal, uint64_t budget, uint64_t linear,
                                    struct schedule *out, uint64_t *spent)
{
	struct search *search = searches_free(c->searches);
	uint64_t more = 0;
	*spent = 0;
	if (!search)
		return SEARCH_NO_MEMORY;
	enum search_answer answer = in_order(c, search, goal, linear, out);
	if (answer == SEARCH_GAVE_UP)
		answer = pecan(c, goal, linear, out);
	if (answer == SEARCH_GAVE_UP && budget)
		answer = judged(c, goal, search_closure(search, goal, budget, out, spent), out, true);
	if (answer == SEARCH_GAVE_UP && *spent < budget)
		answer = judged(c, goal, search_goal(search, goal, budget - *spent, out, &more), out, true);
	*spent += more;
	return answer;
}

enum search_answer conditional_own_reads(struct conditional *c, const struct goal *goal, uint64_t budget,
                                         struct schedule *out, uint64_t *spent)
{
	const struct model *m = c->searches->m;
	struct search *search = c->searches->strict.search;
	struct goal own = *goal;
	bool differs = false;
	*spent = 0;
	own.runs_on = true;
	for (uint32_t i = 0; i < goal->count && goal->kind == GOAL_SEQUENCE; i++)
		differs |= goal_continues(&own, m, i) && !goal_continues(goal, m, i);
	if (!differs || !budget)
		return SEARCH_GAVE_UP;
	/* The judge refuses it where such a read synchronised with what it saw. */
	return judged(c, goal, search_goal(search, &own, budget, out, spent), out, false);
}
