/* From candidates to verdicts; see prove.h. */
#include "lib/prove/provers.h"

#include "lib/base/vec.h"
#include "lib/prove/needs.h"
#include "lib/prove/pecan.h"
#include "lib/prove/whole.h"

/* Number of instances that are looked at in any case; and of those, where each is refuted and others are not known. */
enum { MANY = LIMIT_INSTANCES_MAX, MANY_REFUTED = 8 * MANY };

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

struct provers *provers_create(const struct prove_context *context, const struct prove_options *options,
                               struct rt_error *err)
{
	const struct model *m = context->facts->m;
	struct provers *p = calloc(1, sizeof *p);
	if (p) {
		p->m = m;
		p->context = *context;
		p->options = *options;
		p->counts.made = true;
		p->whole = whole_always(m);
		p->precede.m = m;
		p->judge = judge_create(m);
		p->por = facts_por(context->facts);
		p->certain = certain_create(context->facts, context->exact);
		p->shorten = shorten_create(m);
		p->conditional = (struct conditional){.searches = &p->searches, .por = p->por, .judge = p->judge};
		uint32_t without_rule = p->judge ? judge_without_rule(p->judge) : MODEL_NONE;
		if (without_rule != MODEL_NONE) {
			judge_error(m, without_rule, err);
			provers_free(p);
			return NULL;
		}
		if (p->por && p->judge && p->certain && p->shorten && searches_init(&p->searches, context->facts, err))
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

/* Makes the instance with this outcome the anomaly's own. */
static enum rt_status adopt(struct provers *p, struct anomaly *a, const struct goal *goal, struct outcome *o,
                            struct rt_error *err)
{
	if (!a->schedule && !(a->schedule = calloc(1, sizeof *a->schedule)))
		return rt_error_set(err, RT_EMEMORY, "no memory for a schedule");
	schedule_release(a->schedule);
	*a->schedule = o->schedule;
	o->schedule = (struct schedule){0};
	a->uncertain = o->uncertain;
	a->first_uncertain = o->first_uncertain;
	a->substitutes = o->substitutes;
	a->substitute = o->substitute;
	memcpy(a->events, goal->events, a->event_count * sizeof *a->events);
	if (a->verdict == VERDICT_OBSERVED)
		return RT_OK;
	a->witness = o->kind;
	if (o->uncertain)
		reasons_add(&a->reasons, REASON_RACY_READ);
	judge_prove(p->judge, a);
	return RT_OK;
}

/* Keeps the goal to be looked for in every state, unless what it needs refutes it. */
static bool keep_goal(struct provers *p, const struct goal *goal)
{
	/* To reach a wait that is not signalled, some states are left out. */
	if (goal->kind == GOAL_SEQUENCE || goal_awaits_any(p->m, goal) || instance_refuted_by_needs(p, goal))
		return true;
	if (!vec_reserve(&p->visited, &p->visited_capacity, (uint64_t)p->visited_count + 1, sizeof *p->visited))
		return false;
	p->visited[p->visited_count++] = (struct states_goal){.goal = *goal};
	return true;
}

/* One visit: reads see what they saw; or, with values, what is like it. */
static enum search_answer visit(struct provers *p, const struct trf *trf, const struct values *values)
{
	struct states_limits limits = {p->context.limits->of[LIMIT_SEARCH_EVENTS_TOTAL],
	                               p->context.limits->of[LIMIT_SEARCH_STATES]};
	struct states_count counts;
	enum search_answer answer =
	    states_visit(p->context.facts, trf, values, &limits, p->visited, p->visited_count, &counts);
	p->counts.states += counts.states;
	return answer;
}

enum rt_status provers_visit(struct provers *p, const struct anomaly_list *list, struct rt_error *err)
{
	bool ok = true;
	for (size_t i = 0; ok && i < list->count; i++) {
		const struct anomaly *a = &list->items[i];
		if (anomaly_is_of_blocks(p->m, a))
			continue;
		for (uint32_t k = 0; ok && a->verdict == VERDICT_PREDICTED && k <= a->other_count; k++) {
			struct goal goal = goal_of_instance(a, k);
			ok = keep_goal(p, &goal);
		}
	}
	if (ok && p->visited_count)
		qsort(p->visited, p->visited_count, sizeof *p->visited, instance_compare);
	enum search_answer answer = ok ? visit(p, p->searches.strict.trf, NULL) : SEARCH_NO_MEMORY;
	/* What reads-from forbids, values may allow. */
	if (p->searches.valued.search && (answer == SEARCH_NONE || answer == SEARCH_GAVE_UP))
		answer = visit(p, p->searches.valued.trf, p->searches.values);
	p->counts.visited = true;
	p->counts.all = answer == SEARCH_FOUND || answer == SEARCH_NONE;
	return answer == SEARCH_NO_MEMORY ? rt_error_set(err, RT_EMEMORY, "no memory to visit every state") : RT_OK;
}

enum rt_status provers_precede(struct provers *p, const struct anomaly_list *list, struct rt_error *err)
{
	if (p->context.sync_only || searches_of_values(&p->searches))
		return RT_OK;
	for (size_t i = 0; i < list->count; i++) {
		const struct anomaly *a = &list->items[i];
		for (uint32_t k = 0; a->verdict == VERDICT_PREDICTED && k <= a->other_count; k++) {
			struct goal goal = goal_of_instance(a, k);
			if (!precede_ask(&p->precede, &goal))
				return rt_error_set(err, RT_EMEMORY, "no memory to look for what comes first");
		}
	}
	p->precede_open = true;
	return RT_OK;
}

void provers_precede_now(struct provers *p)
{
	if (!p->precede_open)
		return;
	p->precede_open = false;
	uint64_t total = p->context.limits->of[LIMIT_ORDER_EVENTS_TOTAL],
	         budget = p->context.limits->of[LIMIT_SEARCH_EVENTS];
	p->counts.precede_exhausted = precede_find(&p->precede, p->searches.strict.search, budget, total) >= total;
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
	bool admitted;   /* its schedule */
	bool refuted;    /* all that were looked at are */
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
	struct goal goal = goal_of_instance(&c->asked, i);
	struct outcome o;
	p->more_instances = i + 1 < c->instances;
	/* What follows from another race is in the recorded run, and yet that is no schedule with its events side by
	 * side. */
	bool recorded = a->verdict == VERDICT_OBSERVED && !a->follows;
	enum rt_status status = instance_decide(p, &goal, recorded, asked, &o, err);
	/* Keeps the first witness without uncertain reads that the judge admits; until there is one, any. */
	if (!status && o.answer == SEARCH_FOUND &&
	    (!a->schedule || o.admitted > c->admitted || (o.admitted == c->admitted && !o.uncertain))) {
		c->admitted = o.admitted;
		status = adopt(p, a, &goal, &o, err);
	}
	*refuted = o.answer == SEARCH_NONE;
	schedule_release(&o.schedule);
	return status;
}

/* True if one of its events needs another one that comes after it, or beside it. The searches have told such instances
 * apart (anomaly.ruled_out). */
static bool is_ruled_out(const struct provers *p, const struct goal *goal)
{
	const struct trf *needs = searches_needs(&p->searches);
	const struct model *m = p->m;
	for (uint32_t i = 0; i < goal->count; i++) {
		if (goal->kind == GOAL_SEQUENCE && goal_continues(goal, m, i))
			continue;
		uint32_t clock = needs_clock(needs, goal, i), own = model_thread_of(m, goal->events[i]);
		for (uint32_t k = goal->kind == GOAL_SEQUENCE ? i + 1 : 0; k < goal->count; k++) {
			uint32_t thread = model_thread_of(m, goal->events[k]);
			if (thread != own && clock_get(&needs->clocks, clock, thread) > m->events[goal->events[k]].pos)
				return true;
		}
	}
	return false;
}

/* True if all its tuples are among the instances, but for those that were ruled out. */
static bool is_whole(const struct provers *p, const struct candidate *c)
{
	uint64_t known = c->instances;
	if (c->asked.partial || c->asked.count - c->asked.ruled_out > known)
		return false;
	for (uint32_t i = 0; c->asked.ruled_out && i < c->instances; i++) {
		struct goal goal = goal_of_instance(&c->asked, i);
		goal.runs_on = true; /* as the searches do */
		known -= is_ruled_out(p, &goal);
	}
	return c->asked.count - c->asked.ruled_out <= known;
}

/*
 * First the cheap provers about MANY instances, then the expensive one about those of them that are open. If there are
 * more, these are asked about as long as each is refuted: all of them, or MANY_REFUTED if there are others anyway.
 * *refuted: all are, and no others are known of.
 */
static enum rt_status decide(struct provers *p, struct candidate *c, bool *refuted, struct rt_error *err)
{
	bool each[MANY] = {false}, whole = is_whole(p, c);
	uint32_t many = c->instances < MANY ? c->instances : MANY;
	uint32_t all = whole || c->instances < MANY_REFUTED ? c->instances : MANY_REFUTED;
	enum rt_status status = RT_OK;
	c->refuted = true;
	for (; c->looked < many && is_open(c) && !status; c->looked++)
		status = ask(p, c, c->looked, CHEAP, &each[c->looked], err);
	for (uint32_t i = 0; i < many && is_open(c) && !status; i++) {
		if (!each[i])
			status = ask(p, c, i, EXPENSIVE, &each[i], err);
		c->refuted &= each[i];
	}
	for (; c->looked < all && is_open(c) && c->refuted && !status; c->looked++)
		status = ask(p, c, c->looked, CHEAP | EXPENSIVE, &c->refuted, err);
	*refuted = whole && c->refuted;
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
		p->counts.instances_cut++;
		a->reasons.looked = c->looked;
		a->reasons.instances = possible;
	}
	if (a->partial)
		reasons_add(&a->reasons, REASON_WINDOW);
	if (c->refuted && !a->schedule)
		reasons_add(&a->reasons, REASON_OTHERS);
}

/* PECAN's schedule for what stays predicted, and what is wrong with it. */
static enum rt_status guess(struct provers *p, struct anomaly *a, struct rt_error *err)
{
	struct goal goal = goal_of(a);
	struct outcome o = {.kind = WITNESS_PECAN};
	struct verdict_of_judge v;
	uint64_t built;
	if (pecan_schedule(p->por, &goal, UINT64_MAX, &o.schedule, &built) == SEARCH_NO_MEMORY) {
		schedule_release(&o.schedule);
		return rt_error_set(err, RT_EMEMORY, "no memory for a schedule");
	}
	judge_verify(p->judge, &o.schedule, &goal, &v);
	/* It may be right, if PECAN's prover had no budget left. A schedule that is invalid counts as uncertain. */
	o.uncertain = v.fault ? 1 : instance_count_uncertain(p, &goal, &o.schedule, &o.first_uncertain);
	o.substitutes = v.substitutes;
	o.substitute = v.substitute;
	enum rt_status status = adopt(p, a, &goal, &o, err);
	schedule_release(&o.schedule);
	if (!status && v.fault) {
		a->guess = verify_fault_text(v.fault);
		a->witness = WITNESS_NONE;
		a->uncertain = a->substitutes = 0;
	}
	return status;
}

static bool judge_knows_waits(const struct model *m, const struct goal *goal)
{
	for (uint32_t i = 0; i < goal->count; i++) {
		uint32_t op = model_arg(m, goal->events[i]);
		if (op != RT_OP_ACQUIRE && op != RT_OP_ACQUIRE_SHARED && op != RT_OP_JOIN && op != RT_OP_ONCE_SEEN &&
		    op != RT_OP_HB_AFTER)
			return false;
	}
	return true;
}

/* What the trace ends with. The recorded run is its schedule, where the judge knows what the threads wait for. */
static enum rt_status decide_stuck(struct provers *p, struct anomaly *a, struct rt_error *err)
{
	struct goal goal = goal_of(a);
	struct outcome o;
	if (a->kind != ANOMALY_DEADLOCK || !judge_knows_waits(p->m, &goal))
		return RT_OK;
	enum search_answer answer = instance_recorded(p, &goal, &o);
	if (answer == SEARCH_NO_MEMORY)
		return rt_error_set(err, RT_EMEMORY, "no memory for a schedule");
	return answer == SEARCH_FOUND ? adopt(p, a, &goal, &o, err) : RT_OK;
}

enum rt_status provers_decide(struct provers *p, struct anomaly *a, struct rt_error *err)
{
	bool observed = a->verdict == VERDICT_OBSERVED, refuted;
	spread(a);
	struct candidate c = {.anomaly = a, .asked = *a, .instances = observed ? 1 : 1 + a->other_count};
	if (anomaly_is_of_blocks(p->m, a)) {
		if (!observed)
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
	struct goal own = goal_of(a);
	if (observed && !a->follows && !budget_takes_observed(p, &own, &a->left_out))
		return RT_OK;
	a->left_out = 0;
	budget_begin(p, a, false);
	enum rt_status status = decide(p, &c, &refuted, err);
	if (status || observed)
		return status;
	/* Each instance would need some read to see another write: provers_settle asks which. */
	if (refuted && !a->schedule) {
		a->verdict = VERDICT_CONDITIONAL;
		return RT_OK;
	}
	if (a->verdict == VERDICT_PREDICTED)
		give_reasons(p, &c);
	if (p->options.guess && a->verdict == VERDICT_PREDICTED && !a->schedule && budget_judges(p) &&
	    (status = guess(p, a, err)))
		return status;
	p->counts.proved += a->verdict == VERDICT_PROVED;
	p->counts.undecided += a->verdict == VERDICT_PREDICTED && (!a->schedule || a->guess);
	p->counts.with_uncertain += a->verdict == VERDICT_PREDICTED && a->schedule && !a->guess;
	return RT_OK;
}
