/* From candidates to verdicts; see prove.h. */
#include "lib/witness/prove.h"

#include "lib/witness/certain.h"
#include "lib/witness/search.h"
#include "lib/witness/updates.h"
#include "lib/witness/verify.h"

#include <stdlib.h>
#include <string.h>

enum { BUDGET = 2000000, TOTAL_BUDGET = 400000000 };

struct provers {
	const struct model *m;
	struct prove_options options;
	struct trf trf;
	struct search *search;
	struct judge *judge;
	struct certain *certain;
	/* The same with updates that decide nothing set free (updates.h); NULL if there are none. */
	uint8_t *updates;
	uint32_t update_count;
	struct trf loose_trf;
	struct search *loose;
	struct prove_counts counts;
};

void provers_free(struct provers *p)
{
	if (!p)
		return;
	search_free(p->search);
	judge_free(p->judge);
	certain_free(p->certain);
	trf_release(&p->trf);
	search_free(p->loose);
	if (p->loose)
		trf_release(&p->loose_trf);
	free(p->updates);
	free(p);
}

static bool make_loose(struct provers *p, struct rt_error *err)
{
	p->updates = updates_find(p->m, &p->update_count);
	if (!p->updates || !p->update_count)
		return p->updates;
	if (trf_compute(p->m, p->updates, &p->loose_trf, err))
		return false;
	p->loose = search_create(p->m, &p->loose_trf, p->updates);
	if (!p->loose)
		trf_release(&p->loose_trf);
	return p->loose;
}

struct provers *provers_create(const struct model *m, bool exact, const struct prove_options *options,
                               struct rt_error *err)
{
	struct provers *p = calloc(1, sizeof *p);
	if (p && trf_compute(m, NULL, &p->trf, err)) {
		free(p);
		return NULL;
	}
	if (p) {
		p->m = m;
		p->options.budget = options->budget ? options->budget : BUDGET;
		p->options.total_budget = options->total_budget ? options->total_budget : TOTAL_BUDGET;
		p->counts.budget = p->options.budget;
		p->counts.total_budget = p->options.total_budget;
		p->search = search_create(m, &p->trf, NULL);
		p->judge = judge_create(m);
		p->certain = certain_create(m, exact, err);
		if (p->search && p->judge && p->certain && make_loose(p, err))
			return p;
		provers_free(p);
	}
	rt_error_set(err, RT_EMEMORY, "no memory to prove what was found");
	return NULL;
}

const struct trf *provers_needs(const struct provers *p)
{
	return p->loose ? &p->loose_trf : &p->trf;
}

const struct prove_counts *provers_counts(const struct provers *p)
{
	return &p->counts;
}

/* Might what was refuted be possible if updates that decide nothing could see any write? */
static bool only_updates_forbid(struct provers *p, const struct goal *goal)
{
	if (!p->loose)
		return false;
	struct schedule schedule = {0};
	uint64_t spent;
	bool possible = search_goal(p->loose, goal, p->options.budget, &schedule, &spent) != SEARCH_NONE;
	p->counts.spent += spent;
	schedule_release(&schedule);
	return possible;
}

/* A prover builds a schedule for a goal, or says that there is none. */
static enum search_answer exhaustive(struct provers *p, const struct goal *goal, struct schedule *out)
{
	uint64_t left = p->counts.spent < p->options.total_budget ? p->options.total_budget - p->counts.spent : 0,
	         spent;
	uint64_t budget = left < p->options.budget ? left : p->options.budget;
	if (!left) {
		p->counts.exhausted = true;
		return SEARCH_GAVE_UP;
	}
	enum search_answer answer = search_goal(p->search, goal, budget, out, &spent);
	p->counts.spent += spent;
	return answer;
}

static const struct {
	enum witness_kind kind;
	enum search_answer (*build)(struct provers *p, const struct goal *goal, struct schedule *out);
} provers[] = {
    {WITNESS_EXHAUSTIVE, exhaustive},
};

/* What is known of one instance so far. */
struct outcome {
	enum search_answer answer;
	enum witness_kind kind;
	struct schedule schedule;
	uint32_t leans, lean;
};

