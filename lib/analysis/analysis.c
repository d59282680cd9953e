/* From a trace to verdicts; see analysis.h. */
#include "lib/analysis/analysis.h"

#include "lib/analysis/binary.h"
#include "lib/analysis/decide.h"
#include "lib/analysis/guards.h"
#include "lib/analysis/memory.h"
#include "lib/analysis/plain.h"
#include "lib/analysis/unrecorded.h"
#include "lib/analysis/windows.h"
#include "lib/anomaly/goal.h"
#include "lib/relation/raced.h"
#include "lib/relation/relaxed.h"
#include "lib/search/search.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	enum anomaly_kind kind;
	enum rt_status (*search)(const struct search_context *c, struct anomaly_list *list, struct rt_error *err);
} searches[] = {
    {ANOMALY_RACE, race_search},    {ANOMALY_ATOMICITY, atomicity_search}, {ANOMALY_ASV, asv_search},
    {ANOMALY_PATTERN, user_search}, {ANOMALY_DEADLOCK, deadlock_search},   {ANOMALY_HANG, hang_search},
};

const struct order_result *search_order(const struct search_context *c, int order)
{
	struct search_lazy *lazy = c->lazy;
	if (!lazy->order_results[order] && !lazy->status)
		lazy->status = orders[order].compute(c->facts, &lazy->order_results[order], &lazy->error);
	return lazy->order_results[order];
}

/* The provers; NULL if none are wanted and on failure. */
static struct provers *provers_of(const struct search_context *c)
{
	struct search_lazy *lazy = c->lazy;
	if (!lazy->provers && lazy->options && !lazy->status) {
		const struct rt_trace_info *info = rt_trace_info(c->m->trace);
		struct prove_context context = {c->facts, lazy->limits, info->exact, info->sync_only,
		                                &lazy->order_results[order_find("syncp")]};
		lazy->provers = provers_create(&context, lazy->options, &lazy->error);
		lazy->status = lazy->provers ? RT_OK : RT_EMEMORY;
	}
	return lazy->provers;
}

const struct trf *search_needs(const struct search_context *c)
{
	const struct provers *p = provers_of(c);
	return p ? provers_needs(p) : NULL;
}

const struct trf *search_unforced(const struct search_context *c)
{
	struct search_lazy *lazy = c->lazy;
	if (lazy->unforced || lazy->status)
		return lazy->unforced;
	uint8_t *reads = relaxed_reads(c->m);
	struct trf *trf = calloc(1, sizeof *trf);
	if (reads && trf && !trf_compute(c->m, reads, trf, &lazy->error)) {
		lazy->unforced = trf;
	} else {
		lazy->status = rt_error_set(&lazy->error, RT_EMEMORY, "no memory to work out what each event needs");
		free(trf);
	}
	free(reads);
	return lazy->unforced;
}

/* The orders that were asked for, if there is something to ask them about. What the verdicts needed ran in any case. */
static void run_orders(const struct search_context *c, uint32_t wanted, const struct anomaly_list *list)
{
	bool asked = false;
	for (size_t i = 0; i < list->count; i++)
		asked |= !anomaly_is_of_waits(&list->items[i]);
	for (int i = 0; asked && orders[i].name; i++)
		if (wanted >> i & 1)
			search_order(c, i);
}

/* Orders are asked about pairs: an anomaly of more events is unordered when one of its conflicting pairs is. A deadlock
 * has none: its acquires do not conflict as accesses do. */
static void gather_evidence(const struct analysis *a, struct anomaly *anomaly)
{
	if (anomaly_is_of_waits(anomaly))
		return;
	int own = order_find(anomaly->pattern);
	if (own >= 0) { /* what the order warns of is no pair */
		anomaly->orders_run = anomaly->orders_unordered = 1u << own;
		return;
	}
	bool of_blocks = anomaly_is_of_blocks(a->model, anomaly);
	for (int i = 0; orders[i].name; i++) {
		/* Not of one cell: only what looks at positions alone has an answer. */
		if (!a->order_results[i] || (of_blocks && i != order_find("hybrid") && i != order_find("hb")))
			continue;
		anomaly->orders_run |= 1u << i;
		uint32_t e1 = anomaly->events[0], e2 = anomaly->events[1];
		if (anomaly->kind == ANOMALY_RACE &&
		    orders[i].unordered(a->order_results[i], e1 < e2 ? e1 : e2, e1 < e2 ? e2 : e1))
			anomaly->orders_unordered |= 1u << i;
	}
}

