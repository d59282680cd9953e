/* What provers may spend, and what they have spent; see provers.h. */
#include "lib/base/lower_bound.h"
#include "lib/prove/provers.h"

static uint64_t bound(const struct provers *p, enum limit limit)
{
	return p->context.limits->of[limit];
}

uint64_t budget_linear(const struct provers *p)
{
	return bound(p, LIMIT_BUILT_EVENTS_TOTAL);
}

uint64_t budget_free(const struct provers *p)
{
	return bound(p, LIMIT_FREE_EVENTS_TOTAL);
}

/* The recorded run up to the goal, as a schedule, has a step for each turn of a thread. */
static uint32_t turns_before(const struct model *m, const struct goal *goal)
{
	uint32_t last = goal_last(goal);
	return lower_bound(i, 0, m->turn_count, m->turns[i].first <= last);
}

bool budget_takes_observed(struct provers *p, const struct goal *goal, uint32_t *steps)
{
	*steps = turns_before(p->m, goal);
	p->counts.observed_exhausted |= p->counts.observed_steps + *steps > bound(p, LIMIT_OBSERVED_STEPS_TOTAL);
	if (p->counts.observed_exhausted || !budget_judges(p))
		return false;
	p->counts.observed_steps += *steps;
	return true;
}

bool budget_judges(const struct provers *p)
{
	return !p->counts.judged_exhausted && budget_checks(p);
}

void budget_check(struct provers *p, uint64_t events)
{
	p->counts.checked += events;
	p->counts.checked_exhausted |= p->counts.checked >= bound(p, LIMIT_CHECKED_EVENTS_TOTAL);
}

bool budget_checks(const struct provers *p)
{
	return !p->counts.checked_exhausted;
}

bool budget_shortens(struct provers *p, const struct schedule *s)
{
	bool shortens = !p->counts.shortened_exhausted;
	p->counts.shortened += shortens ? s->events : 0;
	p->counts.shortened_exhausted |= p->counts.shortened >= bound(p, LIMIT_SHORTENED_EVENTS_TOTAL);
	return shortens;
}

void budget_judge(struct provers *p, const struct schedule *s)
{
	for (uint32_t i = 0; i < s->count; i++)
		p->counts.judged += s->steps[i].to - s->steps[i].from + UINT64_C(1);
	p->counts.judged_exhausted |= p->counts.judged >= bound(p, LIMIT_JUDGED_EVENTS_TOTAL);
}

static uint64_t total(const struct provers *p)
{
	return bound(p, p->settling ? LIMIT_SETTLE_EVENTS_TOTAL : LIMIT_SEARCH_EVENTS_TOTAL);
}

static uint64_t spent(const struct provers *p)
{
	return p->settling ? p->counts.settle_spent : p->counts.spent;
}

static bool *exhausted(struct provers *p)
{
	return p->settling ? &p->counts.settle_exhausted : &p->counts.exhausted;
}

void budget_begin(struct provers *p, const struct anomaly *a, bool settling)
{
	p->settling = settling;
	p->spent_before = spent(p);
	p->share = bound(p, LIMIT_SEARCH_EVENTS) / (a->turn + 1);
	p->reasons.set = 0;
}

uint64_t budget_left(struct provers *p)
{
	uint64_t all = spent(p) < total(p) ? total(p) - spent(p) : 0, used = spent(p) - p->spent_before;
	uint64_t own = used < p->share ? p->share - used : 0;
	if (p->more_instances)
		own /= 2;
	/* Sticky: later verdicts must not depend on what skipped work would have cost. */
	*exhausted(p) |= all < own;
	p->counts.cut += !own;
	if (*exhausted(p) || !own)
		reasons_add(&p->reasons, REASON_BUDGET);
	return *exhausted(p) ? 0 : own;
}

/* True if a limit that a copy of the provers did not meet might have been met here, which spent `more` of it. room:
 * what it had to have left. */
static bool may_meet(bool met, bool copy_met, uint64_t spent, uint64_t more, uint64_t room, uint64_t limit)
{
	return met ? more : copy_met || (more && spent + room > limit);
}

