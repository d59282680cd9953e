/* One instance: the provers, what each builds for it, and what the judge says of that; see provers.h. */
#include "lib/base/clock.h"
#include "lib/order/syncp.h"
#include "lib/prove/pecan.h"
#include "lib/prove/provers.h"
#include "lib/prove/whole.h"

#include <stdlib.h>
#include <string.h>

/* Saturates and linearises. A cycle by reads-from does not refute where values may allow it. */
static enum search_answer close_with(struct provers *p, struct search *search, const struct goal *goal,
                                     struct schedule *out)
{
	uint64_t budget = budget_left(p), spent;
	if (!budget)
		return SEARCH_GAVE_UP;
	enum search_answer answer = search_closure(search, goal, budget, out, &spent);
	p->counts.spent += spent;
	return answer == SEARCH_NONE && searches_of_values(&p->searches) ? SEARCH_GAVE_UP : answer;
}

static enum search_answer search_with(struct provers *p, struct search *search, const struct goal *goal,
                                      struct schedule *out)
{
	uint64_t budget = budget_left(p), spent;
	if (!budget)
		return SEARCH_GAVE_UP;
	enum search_answer answer = search_goal(search, goal, budget, out, &spent);
	p->counts.spent += spent;
	if (answer == SEARCH_GAVE_UP) {
		p->counts.cut++;
		reasons_add(&p->reasons, spent > budget + 1 ? REASON_WINDOW : REASON_BUDGET);
	}
	return answer;
}

/*
 * A prover builds a schedule for a goal, or says that there is none (SEARCH_NONE), or that it does not know
 * (SEARCH_GAVE_UP).
 */

/* What the recorded run shows. */
static enum search_answer recorded(struct provers *p, const struct goal *goal, struct schedule *out)
{
	return search_as_recorded(p->searches.strict.search, goal, out) ? SEARCH_FOUND : SEARCH_NO_MEMORY;
}

/* What the goal needs, closed under the rules of reads-from and locks, may refute it; it builds nothing. */
static enum search_answer needed(struct provers *p, const struct goal *goal, struct schedule *out)
{
	(void)out;
	struct search *valued = p->searches.valued.search;
	return search_refutes(valued ? valued : p->searches.strict.search, goal) ? SEARCH_NONE : SEARCH_GAVE_UP;
}

/* What provers_precede found of pairs of its events. */
static enum search_answer preceded(struct provers *p, const struct goal *goal, struct schedule *out)
{
	(void)out;
	return precede_refutes(&p->precede, goal) ? SEARCH_NONE : SEARCH_GAVE_UP;
}

static enum search_answer pecan(struct provers *p, const struct goal *goal, struct schedule *out)
{
	uint64_t built, limit = budget_linear(p);
	if (p->counts.pecan_exhausted)
		return SEARCH_GAVE_UP;
	uint64_t began = now_ns();
	enum search_answer answer = pecan_schedule(p->por, goal, limit - p->counts.pecan_spent, out, &built);
	p->counts.pecan_ns += now_ns() - began;
	p->counts.pecan_asked++;
	if (answer == SEARCH_GAVE_UP)
		p->counts.pecan_exhausted = true;
	else
		p->counts.pecan_spent += built;
	return answer;
}

int instance_compare(const void *a, const void *b)
{
	const struct goal *x = a, *y = b;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->count != y->count)
		return x->count < y->count ? -1 : 1;
	for (uint32_t i = 0; i < x->count; i++)
		if (x->events[i] != y->events[i])
			return x->events[i] < y->events[i] ? -1 : 1;
	return 0;
}

/* What provers_visit found. */
static enum search_answer visited(struct provers *p, const struct goal *goal, struct schedule *out)
{
	const struct states_goal *g = NULL;
	if (p->visited_count)
		g = bsearch(goal, p->visited, p->visited_count, sizeof *p->visited, instance_compare);
	if (!g)
		return SEARCH_GAVE_UP;
	if (!g->met)
		return p->counts.all ? SEARCH_NONE : SEARCH_GAVE_UP;
	*out = g->schedule;
	out->capacity = out->count;
	out->steps = malloc((size_t)out->count * sizeof *out->steps + 1);
	if (!out->steps)
		return SEARCH_NO_MEMORY;
	memcpy(out->steps, g->schedule.steps, out->count * sizeof *out->steps);
	return SEARCH_FOUND;
}

/* The sync-preserving ideal, its events in the order of the trace. */
static enum search_answer syncp(struct provers *p, const struct goal *goal, struct schedule *out)
{
	if (!*p->context.syncp || goal->kind == GOAL_SEQUENCE || goal_awaits_any(p->m, goal))
		return SEARCH_GAVE_UP;
	const uint32_t *ideal = syncp_ideal(*p->context.syncp, goal->events, goal->count);
	if (!ideal)
		return SEARCH_GAVE_UP;
	return schedule_push_recorded(out, p->m, ideal, p->m->event_count) ? SEARCH_FOUND : SEARCH_NO_MEMORY;
}

