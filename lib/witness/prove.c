/* From candidates to verdicts; see prove.h. */
#include "lib/witness/prove.h"

#include "lib/order/syncp.h"
#include "lib/trace/vec.h"
#include "lib/witness/certain.h"
#include "lib/witness/conditional.h"
#include "lib/witness/pecan.h"
#include "lib/witness/precede.h"
#include "lib/witness/shorten.h"
#include "lib/witness/states.h"
#include "lib/witness/updates.h"
#include "lib/witness/verify.h"

/* MANY instances are looked at in any case. PECAN_TIMES: its schedules are as long as the trace, but an event of them
 * costs less than one of a search, so they may have so many times the total budget. */
enum { MANY = 33, BUDGET = 500000, TOTAL_BUDGET = 50000000, PECAN_TIMES = 2, PRECEDE_TIMES = 4 };
/* What reads would have to see is asked of so many instances, if it is more than one. */
enum { CONDITIONAL_TRIES = 8 };

struct provers {
	const struct model *m;
	struct prove_context context;
	struct prove_options options;
	uint64_t spent_before;  /* counts.spent when the candidate's turn came */
	bool more_instances;    /* the candidate has, behind the one that is looked at */
	struct reasons reasons; /* why it stays open, so far */
	struct searches searches;
	struct judge *judge;
	struct conditional conditional;
	uint8_t *updates; /* worked out when they are first asked for */
	struct certain *certain;
	struct shorten *shorten;
	struct precede precede;
	/* What provers_visit was asked about, sorted. */
	struct states_goal *visited;
	uint32_t visited_count, visited_capacity;
	struct prove_counts counts;
};

void provers_free(struct provers *p)
{
	if (!p)
		return;
	searches_release(&p->searches);
	conditional_release(&p->conditional);
	free(p->updates);
	judge_free(p->judge);
	certain_free(p->certain);
	shorten_free(p->shorten);
	precede_release(&p->precede);
	for (uint32_t i = 0; i < p->visited_count; i++)
		schedule_release(&p->visited[i].schedule);
	free(p->visited);
	free(p);
}

/* Of PECAN's schedules and sure ones, and of those in which reads are free. */
static uint64_t linear_limit(const struct provers *p)
{
	return p->options.total_budget * PECAN_TIMES;
}

struct provers *provers_create(const struct prove_context *context, const struct prove_options *options,
                               struct rt_error *err)
{
	const struct model *m = context->m;
	struct provers *p = calloc(1, sizeof *p);
	if (p) {
		p->m = m;
		p->context = *context;
		p->options.budget = options->budget ? options->budget : BUDGET;
		p->options.guess = options->guess;
		p->options.total_budget = options->total_budget ? options->total_budget : TOTAL_BUDGET;
		if (p->options.budget > p->options.total_budget)
			p->options.budget = p->options.total_budget;
		p->counts.budget = p->options.budget;
		p->counts.total_budget = p->options.total_budget;
		p->counts.state_limit = STATES_MAX;
		p->counts.linear_limit = linear_limit(p);
		p->counts.instances = MANY;
		p->precede.m = m;
		p->judge = judge_create(m);
		p->certain = certain_create(m, context->exact, err);
		p->shorten = shorten_create(m);
		p->conditional = (struct conditional){.searches = &p->searches, .por = context->por, .judge = p->judge};
		if (p->judge && p->certain && p->shorten && searches_init(&p->searches, m, err))
			return p;
		provers_free(p);
	}
	rt_error_set(err, RT_EMEMORY, "no memory to prove what was found");
	return NULL;
}

const struct trf *provers_needs(const struct provers *p)
{
	return searches_needs(&p->searches);
}

const struct prove_counts *provers_counts(const struct provers *p)
{
	return &p->counts;
}