/* True if the pair is at the anomaly's positions. every: it is the anomaly's own. */
static bool is_at(const struct model *m, const struct anomaly *a, const struct promise *p, bool every)
{
	const uint32_t *e = a->events;
	if (every)
		return (e[0] == p->e1 && e[1] == p->e2) || (e[0] == p->e2 && e[1] == p->e1);
	uint64_t x = model_position_of(m, e[0]), y = model_position_of(m, e[1]);
	uint64_t x1 = model_position_of(m, p->e1), x2 = model_position_of(m, p->e2);
	bool same = x == x1 && y == x2, turned = x == x2 && y == x1;
	return (same || turned) && rt_op_writes(model_op(m, e[0])) == rt_op_writes(model_op(m, p->e1)) &&
	       rt_op_writes(model_op(m, e[1])) == rt_op_writes(model_op(m, p->e2));
}

/* The first pairs of the orders that promise something of them; where no race was found there are none. */
static enum rt_status find_promises(struct analysis *a, bool every, struct rt_error *err)
{
	bool races = false, ok = true;
	for (size_t i = 0; i < a->anomalies.count; i++)
		races |= a->anomalies.items[i].kind == ANOMALY_RACE;
	for (int i = 0; orders[i].name && races && ok; i++) {
		if (!orders[i].promises || !a->order_results[i])
			continue;
		ok = promise_find(a->model, &orders[i], a->order_results[i], &a->first[i]) &&
		     (a->first_known || nesting_find(a->model, &a->nesting));
		a->first_known |= 1u << i;
		for (size_t k = 0; ok && a->first[i].e2 != MODEL_NONE && k < a->anomalies.count; k++) {
			struct anomaly *anomaly = &a->anomalies.items[k];
			if (anomaly->kind == ANOMALY_RACE && order_find(anomaly->pattern) < 0 &&
			    !anomaly_is_of_blocks(a->model, anomaly) && is_at(a->model, anomaly, &a->first[i], every))
				anomaly->first_of |= 1u << i;
		}
	}
	return ok ? RT_OK : rt_error_set(err, RT_EMEMORY, "no memory to find the first pairs of the orders");
}

/* Which limits the provers reached. */
static void note_limits(struct limits *l, const struct prove_counts *p)
{
	limits_reach(l, LIMIT_SEARCH_EVENTS, p->cut);
	limits_reach(l, LIMIT_SEARCH_EVENTS_TOTAL, p->exhausted);
	limits_reach(l, LIMIT_ORDER_EVENTS_TOTAL, p->precede_exhausted);
	limits_reach(l, LIMIT_BUILT_EVENTS_TOTAL, p->pecan_exhausted);
	limits_reach(l, LIMIT_JUDGED_EVENTS_TOTAL, p->judged_exhausted);
	limits_reach(l, LIMIT_CHECKED_EVENTS_TOTAL, p->checked_exhausted);
	limits_reach(l, LIMIT_SHORTENED_EVENTS_TOTAL, p->shortened_exhausted);
	limits_reach(l, LIMIT_OBSERVED_STEPS_TOTAL, p->observed_exhausted);
	limits_reach(l, LIMIT_SETTLE_EVENTS_TOTAL, p->settle_exhausted);
	limits_reach(l, LIMIT_FREE_EVENTS_TOTAL, p->free_exhausted);
	limits_reach(l, LIMIT_INSTANCES, p->instances_cut);
	limits_reach(l, LIMIT_SEARCH_STATES, p->visited && !p->all);
}

/* With accesses left out, what a read saw is not known to the judge. What was observed by the language's happens-before
 * is in the run; SHB, too, needs all accesses. */
static void objects_cap(const struct analysis *a, struct anomaly_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		struct anomaly *anomaly = &list->items[i];
		bool shb = anomaly->kind == ANOMALY_RACE && a->memory_model != RT_MODEL_C11;
		if (anomaly->verdict == VERDICT_PROVED || (anomaly->verdict == VERDICT_OBSERVED && shb))
			anomaly_cap(anomaly, REASON_OBJECTS, NULL);
	}
}

/* Decides what was found, and asks the orders about the instances that the provers settled on. */
static enum rt_status decide_all(struct analysis *a, const struct analysis_options *options, bool visits,
                                 const struct search_context *c, struct rt_error *err)
{
	struct provers *provers = a->anomalies.count ? provers_of(c) : NULL;
	if (c->lazy->status) {
		*err = c->lazy->error;
		return c->lazy->status;
	}
	enum rt_status status = decide_anomalies(a, options, provers, visits, err);
	if (status)
		return status;
	hidden_cap(c->hidden, c, &a->anomalies);
	if (!plain_cap(a->model, &a->anomalies))
		return rt_error_set(err, RT_EMEMORY, "no memory for the locks of modules that are not instrumented");
	if (options->model.objects)
		objects_cap(a, &a->anomalies);
	if (options->window)
		windows_cap(a->model, options->window, &a->anomalies);
	struct snippets sources = {.trace = a->trace};
	if (visits && !options->every)
		anomaly_list_fold_races(&a->anomalies, a->model);
	for (size_t i = 0; i < a->anomalies.count; i++) {
		unrecorded_cap(a->model, &a->anomalies.items[i]);
		check_act_settle(a->model, &a->anomalies.items[i]);
		gather_evidence(a, &a->anomalies.items[i]);
		binary_cap(a->model, &sources, &a->anomalies.items[i]);
		a->summary[a->anomalies.items[i].kind][a->anomalies.items[i].verdict]++;
	}
	if (provers)
		a->proofs = *provers_counts(provers);
	a->proofs.visited |= provers && options->exhaustive;
	note_limits(&a->limits, &a->proofs);
	if (sources.no_memory)
		status = rt_error_set(err, RT_EMEMORY, "no memory for source lines");
	snippets_release(&sources);
	return status;
}