/* A witness whichever write the racy reads saw. */
static enum search_answer sure(struct provers *p, const struct goal *goal, struct schedule *out)
{
	uint64_t spent, limit = budget_linear(p);
	if (p->context.exact || p->counts.pecan_exhausted || goal_awaits_any(p->m, goal))
		return SEARCH_GAVE_UP;
	enum search_answer answer =
	    search_sure(p->searches.strict.search, p->certain, goal, limit - p->counts.pecan_spent, out, &spent);
	p->counts.pecan_spent += spent < limit - p->counts.pecan_spent ? spent : limit - p->counts.pecan_spent;
	p->counts.pecan_exhausted |= p->counts.pecan_spent == limit;
	return answer;
}

static enum search_answer closure(struct provers *p, const struct goal *goal, struct schedule *out)
{
	return close_with(p, p->searches.strict.search, goal, out);
}

/* What reads-from forbids, values may allow: only their search can tell that there is no witness. */
static enum search_answer exhaustive(struct provers *p, const struct goal *goal, struct schedule *out)
{
	struct search *valued = p->searches.valued.search;
	enum search_answer answer = search_with(p, p->searches.strict.search, goal, out);
	bool none = answer == SEARCH_NONE;
	if (valued && (none || answer == SEARCH_GAVE_UP))
		answer = search_with(p, valued, goal, out);
	if (none && answer == SEARCH_GAVE_UP)
		reasons_add(&p->reasons, REASON_VALUES);
	return answer;
}

static const struct {
	enum witness_kind kind;
	enum search_answer (*build)(struct provers *p, const struct goal *goal, struct schedule *out);
	bool observed;  /* for what the recorded run shows only */
	bool promises;  /* what it builds is a witness; else it may be none */
	bool expensive; /* asked when the others have been about every instance */
	bool sure;      /* there is one whichever write the racy reads saw */
	bool refutes;   /* it builds none */
} provers[] = {
    {WITNESS_RECORDED, recorded, .observed = true},
    {WITNESS_EXHAUSTIVE, visited, .promises = true},
    {WITNESS_CLOSURE, needed, .promises = true, .refutes = true},
    {WITNESS_CLOSURE, preceded, .promises = true, .refutes = true},
    {WITNESS_PECAN, pecan, .promises = false},
    {WITNESS_SYNCP, syncp, .promises = true},
    {WITNESS_SYNCP, sure, .promises = true, .sure = true},
    {WITNESS_CLOSURE, closure, .promises = true},
    {WITNESS_EXHAUSTIVE, exhaustive, .promises = true, .expensive = true},
};

enum { RECORDED }; /* index of the first */

/* judge_verify, within the budget of what is checked. */
static void judge(struct provers *p, const struct schedule *s, const struct goal *goal, struct verdict_of_judge *v)
{
	judge_verify(p->judge, s, goal, v);
	budget_check(p, v->fault && v->step < v->replays ? v->step : v->replays);
}

/* Makes a witness shorter, if the judge agrees, and admits it if it admits the longer one. False without memory. */
static bool shorten(struct provers *p, const struct goal *goal, struct schedule *schedule, struct verdict_of_judge *v)
{
	struct schedule shorter = {0};
	struct verdict_of_judge again;
	if (!shorten_takes(schedule, goal) || !budget_shortens(p, schedule))
		return true;
	enum search_answer answer = shorten_schedule(p->shorten, schedule, goal, &shorter);
	if (answer != SEARCH_FOUND)
		return answer != SEARCH_NO_MEMORY;
	judge(p, &shorter, goal, &again);
	p->counts.rejected += again.fault != VERIFY_NONE;
	if (!again.fault && (judge_admits(p->judge, &shorter, goal) || !judge_admits(p->judge, schedule, goal))) {
		struct schedule longer = *schedule;
		*schedule = shorter;
		shorter = longer;
		*v = again;
	}
	schedule_release(&shorter);
	return true;
}

/*
 * Makes a witness one of whole events, if the judge agrees. SEARCH_GAVE_UP: it cannot be made so, and then no
 * report could show it.
 */