bool provers_add(struct provers *p, const struct prove_counts *before, const struct prove_counts *after)
{
	struct prove_counts *c = &p->counts;
	uint64_t spent = after->spent - before->spent, pecan = after->pecan_spent - before->pecan_spent;
	uint64_t total = p->options.total_budget;
	bool spent_other = c->exhausted ? spent : after->exhausted || (spent && c->spent + p->options.budget > total);
	bool pecan_other =
	    c->pecan_exhausted ? pecan : after->pecan_exhausted || c->pecan_spent + pecan > linear_limit(p);
	uint64_t freed = after->free_spent - before->free_spent;
	bool free_other = freed && c->free_spent + freed > linear_limit(p);
	if (spent_other || pecan_other || free_other)
		return false;
	c->asked += after->asked - before->asked;
	c->proved += after->proved - before->proved;
	c->refuted += after->refuted - before->refuted;
	c->undecided += after->undecided - before->undecided;
	c->leaning += after->leaning - before->leaning;
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

/*
 * What a search may spend on one goal; 0: the budget ran out. While a candidate has more instances, one of them may
 * have half of what is left to it.
 */
static uint64_t budget_left(struct provers *p)
{
	uint64_t left = p->counts.spent < p->options.total_budget ? p->options.total_budget - p->counts.spent : 0;
	uint64_t spent = p->counts.spent - p->spent_before;
	uint64_t own = spent < p->options.budget ? p->options.budget - spent : 0;
	if (p->more_instances)
		own /= 2;
	/* Once and for all, so that what is asked later does not depend on what it would have cost. */
	p->counts.exhausted |= left < own;
	p->counts.cut |= !own;
	if (p->counts.exhausted || !own)
		reasons_add(&p->reasons, REASON_BUDGET);
	return p->counts.exhausted ? 0 : own;
}

/* Saturates and linearises. A cycle by reads-from does not refute where values may allow it. */
static enum search_answer close_with(struct provers *p, struct search *search, const struct goal *goal,
                                     struct schedule *out)
{
	uint64_t budget = budget_left(p), spent;
	if (!budget)
		return SEARCH_GAVE_UP;
	enum search_answer answer = search_closure(search, goal, budget, out, &spent);
	p->counts.spent += spent;
	return answer == SEARCH_NONE && p->searches.values.any ? SEARCH_GAVE_UP : answer;
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
		p->counts.cut |= true;
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
	uint64_t length = 0;
	for (uint32_t i = 0; i < goal->count; i++)
		length = goal->events[i] >= length ? goal->events[i] + UINT64_C(1) : length;
	p->counts.pecan_exhausted |= p->counts.pecan_spent + length > linear_limit(p);
	if (p->counts.pecan_exhausted)
		return SEARCH_GAVE_UP;
	p->counts.pecan_spent += length;
	return pecan_schedule(p->context.por, goal, out) ? SEARCH_FOUND : SEARCH_NO_MEMORY;
}

static int compare_goals(const void *a, const void *b)
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
		g = bsearch(goal, p->visited, p->visited_count, sizeof *p->visited, compare_goals);
	if (!g)
		return SEARCH_GAVE_UP;
	if (!g->met)
		return p->counts.all ? SEARCH_NONE : SEARCH_GAVE_UP;
	*out = g->schedule;
	out->steps = malloc((size_t)out->count * sizeof *out->steps + 1);
	if (!out->steps)
		return SEARCH_NO_MEMORY;
	memcpy(out->steps, g->schedule.steps, out->count * sizeof *out->steps);
	return SEARCH_FOUND;
}

/* The sync-preserving ideal, its events in the order of the trace. */
static enum search_answer syncp(struct provers *p, const struct goal *goal, struct schedule *out)
{
	if (!*p->context.syncp || goal->kind == GOAL_SEQUENCE)
		return SEARCH_GAVE_UP;
	const uint32_t *ideal = syncp_ideal(*p->context.syncp, goal->events, goal->count);
	if (!ideal)
		return SEARCH_GAVE_UP;
	return schedule_push_recorded(out, p->m, ideal, p->m->event_count) ? SEARCH_FOUND : SEARCH_NO_MEMORY;
}