static int by_importance(const void *x, const void *y)
{
	const struct anomaly *a = x, *b = y;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->verdict != b->verdict)
		return a->verdict > b->verdict ? -1 : 1;
	for (uint32_t i = 0; i < a->event_count && i < b->event_count; i++)
		if (a->events[i] != b->events[i])
			return a->events[i] < b->events[i] ? -1 : 1;
	if (a->event_count != b->event_count)
		return a->event_count < b->event_count ? -1 : 1;
	return strcmp(a->pattern, b->pattern);
}

static void begin(const struct analysis_options *options, enum analysis_step step)
{
	if (options->step)
		options->step(step, options->step_arg);
}

/*
 * Races, each pair, to be looked for in every state. If there are too many the search goes the usual way, and no states
 * are visited: *visits tells.
 */
static enum rt_status search_pairs(struct analysis *a, const struct search_context *c, bool *visits,
                                   struct rt_error *err)
{
	enum { PAIRS_MAX = 1000000 };
	struct search_context own = *c;
	own.every = true;
	own.most = c->every ? 0 : PAIRS_MAX;
	enum rt_status status = race_search(&own, &a->anomalies, err);
	*visits = !status;
	if (!status || !own.most || a->anomalies.count < own.most)
		return status;
	anomaly_list_release(&a->anomalies);
	return race_search(c, &a->anomalies, err);
}

/* By the language's model: what the races follow from. */
static enum rt_status find_causes(struct analysis *a, const struct search_context *c, struct rt_error *err)
{
	if (!a->order_results[c->hb])
		return RT_OK; /* no race was observed */
	enum rt_status status = follow_find(&a->facts, rt_trace_info(a->trace)->exact, a->limits.of[LIMIT_FOLLOWS],
	                                    &a->anomalies, &a->causes, err);
	limits_reach(&a->limits, LIMIT_FOLLOWS, a->causes.cut);
	return status;
}

static uint32_t usual_orders(void)
{
	uint32_t usual = 0;
	for (int i = 0; orders[i].name; i++)
		usual |= orders[i].asked ? 0 : UINT32_C(1) << i;
	return usual;
}

/* What the state in which a window begins does not tell is left out: the orders whose edges cross from critical
 * sections that were entered before, and what an order remembers of cells. */
static uint32_t wanted_orders(const struct analysis_options *options)
{
	uint32_t wanted = options->orders ? options->orders : usual_orders();
	for (int i = 0; orders[i].name && options->window; i++)
		if (orders[i].promises || orders[i].warned_at)
			wanted &= ~(UINT32_C(1) << i);
	return wanted;
}

/* What the orders that are to be listed alone warn of by themselves. */
static enum rt_status search_warnings(struct analysis *a, const struct analysis_options *options,
                                      const struct search_context *c, struct rt_error *err)
{
	enum rt_status status = RT_OK;
	if (!options->unproved || !(a->kinds >> ANOMALY_RACE & 1))
		return RT_OK;
	for (int i = 0; orders[i].name && !status; i++)
		if (options->orders >> i & 1 && orders[i].warned_at)
			status = warning_search(c, i, &a->anomalies, err);
	return status;
}

static enum rt_status search_all(struct analysis *a, const struct analysis_options *options,
                                 const struct search_context *c, struct rt_error *err)
{
	bool visits = options->exhaustive;
	begin(options, ANALYSIS_SEARCH);
	for (size_t i = 0; i < sizeof searches / sizeof *searches; i++) {
		if ((options->kinds && !(options->kinds >> searches[i].kind & 1)) ||
		    (searches[i].kind == ANOMALY_PATTERN && !options->user))
			continue;
		a->kinds |= 1u << searches[i].kind;
		/* Races come first. */
		enum rt_status status = options->exhaustive && searches[i].kind == ANOMALY_RACE
		                            ? search_pairs(a, c, &visits, err)
		                            : searches[i].search(c, &a->anomalies, err);
		if (status)
			return status;
	}
	begin(options, ANALYSIS_ORDERS);
	enum rt_status warned = search_warnings(a, options, c, err);
	if (warned)
		return warned;
	run_orders(c, wanted_orders(options), &a->anomalies);
	if (!guards_cap(a->model, a->memory_model == RT_MODEL_C11, &a->anomalies))
		return rt_error_set(err, RT_EMEMORY, "no memory for what guards the variables of anomalies");
	begin(options, ANALYSIS_PREPARE);
	if (a->anomalies.count)
		provers_of(c);
	begin(options, ANALYSIS_PROVE);
	enum rt_status status = decide_all(a, options, visits, c, err);
	if (!status && !options->window)
		status = find_promises(a, options->every, err);
	if (status)
		return status;
	if (a->anomalies.count)
		qsort(a->anomalies.items, a->anomalies.count, sizeof *a->anomalies.items, by_importance);
	return c->c11 ? find_causes(a, c, err) : RT_OK;
}