static enum search_answer make_whole(struct provers *p, const struct goal *goal, struct schedule *schedule,
                                     struct verdict_of_judge *v)
{
	if (p->whole || whole_is(p->m, schedule, goal))
		return SEARCH_FOUND;
	for (int early = 0; early < 2; early++) {
		struct schedule whole = {0};
		struct verdict_of_judge again = {.fault = VERIFY_NO_EVENT};
		bool ok = whole_make(p->m, schedule, goal, early, &whole);
		if (ok)
			judge(p, &whole, goal, &again);
		if (!again.fault) {
			schedule_release(schedule);
			*schedule = whole;
			*v = again;
			return SEARCH_FOUND;
		}
		schedule_release(&whole);
		if (!ok)
			return SEARCH_NO_MEMORY;
	}
	reasons_add(&p->reasons, REASON_PARTS);
	return SEARCH_GAVE_UP;
}

uint32_t instance_count_uncertain(struct provers *p, const struct goal *goal, const struct schedule *s, uint32_t *first)
{
	if (!p->context.exact)
		budget_judge(p, s);
	return certain_count_uncertain(p->certain, s, goal->events, goal->count, first);
}

/* Judges what prover i built and keeps it if it is the best so far: the judge admits it, and it depends on fewest
 * reads.
 */
static enum search_answer judge_built(struct provers *p, size_t i, const struct goal *goal, struct schedule *schedule,
                                      struct outcome *o)
{
	struct verdict_of_judge v;
	judge(p, schedule, goal, &v);
	p->counts.built[provers[i].kind]++;
	if (v.fault) {
		/* A witness that the judge refuses is dropped, counted, and proves nothing either way. */
		p->counts.refused[provers[i].kind]++;
		p->counts.rejected += provers[i].promises;
		return SEARCH_GAVE_UP;
	}
	uint32_t first_uncertain = MODEL_NONE, uncertain = 0;
	if (!provers[i].sure && !shorten(p, goal, schedule, &v))
		return SEARCH_NO_MEMORY;
	enum search_answer whole = make_whole(p, goal, schedule, &v);
	if (whole != SEARCH_FOUND)
		return whole;
	if (!provers[i].sure)
		uncertain = instance_count_uncertain(p, goal, schedule, &first_uncertain);
	bool admitted = judge_admits(p->judge, schedule, goal);
	if (o->answer != SEARCH_FOUND || admitted > o->admitted ||
	    (admitted == o->admitted && uncertain < o->uncertain)) {
		schedule_release(&o->schedule);
		o->schedule = *schedule;
		*schedule = (struct schedule){0};
		o->kind = provers[i].kind;
		o->admitted = admitted;
		o->uncertain = uncertain;
		o->first_uncertain = first_uncertain;
		o->substitutes = v.substitutes;
		o->substitute = v.substitute;
	}
	return SEARCH_FOUND;
}

enum rt_status instance_decide(struct provers *p, const struct goal *goal, bool observed, unsigned asked,
                               struct outcome *o, struct rt_error *err)
{
	uint64_t looked = searches_looked(&p->searches);
	memset(o, 0, sizeof *o);
	o->answer = SEARCH_GAVE_UP;
	for (size_t i = 0; i < sizeof provers / sizeof *provers; i++) {
		struct schedule schedule = {0};
		if ((provers[i].observed && !observed) || !(asked & (provers[i].expensive ? EXPENSIVE : CHEAP)))
			continue;
		if (!budget_checks(p) || (!budget_judges(p) && !provers[i].refutes)) {
			reasons_add(&p->reasons, REASON_BUDGET);
			continue;
		}
		enum search_answer answer = provers[i].build(p, goal, &schedule);
		if (answer == SEARCH_FOUND)
			answer = judge_built(p, i, goal, &schedule, o);
		schedule_release(&schedule);
		if (answer == SEARCH_NO_MEMORY)
			return rt_error_set(err, RT_EMEMORY, "no memory to search for a witness");
		if (answer != SEARCH_GAVE_UP && o->answer != SEARCH_FOUND)
			o->answer = answer;
		if (o->answer == SEARCH_NONE ||
		    (o->answer == SEARCH_FOUND && o->admitted && (!o->uncertain || observed)))
			break;
	}
	budget_check(p, searches_looked(&p->searches) - looked);
	return RT_OK;
}

enum search_answer instance_recorded(struct provers *p, const struct goal *goal, struct outcome *o)
{
	struct schedule schedule = {0};
	*o = (struct outcome){.answer = SEARCH_GAVE_UP};
	enum search_answer answer = recorded(p, goal, &schedule);
	if (answer == SEARCH_FOUND)
		answer = judge_built(p, RECORDED, goal, &schedule, o);
	schedule_release(&schedule);
	return answer;
}

bool instance_refuted_by_needs(struct provers *p, const struct goal *goal)
{
	uint64_t looked = searches_looked(&p->searches);
	bool refuted = budget_checks(p) && needed(p, goal, NULL) == SEARCH_NONE;
	budget_check(p, searches_looked(&p->searches) - looked);
	return refuted;
}