/* A witness whichever write the racy reads saw. */
static enum search_answer sure(struct provers *p, const struct goal *goal, struct schedule *out)
{
	uint64_t spent, limit = linear_limit(p);
	if (p->context.exact || p->counts.pecan_exhausted)
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
	bool observed; /* for what the recorded run shows only */
	bool promises; /* what it builds is a witness; else it may be none */
	bool dear;     /* asked when the others have been about every instance */
	bool sure;     /* there is one whichever write the racy reads saw */
} provers[] = {
    {WITNESS_RECORDED, recorded, .observed = true},
    {WITNESS_EXHAUSTIVE, visited, .promises = true},
    {WITNESS_CLOSURE, needed, .promises = true},
    {WITNESS_CLOSURE, preceded, .promises = true},
    {WITNESS_PECAN, pecan, .promises = false},
    {WITNESS_SYNCP, syncp, .promises = true},
    {WITNESS_SYNCP, sure, .promises = true, .sure = true},
    {WITNESS_CLOSURE, closure, .promises = true},
    {WITNESS_EXHAUSTIVE, exhaustive, .promises = true, .dear = true},
};

enum { RECORDED }; /* index of the first */

/* What is known of one instance so far. */
struct outcome {
	enum search_answer answer;
	enum witness_kind kind;
	struct schedule schedule;
	uint32_t leans, lean, substitutes, substitute;
};

/* Makes a witness shorter, if the judge agrees. False without memory. */
static bool shorten(struct provers *p, const struct goal *goal, struct schedule *schedule, struct verdict_of_judge *v)
{
	struct schedule shorter = {0};
	struct verdict_of_judge again;
	enum search_answer answer = shorten_schedule(p->shorten, schedule, goal, &shorter);
	if (answer != SEARCH_FOUND)
		return answer != SEARCH_NO_MEMORY;
	judge_verify(p->judge, &shorter, goal, &again);
	p->counts.rejected += again.fault != VERIFY_NONE;
	if (!again.fault) {
		struct schedule longer = *schedule;
		*schedule = shorter;
		shorter = longer;
		*v = again;
	}
	schedule_release(&shorter);
	return true;
}

/* Judges what prover i built and keeps it if it is the best so far: it leans on fewest reads. */
static enum search_answer judge_built(struct provers *p, size_t i, const struct goal *goal, struct schedule *schedule,
                                      struct outcome *o)
{
	struct verdict_of_judge v;
	judge_verify(p->judge, schedule, goal, &v);
	p->counts.built[provers[i].kind]++;
	if (v.fault) {
		/* A witness that the judge refuses is dropped, counted, and proves nothing either way. */
		p->counts.refused[provers[i].kind]++;
		p->counts.rejected += provers[i].promises;
		return SEARCH_GAVE_UP;
	}
	uint32_t lean = MODEL_NONE, leans = 0;
	if (!provers[i].sure) {
		if (!shorten(p, goal, schedule, &v))
			return SEARCH_NO_MEMORY;
		leans = certain_leans(p->certain, schedule, goal->events, goal->count, &lean);
	}
	if (o->answer != SEARCH_FOUND || leans < o->leans) {
		schedule_release(&o->schedule);
		o->schedule = *schedule;
		*schedule = (struct schedule){0};
		o->kind = provers[i].kind;
		o->leans = leans;
		o->lean = lean;
		o->substitutes = v.substitutes;
		o->substitute = v.substitute;
	}
	return SEARCH_FOUND;
}

/* Which provers are asked. */
enum asked { CHEAP = 1, DEAR = 2 };

