/* What provers may spend, and what they have spent; see provers.h. */
#include "lib/prove/provers.h"

/* PECAN_TIMES: its schedules are as long as the trace, but an event of them costs less than one of a search: their
 * limit is that many total budgets. */
enum { BUDGET = 500000, TOTAL_BUDGET = 50000000, PECAN_TIMES = 2 };

uint64_t budget_linear(const struct provers *p)
{
	return p->options.total_budget * PECAN_TIMES;
}

void budget_init(struct provers *p, const struct prove_options *options)
{
	p->options.budget = options->budget ? options->budget : BUDGET;
	p->options.guess = options->guess;
	p->options.total_budget = options->total_budget ? options->total_budget : TOTAL_BUDGET;
	if (p->options.budget > p->options.total_budget)
		p->options.budget = p->options.total_budget;
	p->counts.budget = p->options.budget;
	p->counts.total_budget = p->options.total_budget;
	p->counts.linear_limit = budget_linear(p);
}

uint64_t budget_left(struct provers *p)
{
	uint64_t left = p->counts.spent < p->options.total_budget ? p->options.total_budget - p->counts.spent : 0;
	uint64_t spent = p->counts.spent - p->spent_before;
	uint64_t own = spent < p->options.budget ? p->options.budget - spent : 0;
	if (p->more_instances)
		own /= 2;
	/* Sticky: later verdicts must not depend on what skipped work would have cost. */
	p->counts.exhausted |= left < own;
	p->counts.cut |= !own;
	if (p->counts.exhausted || !own)
		reasons_add(&p->reasons, REASON_BUDGET);
	return p->counts.exhausted ? 0 : own;
}

bool provers_add(struct provers *p, const struct prove_counts *before, const struct prove_counts *after)
{
	struct prove_counts *c = &p->counts;
	uint64_t spent = after->spent - before->spent, pecan = after->pecan_spent - before->pecan_spent;
	uint64_t total = p->options.total_budget;
	bool spent_other = c->exhausted ? spent : after->exhausted || (spent && c->spent + p->options.budget > total);
	bool pecan_other =
	    c->pecan_exhausted ? pecan : after->pecan_exhausted || c->pecan_spent + pecan > budget_linear(p);
	uint64_t freed = after->free_spent - before->free_spent;
	bool free_other = freed && c->free_spent + freed > budget_linear(p);
	if (spent_other || pecan_other || free_other)
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
	c->pecan_spent += pecan;
	c->free_spent += freed;
	c->conditional += after->conditional - before->conditional;
	c->cut |= after->cut;
	c->free_exhausted |= after->free_exhausted;
	c->instances_cut |= after->instances_cut;
	return true;
}