/* True if the copy had spent just what was spent here, so that it met the limits as these provers would have. */
static bool spent_as_much(const struct prove_counts *c, const struct prove_counts *copy)
{
	return c->spent == copy->spent && c->settle_spent == copy->settle_spent &&
	       c->pecan_spent == copy->pecan_spent && c->free_spent == copy->free_spent &&
	       c->observed_steps == copy->observed_steps && c->exhausted == copy->exhausted &&
	       c->judged == copy->judged && c->judged_exhausted == copy->judged_exhausted &&
	       c->checked == copy->checked && c->checked_exhausted == copy->checked_exhausted &&
	       c->shortened == copy->shortened && c->shortened_exhausted == copy->shortened_exhausted &&
	       c->settle_exhausted == copy->settle_exhausted && c->pecan_exhausted == copy->pecan_exhausted &&
	       c->free_exhausted == copy->free_exhausted && c->observed_exhausted == copy->observed_exhausted;
}

bool provers_add(struct provers *p, const struct prove_counts *before, const struct prove_counts *after)
{
	struct prove_counts *c = &p->counts;
	const uint64_t room = bound(p, LIMIT_SEARCH_EVENTS);
	uint64_t spent = after->spent - before->spent, settled = after->settle_spent - before->settle_spent;
	uint64_t pecan = after->pecan_spent - before->pecan_spent, freed = after->free_spent - before->free_spent;
	uint64_t observed = after->observed_steps - before->observed_steps, judged = after->judged - before->judged;
	uint64_t checked = after->checked - before->checked, shortened = after->shortened - before->shortened;
	if (spent_as_much(c, before)) {
		c->exhausted = after->exhausted;
		c->settle_exhausted = after->settle_exhausted;
		c->pecan_exhausted = after->pecan_exhausted;
		c->free_exhausted = after->free_exhausted;
		c->observed_exhausted = after->observed_exhausted;
		c->judged_exhausted = after->judged_exhausted;
		c->checked_exhausted = after->checked_exhausted;
		c->shortened_exhausted = after->shortened_exhausted;
	} else if (may_meet(c->observed_exhausted, after->observed_exhausted, c->observed_steps, observed, observed,
	                    bound(p, LIMIT_OBSERVED_STEPS_TOTAL)) ||
	           may_meet(c->exhausted, after->exhausted, c->spent, spent, room,
	                    bound(p, LIMIT_SEARCH_EVENTS_TOTAL)) ||
	           may_meet(c->settle_exhausted, after->settle_exhausted, c->settle_spent, settled, room,
	                    bound(p, LIMIT_SETTLE_EVENTS_TOTAL)) ||
	           may_meet(c->pecan_exhausted, after->pecan_exhausted, c->pecan_spent, pecan, pecan,
	                    budget_linear(p)) ||
	           may_meet(c->judged_exhausted, after->judged_exhausted, c->judged, judged, judged,
	                    bound(p, LIMIT_JUDGED_EVENTS_TOTAL)) ||
	           may_meet(c->checked_exhausted, after->checked_exhausted, c->checked, checked, checked,
	                    bound(p, LIMIT_CHECKED_EVENTS_TOTAL)) ||
	           may_meet(c->shortened_exhausted, after->shortened_exhausted, c->shortened, shortened, shortened,
	                    bound(p, LIMIT_SHORTENED_EVENTS_TOTAL)) ||
	           may_meet(c->free_exhausted, after->free_exhausted, c->free_spent, freed, freed, budget_free(p)))
		return false;
	c->asked += after->asked - before->asked;
	c->proved += after->proved - before->proved;
	c->refuted += after->refuted - before->refuted;
	c->undecided += after->undecided - before->undecided;
	c->with_uncertain += after->with_uncertain - before->with_uncertain;
	for (int i = 0; i < WITNESS_KINDS; i++) {
		c->built[i] += after->built[i] - before->built[i];
		c->refused[i] += after->refused[i] - before->refused[i];
	}
	c->rejected += after->rejected - before->rejected;
	c->spent += spent;
	c->settle_spent += settled;
	c->pecan_spent += pecan;
	c->pecan_ns += after->pecan_ns - before->pecan_ns;
	c->pecan_asked += after->pecan_asked - before->pecan_asked;
	c->free_spent += freed;
	c->observed_steps += observed;
	c->judged += judged;
	c->checked += checked;
	c->shortened += shortened;
	c->conditional += after->conditional - before->conditional;
	c->cut += after->cut - before->cut;
	c->instances_cut += after->instances_cut - before->instances_cut;
	c->precede_exhausted |= after->precede_exhausted;
	return true;
}