/* The search and the verdicts, in the memory that there is. RT_ELARGE: the share of it did not suffice. */
static enum rt_status search_within(struct analysis *a, const struct analysis_options *options,
                                    const struct search_context *c, struct rt_error *err)
{
	const struct rt_trace_info *info = rt_trace_info(a->trace);
	struct limits of_all = a->limits;
	uint64_t memory = options->share ? options->share : options->memory;
	memory_fit(&of_all, info, &a->model->size, options->memory, options->report_memory);
	a->jobs = memory_jobs(info, &a->model->size, options->available, options->jobs ? options->jobs : 1);
	c->lazy->memory = memory_fit(&a->limits, info, &a->model->size, memory, options->report_memory);
	/* Without --max-memory the available memory bounds what a search keeps; what is listed keeps its limits. */
	struct limits listed = a->limits;
	if (!memory)
		c->lazy->memory = memory_fit(&listed, info, &a->model->size, options->available, 0);
	enum rt_status status = search_all(a, options, c, err);
	bool sufficed = memory_sufficed(&a->limits, &of_all) && !c->lazy->memory_reached;
	if (!status && options->share && !sufficed)
		return rt_error_set(err, RT_ELARGE, "what is found in '%s' takes more than a share of the memory",
		                    info->path);
	return status;
}

enum rt_status analysis_run(struct rt_trace *trace, const struct analysis_options *options, struct analysis **out,
                            struct rt_error *err)
{
	struct analysis *a = calloc(1, sizeof *a);
	*out = NULL;
	if (!a)
		return rt_error_set(err, RT_EMEMORY, "no memory to analyze the trace");
	a->trace = trace;
	a->limits = limits_complete(&options->limits);
	a->every = options->every;
	a->memory_model = options->set_memory_model ? options->memory_model : rt_trace_info(trace)->model;
	struct search_lazy lazy = {.order_results = a->order_results,
	                           .limits = &a->limits,
	                           .options = options->unproved ? NULL : &options->prove};
	struct search_context c = {.lazy = &lazy,
	                           .hb = order_find("hb"),
	                           .shb = order_find("shb"),
	                           .c11 = a->memory_model == RT_MODEL_C11,
	                           .every = options->every,
	                           .asked = options->asked,
	                           .user = options->user};
	int hybrid = order_find("hybrid");
	struct hidden *hidden = NULL;
	struct model_options model = options->model;
	model.part = options->window;
	model.ahead = options->jobs > 1;
	for (int i = 0; orders[i].name; i++)
		model.all_cells |= options->unproved && options->orders >> i & 1 && orders[i].all;
	/* Where each pair is listed, or a pattern may have many accesses of one thread, each read counts. */
	model.all_reads |= options->every || options->unproved || options->user;
	begin(options, ANALYSIS_LOAD);
	enum rt_status status = model_load(trace, &model, &a->model, err);
	a->facts.m = a->model;
	if (!status)
		status = raced_find(a->model, &a->facts, err);
	if (!status)
		status = orders[hybrid].compute(&a->facts, &a->order_results[hybrid], err);
	if (!status) {
		c.m = a->model;
		c.facts = &a->facts;
		c.por = facts_por(&a->facts);
		status = hidden_load(a->model, &hidden, err);
		c.hidden = hidden;
	}
	if (!status)
		status = search_within(a, options, &c, err);
	begin(options, ANALYSIS_DONE);
	provers_free(lazy.provers);
	if (lazy.unforced)
		trf_release(lazy.unforced);
	free(lazy.unforced);
	hidden_free(hidden);
	if (status) {
		analysis_free(a);
		return status;
	}
	*out = a;
	return RT_OK;
}

void analysis_free(struct analysis *a)
{
	if (!a)
		return;
	anomaly_list_release(&a->anomalies);
	causes_release(&a->causes);
	for (int i = 0; orders[i].name; i++)
		orders[i].free(a->order_results[i]);
	facts_release(&a->facts);
	model_free(a->model);
	free(a);
}