/* Asks the provers in turn, until one refutes or has a witness that leans on nothing. */
static enum rt_status decide_instance(struct provers *p, const struct goal *goal, bool observed, unsigned asked,
                                      struct outcome *o, struct rt_error *err)
{
	memset(o, 0, sizeof *o);
	o->answer = SEARCH_GAVE_UP;
	for (size_t i = 0; i < sizeof provers / sizeof *provers; i++) {
		struct schedule schedule = {0};
		if ((provers[i].observed && !observed) || !(asked & (provers[i].dear ? DEAR : CHEAP)))
			continue;
		enum search_answer answer = provers[i].build(p, goal, &schedule);
		if (answer == SEARCH_FOUND)
			answer = judge_built(p, i, goal, &schedule, o);
		schedule_release(&schedule);
		if (answer == SEARCH_NO_MEMORY)
			return rt_error_set(err, RT_EMEMORY, "no memory to search for a witness");
		if (answer != SEARCH_GAVE_UP && o->answer != SEARCH_FOUND)
			o->answer = answer;
		if (o->answer == SEARCH_NONE || (o->answer == SEARCH_FOUND && (!o->leans || observed)))
			break;
	}
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
	a->substitutes = o->substitutes;
	a->substitute = o->substitute;
	memcpy(a->events, goal->events, a->event_count * sizeof *a->events);
	if (a->verdict == VERDICT_OBSERVED)
		return RT_OK;
	a->witness = o->kind;
	if (o->leans)
		reasons_add(&a->reasons, REASON_RACY_READ);
	if (!o->leans && !a->reasons.capped)
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

/* Keeps the goal to be looked for in every state, unless what it needs refutes it. */
static bool keep_goal(struct provers *p, const struct goal *goal)
{
	struct schedule none = {0};
	if (goal->kind == GOAL_SEQUENCE || needed(p, goal, &none) == SEARCH_NONE)
		return true;
	if (!vec_reserve(&p->visited, &p->visited_capacity, (uint64_t)p->visited_count + 1, sizeof *p->visited))
		return false;
	p->visited[p->visited_count++] = (struct states_goal){.goal = *goal};
	return true;
}

/* One visit: reads see what they saw; or, with values, what is like it. */
static enum search_answer visit(struct provers *p, const struct trf *trf, const struct values *values)
{
	struct states_limits limits = {p->options.total_budget, STATES_MAX};
	struct states_count counts;
	enum search_answer answer = states_visit(p->m, trf, values, &limits, p->visited, p->visited_count, &counts);
	p->counts.states += counts.states;
	return answer;
}

enum rt_status provers_visit(struct provers *p, const struct anomaly_list *list, struct rt_error *err)
{
	bool ok = true;
	for (size_t i = 0; ok && i < list->count; i++) {
		const struct anomaly *a = &list->items[i];
		if (anomaly_is_birth(p->m, a))
			continue;
		for (uint32_t k = 0; ok && a->verdict == VERDICT_PREDICTED && k <= a->other_count; k++) {
			struct goal goal = instance(a, k);
			ok = keep_goal(p, &goal);
		}
	}
	if (ok && p->visited_count)
		qsort(p->visited, p->visited_count, sizeof *p->visited, compare_goals);
	enum search_answer answer = ok ? visit(p, &p->searches.strict.trf, NULL) : SEARCH_NO_MEMORY;
	/* What reads-from forbids, values may allow. */
	if (p->searches.valued.search && (answer == SEARCH_NONE || answer == SEARCH_GAVE_UP))
		answer = visit(p, &p->searches.valued.trf, &p->searches.values);
	p->counts.visited = true;
	p->counts.all = answer == SEARCH_FOUND || answer == SEARCH_NONE;
	return answer == SEARCH_NO_MEMORY ? rt_error_set(err, RT_EMEMORY, "no memory to visit every state") : RT_OK;
}

enum rt_status provers_precede(struct provers *p, const struct anomaly_list *list, struct rt_error *err)
{
	if (p->context.sync_only || p->searches.values.any)
		return RT_OK;
	for (size_t i = 0; i < list->count; i++) {
		const struct anomaly *a = &list->items[i];
		for (uint32_t k = 0; a->verdict == VERDICT_PREDICTED && k <= a->other_count; k++) {
			struct goal goal = instance(a, k);
			if (!precede_ask(&p->precede, &goal))
				return rt_error_set(err, RT_EMEMORY, "no memory to look for what comes first");
		}
	}
	uint64_t total = p->options.total_budget * PRECEDE_TIMES, budget = p->options.budget;
	p->counts.precede_exhausted = precede_find(&p->precede, p->searches.strict.search, budget, total) >= total;
	return RT_OK;
}

/*
 * Of many instances the first MANY are looked at: half of them are the first ones, which are near the threads' starts;
 * the others are spread over all.
 */
static void spread(struct anomaly *a)
{
	const uint32_t n = a->event_count, half = MANY / 2;
	for (uint32_t i = half; i < MANY && a->other_count > MANY; i++) {
		uint32_t to = half + (uint32_t)((uint64_t)(i - half) * (a->other_count - half) / (MANY - half));
		for (uint32_t k = 0; k < n; k++) {
			uint32_t other = a->others[(size_t)i * n + k];
			a->others[(size_t)i * n + k] = a->others[(size_t)to * n + k];
			a->others[(size_t)to * n + k] = other;
		}
	}
}

/* The candidate at hand. */
struct candidate {
	struct anomaly *anomaly;
	struct anomaly asked; /* as it came */
	uint32_t instances;
	uint32_t looked; /* instances that provers were asked about */
};

static bool is_open(const struct candidate *c)
{
	return c->anomaly->verdict == VERDICT_PREDICTED || !c->anomaly->schedule;
}

/* Asks about one instance. *refuted: so it is. */
static enum rt_status ask(struct provers *p, struct candidate *c, uint32_t i, unsigned asked, bool *refuted,
                          struct rt_error *err)
{
	struct anomaly *a = c->anomaly;
	struct goal goal = instance(&c->asked, i);
	struct outcome o;
	p->more_instances = i + 1 < c->instances;
	/* What follows from another race is in the recorded run, and yet that is no schedule with its events side by
	 * side. */
	bool recorded = a->verdict == VERDICT_OBSERVED && !a->follows;
	enum rt_status status = decide_instance(p, &goal, recorded, asked, &o, err);
	/* The first witness that leans on nothing is the one wanted; until then, any. */
	if (!status && o.answer == SEARCH_FOUND && (!a->schedule || !o.leans))
		status = adopt(a, &goal, &o, err);
	*refuted = o.answer == SEARCH_NONE;
	schedule_release(&o.schedule);
	return status;
}

/* Does one of its events need another one that is to come after it, or beside it? The searches have told such instances
 * apart (anomaly.ruled_out). */
static bool is_ruled_out(const struct provers *p, const struct goal *goal)
{
	const struct trf *needs = searches_needs(&p->searches);
	const struct model *m = p->m;
	for (uint32_t i = 0; i < goal->count; i++) {
		if (goal->kind == GOAL_SEQUENCE && goal_continues(goal, m, i))
			continue;
		uint32_t clock = trf_clock_before(needs, goal->events[i]), own = model_thread_of(m, goal->events[i]);
		for (uint32_t k = goal->kind == GOAL_SEQUENCE ? i + 1 : 0; k < goal->count; k++) {
			uint32_t thread = model_thread_of(m, goal->events[k]);
			if (thread != own && clock_get(&needs->clocks, clock, thread) > m->events[goal->events[k]].pos)
				return true;
		}
	}
	return false;
}

/* Are all its tuples among the instances, but for those that were ruled out? */
static bool is_whole(const struct provers *p, const struct candidate *c)
{
	uint64_t known = c->instances;
	if (c->asked.partial || c->asked.count - c->asked.ruled_out > known)
		return false;
	for (uint32_t i = 0; c->asked.ruled_out && i < c->instances; i++) {
		struct goal goal = instance(&c->asked, i);
		known -= is_ruled_out(p, &goal);
	}
	return c->asked.count - c->asked.ruled_out <= known;
}

/*
 * First the cheap provers about MANY instances, then the dear one about those of them that are open. If there are more,
 * these are asked about only to refute them all. *refuted: all are, and no others are known of.
 */
static enum rt_status decide(struct provers *p, struct candidate *c, bool *refuted, struct rt_error *err)
{
	bool each[MANY] = {false};
	uint32_t many = c->instances < MANY ? c->instances : MANY;
	enum rt_status status = RT_OK;
	*refuted = is_whole(p, c);
	for (; c->looked < many && is_open(c) && !status; c->looked++)
		status = ask(p, c, c->looked, CHEAP, &each[c->looked], err);
	for (uint32_t i = 0; i < many && is_open(c) && !status; i++) {
		if (!each[i])
			status = ask(p, c, i, DEAR, &each[i], err);
		*refuted &= each[i];
	}
	for (; c->looked < c->instances && is_open(c) && *refuted && !status; c->looked++)
		status = ask(p, c, c->looked, CHEAP | DEAR, refuted, err);
	return status;
}

/* Keeps what shows the instance with other reads, if these are fewer than those kept, or updates. */
static enum rt_status adopt_conditional(struct provers *p, struct anomaly *a, const struct goal *goal, bool updates,
                                        struct schedule *schedule, struct rt_error *err)
{
	const struct judge_reads *reads = &p->conditional.reads;
	const uint32_t count = reads->count < ANOMALY_NEEDS_MAX ? reads->count : ANOMALY_NEEDS_MAX;
	if (a->need_count && reads->count >= a->need_total && !updates)
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

/* Does the schedule that was found need updates alone to see another write? */
static enum rt_status only_updates(struct provers *p, const struct goal *goal, const struct schedule *schedule,
                                   bool *only, struct rt_error *err)
{
	const struct judge_reads *reads = &p->conditional.reads;
	if (!p->updates && !(p->updates = updates_find(p->m)))
		return rt_error_set(err, RT_EMEMORY, "no memory to search for a witness");
	*only = updates_are_all(p->updates, p->m, goal, schedule, reads->events, reads->count);
	return RT_OK;
}

/*
 * What has no witness is possible if reads see other writes, or refuted. Asks about one instance after the other until
 * that is known; of the first ones the one with fewest reads is kept. If these are updates that decide nothing it stays
 * predicted.
 */
static enum rt_status decide_conditional(struct provers *p, struct candidate *c, struct rt_error *err)
{
	struct anomaly *a = c->anomaly;
	bool refuted = !a->partial && a->count <= c->instances, updates = false;
	enum rt_status status = RT_OK;
	for (uint32_t i = 0; i < c->instances && !status && !updates; i++) {
		struct goal goal = instance(&c->asked, i);
		struct schedule schedule = {0};
		uint64_t spent;
		if (a->need_count && i >= CONDITIONAL_TRIES)
			break;
		enum search_answer answer =
		    conditional_goal(&p->conditional, &goal, budget_left(p), linear_limit(p), &schedule, &spent);
		p->counts.spent += spent;
		p->counts.free_spent = p->conditional.spent;
		p->counts.free_exhausted |= p->conditional.spent >= linear_limit(p);
		if (answer == SEARCH_NO_MEMORY)
			status = rt_error_set(err, RT_EMEMORY, "no memory to search for a witness");
		else if (answer == SEARCH_FOUND && !p->conditional.reads.count)
			p->counts.rejected++; /* a witness after all */
		else if (answer == SEARCH_FOUND && !(status = only_updates(p, &goal, &schedule, &updates, err)))
			status = adopt_conditional(p, a, &goal, updates, &schedule, err);
		refuted &= answer == SEARCH_NONE;
		schedule_release(&schedule);
	}
	if (updates)
		reasons_add(&p->reasons, REASON_UPDATES);
	else if (a->need_count)
		a->verdict = VERDICT_CONDITIONAL;
	else if (refuted)
		a->verdict = VERDICT_REFUTED;
	else
		reasons_add(&p->reasons, REASON_BUDGET);
	return status;
}

/* Why it stays predicted, as far as the provers know. */
static void give_reasons(struct provers *p, const struct candidate *c)
{
	struct anomaly *a = c->anomaly;
	uint64_t possible = c->asked.count - c->asked.ruled_out;
	a->reasons.set |= p->reasons.set;
	if (c->looked < possible) {
		reasons_add(&a->reasons, REASON_INSTANCES);
		p->counts.instances_cut = true;
		a->reasons.looked = c->looked;
		a->reasons.instances = possible;
	}
	if (a->partial)
		reasons_add(&a->reasons, REASON_WINDOW);
}

/* PECAN's schedule for what stays predicted, and what is wrong with it. */
static enum rt_status guess(struct provers *p, struct anomaly *a, struct rt_error *err)
{
	struct goal goal = goal_of(a);
	struct outcome o = {.kind = WITNESS_PECAN};
	struct verdict_of_judge v;
	if (!pecan_schedule(p->context.por, &goal, &o.schedule)) {
		schedule_release(&o.schedule);
		return rt_error_set(err, RT_EMEMORY, "no memory for a schedule");
	}
	judge_verify(p->judge, &o.schedule, &goal, &v);
	/* It may be right, if PECAN's prover had no budget left. A schedule that is not leans on everything. */
	o.leans = v.fault ? 1 : certain_leans(p->certain, &o.schedule, goal.events, goal.count, &o.lean);
	o.substitutes = v.substitutes;
	o.substitute = v.substitute;
	enum rt_status status = adopt(a, &goal, &o, err);
	schedule_release(&o.schedule);
	if (!status && v.fault) {
		a->guess = verify_fault_text(v.fault);
		a->witness = WITNESS_NONE;
		a->leans = a->substitutes = 0;
	}
	return status;
}

static bool judge_knows_waits(const struct model *m, const struct goal *goal)
{
	for (uint32_t i = 0; i < goal->count; i++) {
		uint32_t op = model_arg(m, goal->events[i]);
		if (op != RT_OP_ACQUIRE && op != RT_OP_ACQUIRE_SHARED && op != RT_OP_JOIN && op != RT_OP_ONCE_SEEN)
			return false;
	}
	return true;
}

/* What the trace ends with. The recorded run is its schedule, where the judge knows what the threads wait for. */
static enum rt_status decide_stuck(struct provers *p, struct anomaly *a, struct rt_error *err)
{
	struct goal goal = goal_of(a);
	struct schedule schedule = {0};
	struct outcome o = {.answer = SEARCH_GAVE_UP};
	if (a->kind != ANOMALY_DEADLOCK || !judge_knows_waits(p->m, &goal))
		return RT_OK;
	enum search_answer answer = recorded(p, &goal, &schedule);
	if (answer == SEARCH_FOUND)
		answer = judge_built(p, RECORDED, &goal, &schedule, &o);
	schedule_release(&schedule);
	if (answer == SEARCH_NO_MEMORY)
		return rt_error_set(err, RT_EMEMORY, "no memory for a schedule");
	return answer == SEARCH_FOUND ? adopt(a, &goal, &o, err) : RT_OK;
}

enum rt_status provers_decide(struct provers *p, struct anomaly *a, struct rt_error *err)
{
	bool observed = a->verdict == VERDICT_OBSERVED, refuted;
	spread(a);
	struct candidate c = {.anomaly = a, .asked = *a, .instances = observed ? 1 : 1 + a->other_count};
	if (anomaly_is_birth(p->m, a)) {
		reasons_add(&a->reasons, REASON_ALLOCATION);
		return RT_OK;
	}
	if (anomaly_is_stuck(p->m, a))
		return decide_stuck(p, a, err);
	p->counts.asked += !observed;
	/* What orders the threads may be what was not recorded. */
	if (p->context.sync_only && !observed) {
		reasons_add(&a->reasons, REASON_SYNC_ONLY);
		return RT_OK;
	}
	p->spent_before = p->counts.spent;
	p->reasons.set = 0;
	enum rt_status status = decide(p, &c, &refuted, err);
	if (!status && !observed && refuted && is_open(&c) && !a->schedule)
		status = decide_conditional(p, &c, err);
	if (status || observed)
		return status;
	if (a->verdict == VERDICT_PREDICTED)
		give_reasons(p, &c);
	if (p->options.guess && a->verdict == VERDICT_PREDICTED && !a->schedule && (status = guess(p, a, err)))
		return status;
	p->counts.proved += a->verdict == VERDICT_PROVED;
	p->counts.refuted += a->verdict == VERDICT_REFUTED;
	p->counts.conditional += a->verdict == VERDICT_CONDITIONAL;
	p->counts.undecided += a->verdict == VERDICT_PREDICTED && (!a->schedule || a->guess);
	p->counts.leaning += a->verdict == VERDICT_PREDICTED && a->schedule && !a->guess;
	return RT_OK;
}
