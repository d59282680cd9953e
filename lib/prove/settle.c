/*
 * What no witness has while reads see what they saw is possible if they see other writes, or refuted: of that the
 * verdict `conditional` says no more than it knows. See prove.h.
 */
#include "lib/prove/provers.h"

#include "lib/prove/updates.h"
#include "lib/relation/sync.h"

#include <stdlib.h>
#include <string.h>

/* Instances of which the one with fewest reads is kept; fewer reads than this end the search. */
enum { TRIES = 8, FEW_READS = 4 };

/* Keeps what shows the instance with other reads, if these are fewer than those kept, or milder. */
static enum rt_status adopt_conditional(struct provers *p, struct anomaly *a, const struct goal *goal, bool milder,
                                        struct schedule *schedule, struct rt_error *err)
{
	const struct judge_reads *reads = &p->conditional.reads;
	const uint32_t count = reads->count < ANOMALY_NEEDS_MAX ? reads->count : ANOMALY_NEEDS_MAX;
	if (a->need_count && reads->count >= a->need_total && !milder)
		return RT_OK;
	uint32_t *needs = malloc(((size_t)count + 1) * sizeof *needs);
	if (!needs || (!a->schedule && !(a->schedule = calloc(1, sizeof *a->schedule)))) {
		free(needs);
		return rt_error_set(err, RT_EMEMORY, "no memory for a schedule");
	}
	memcpy(needs, reads->events, count * sizeof *needs);
	free(a->needs);
	a->needs = needs;
	a->need_count = count;
	a->need_total = reads->count;
	memcpy(a->events, goal->events, a->event_count * sizeof *a->events);
	schedule_release(a->schedule);
	*a->schedule = *schedule;
	*schedule = (struct schedule){0};
	return RT_OK;
}

/* *only: updates alone need to see another write in the schedule that was found. */
static enum rt_status only_updates(struct provers *p, const struct goal *goal, const struct schedule *schedule,
                                   bool *only, struct rt_error *err)
{
	const struct judge_reads *reads = &p->conditional.reads;
	if (!p->updates && !(p->updates = updates_find(p->m)))
		return rt_error_set(err, RT_EMEMORY, "no memory to search for a witness");
	*only = updates_are_all(p->updates, p->m, goal, schedule, reads->events, reads->count);
	return RT_OK;
}

/* Why it is predicted after all, in this instance. */
struct milder {
	bool racy_reads; /* racing reads would have to see other writes */
	bool updates;    /* updates alone would have to see other writes */
	bool own_reads;  /* its own reads alone would, right before its next event */
	bool proved;     /* the judge knows that updates alone would, and that nothing depends on them */
};

static bool is_milder(const struct milder *m)
{
	return m->racy_reads || m->updates || m->own_reads || m->proved;
}

static enum search_answer own_reads(struct provers *p, const struct goal *goal, struct schedule *schedule)
{
	uint64_t spent;
	enum search_answer answer = conditional_own_reads(&p->conditional, goal, budget_left(p), schedule, &spent);
	p->counts.settle_spent += spent;
	return answer;
}

/* True if the judge takes the schedule for a witness as it is. */
static bool is_witness(struct provers *p, const struct goal *goal, const struct schedule *schedule)
{
	struct verdict_of_judge v;
	uint32_t first;
	/* The judge first: it mostly refuses it, and does not look at each read. */
	judge_verify(p->judge, schedule, goal, &v);
	return !v.fault && budget_judges(p) && !instance_count_uncertain(p, goal, schedule, &first);
}