static enum rt_status decide_instance(struct provers *p, const struct goal *goal, struct outcome *o,
                                      struct rt_error *err)
{
	memset(o, 0, sizeof *o);
	o->answer = SEARCH_GAVE_UP;
	for (size_t i = 0; i < sizeof provers / sizeof *provers && o->answer == SEARCH_GAVE_UP; i++) {
		struct schedule schedule = {0};
		enum search_answer answer = provers[i].build(p, goal, &schedule);
		if (answer == SEARCH_NO_MEMORY) {
			schedule_release(&schedule);
			return rt_error_set(err, RT_EMEMORY, "no memory to search for a witness");
		}
		struct verdict_of_judge v = {VERIFY_NONE};
		if (answer == SEARCH_FOUND)
			judge_verify(p->judge, &schedule, goal, &v);
		if (v.fault) {
			/* A witness that the judge refuses is dropped, counted, and proves nothing either way. */
			p->counts.rejected++;
			answer = SEARCH_GAVE_UP;
		}
		o->answer = answer;
		if (answer != SEARCH_FOUND) {
			schedule_release(&schedule);
			continue;
		}
		o->kind = provers[i].kind;
		o->schedule = schedule;
		o->leans = certain_leans(p->certain, &schedule, goal->events, goal->count, &o->lean);
	}
	if (o->answer == SEARCH_NONE && only_updates_forbid(p, goal))
		o->answer = SEARCH_GAVE_UP;
	return RT_OK;
}

/* Makes the instance with this outcome the anomaly's own. */
static enum rt_status adopt(struct anomaly *a, const struct goal *goal, struct outcome *o, struct rt_error *err)
{
	if (!a->schedule && !(a->schedule = calloc(1, sizeof *a->schedule)))
		return rt_error_set(err, RT_EMEMORY, "no memory for a schedule");
	schedule_release(a->schedule);
	*a->schedule = o->schedule;
	o->schedule = (struct schedule){0};
	a->leans = o->leans;
	a->lean = o->lean;
	memcpy(a->events, goal->events, a->event_count * sizeof *a->events);
	if (a->verdict == VERDICT_OBSERVED)
		return RT_OK;
	a->witness = o->kind;
	if (!o->leans)
		a->verdict = VERDICT_PROVED;
	return RT_OK;
}

/* Instance i of an anomaly: 0 is its own, the others follow. */
static struct goal instance(const struct anomaly *a, uint32_t i)
{
	struct goal goal = goal_of(a);
	if (i)
		memcpy(goal.events, a->others + (size_t)(i - 1) * a->event_count, a->event_count * sizeof *goal.events);
	return goal;
}

enum rt_status provers_decide(struct provers *p, struct anomaly *a, struct rt_error *err)
{
	bool observed = a->verdict == VERDICT_OBSERVED,
	     all_refuted = a->count - a->ruled_out <= 1 + (uint64_t)a->other_count;
	uint32_t instances = observed ? 1 : 1 + a->other_count;
	const struct anomaly asked = *a;
	p->counts.asked += !observed;
	for (uint32_t i = 0; i < instances && (!i || a->verdict == VERDICT_PREDICTED); i++) {
		struct goal goal = instance(&asked, i);
		struct outcome o;
		enum rt_status status = decide_instance(p, &goal, &o, err);
		all_refuted &= o.answer == SEARCH_NONE;
		/* The first witness that leans on nothing is the one wanted; until then, any. */
		if (!status && o.answer == SEARCH_FOUND && (!a->schedule || !o.leans))
			status = adopt(a, &goal, &o, err);
		schedule_release(&o.schedule);
		if (status)
			return status;
	}
	if (observed)
		return RT_OK;
	if (all_refuted)
		a->verdict = VERDICT_REFUTED;
	p->counts.proved += a->verdict == VERDICT_PROVED;
	p->counts.refuted += a->verdict == VERDICT_REFUTED;
	p->counts.undecided += a->verdict == VERDICT_PREDICTED && !a->schedule;
	p->counts.leaning += a->verdict == VERDICT_PREDICTED && a->schedule;
	return RT_OK;
}