/* Asks about one instance. */
static enum rt_status settle_instance(struct provers *p, struct anomaly *a, const struct goal *goal,
                                      enum search_answer *answer, struct milder *milder, struct rt_error *err)
{
	struct conditional *c = &p->conditional;
	struct schedule schedule = {0};
	enum rt_status status = RT_OK;
	uint64_t spent, refused = c->refused, looked = searches_looked(&p->searches);
	c->spent = p->counts.free_spent;
	*answer = own_reads(p, goal, &schedule);
	milder->own_reads = *answer == SEARCH_FOUND;
	if (*answer == SEARCH_NONE || *answer == SEARCH_GAVE_UP) {
		*answer = conditional_goal(c, goal, budget_left(p), budget_free(p), &schedule, &spent);
		p->counts.settle_spent += spent;
	}
	budget_check(p, searches_looked(&p->searches) - looked);
	p->counts.rejected += c->refused - refused;
	p->counts.free_spent = c->spent;
	p->counts.free_exhausted |= c->spent >= budget_free(p);
	if (*answer == SEARCH_NO_MEMORY)
		status = rt_error_set(err, RT_EMEMORY, "no memory to search for a witness");
	else if (*answer == SEARCH_FOUND && !(status = only_updates(p, goal, &schedule, &milder->updates, err))) {
		milder->proved = c->reads.count && is_witness(p, goal, &schedule);
		/* Units of work of which racing reads are a part are listed as these races. */
		milder->racy_reads = goal->kind == GOAL_RACE && updates_or_racy_reads(p->certain, p->m, &schedule,
		                                                                      c->reads.events, c->reads.count);
		status = adopt_conditional(p, a, goal, is_milder(milder), &schedule, err);
	}
	schedule_release(&schedule);
	return status;
}

/* Of the anomaly nothing needs to be said but its schedule. */
static void prove(struct provers *p, struct anomaly *a)
{
	if (!judge_prove(p->judge, a))
		return;
	free(a->needs);
	a->needs = NULL;
	a->need_count = a->need_total = 0;
	a->witness = WITNESS_EXHAUSTIVE;
	p->counts.proved++;
}

/* Asks about one instance after the other until it is known what reads would have to see. */
enum rt_status provers_settle(struct provers *p, struct anomaly *a, struct rt_error *err)
{
	const struct anomaly asked = *a;
	const uint32_t instances = 1 + a->other_count;
	bool refuted = !a->partial && a->count <= instances && !sync_may_exceed(p->m), witness = false;
	struct milder milder = {false, false, false, false};
	enum rt_status status = RT_OK;
	if (a->verdict != VERDICT_CONDITIONAL)
		return RT_OK;
	budget_begin(p, a, true);
	p->more_instances = false;
	for (uint32_t i = 0; i < instances && !status && !is_milder(&milder) && !witness; i++) {
		struct goal goal = goal_of_instance(&asked, i);
		enum search_answer answer;
		if (a->need_count && (i >= TRIES || a->need_total <= FEW_READS))
			break;
		if (!budget_checks(p)) {
			refuted = false;
			break;
		}
		status = settle_instance(p, a, &goal, &answer, &milder, err);
		witness = !status && answer == SEARCH_FOUND && !p->conditional.reads.count;
		refuted &= answer == SEARCH_NONE;
	}
	/* A prover said that there is none: an error of it, and no verdict may rest on that. */
	p->counts.rejected += witness;
	if (milder.proved)
		prove(p, a);
	if (a->verdict == VERDICT_PROVED)
		return status;
	milder.proved = false;
	if (witness || is_milder(&milder)) {
		a->verdict = VERDICT_PREDICTED;
		reasons_add(&a->reasons, milder.updates      ? REASON_UPDATES
		                         : milder.own_reads  ? REASON_OWN_READ
		                         : milder.racy_reads ? REASON_RACY_READ
		                                             : REASON_BUDGET);
	} else if (refuted) {
		a->verdict = VERDICT_REFUTED;
	}
	p->counts.refuted += a->verdict == VERDICT_REFUTED;
	p->counts.conditional += a->verdict == VERDICT_CONDITIONAL;
	p->counts.undecided += a->verdict == VERDICT_PREDICTED;
	return status;
}
