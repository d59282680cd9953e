/* From a trace to verdicts; see analysis.h. */
#include "lib/search/analysis.h"

#include "lib/search/search.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	enum anomaly_kind kind;
	enum rt_status (*search)(const struct search_context *c, struct anomaly_list *list, struct rt_error *err);
} searches[] = {
    {ANOMALY_RACE, race_search},
    {ANOMALY_ATOMICITY, atomicity_search},
    {ANOMALY_DEADLOCK, deadlock_search},
};

/* Orders that run whatever was asked for: candidates and verdicts come from them. */
static uint32_t orders_needed(void)
{
	return 1u << order_find("hybrid") | 1u << order_find("hb") | 1u << order_find("shb");
}

static enum rt_status run_orders(struct analysis *a, uint32_t wanted, struct rt_error *err)
{
	for (int i = 0; orders[i].name; i++) {
		if (!(wanted >> i & 1))
			continue;
		enum rt_status status = orders[i].compute(a->model, &a->order_results[i], err);
		if (status)
			return status;
	}
	return RT_OK;
}

/* Orders are asked about pairs: an anomaly of more events is unordered when one of its conflicting pairs is. A deadlock
 * has none: its acquires do not conflict as accesses do. */
static void gather_evidence(const struct analysis *a, struct anomaly *anomaly)
{
	if (anomaly->kind == ANOMALY_DEADLOCK)
		return;
	for (int i = 0; orders[i].name; i++) {
		if (!a->order_results[i])
			continue;
		anomaly->orders_run |= 1u << i;
		uint32_t e1 = anomaly->events[0], e2 = anomaly->events[1];
		if (anomaly->kind == ANOMALY_RACE &&
		    orders[i].unordered(a->order_results[i], e1 < e2 ? e1 : e2, e1 < e2 ? e2 : e1))
			anomaly->orders_unordered |= 1u << i;
	}
}

/* Decides what was found, and asks the orders about the instances that the provers settled on. */
static enum rt_status decide_all(struct analysis *a, struct provers *provers, struct rt_error *err)
{
	enum rt_status status = RT_OK;
	for (size_t i = 0; !status && i < a->anomalies.count; i++) {
		struct anomaly *anomaly = &a->anomalies.items[i];
		if (provers)
			status = provers_decide(provers, anomaly, err);
		gather_evidence(a, anomaly);
		a->summary[anomaly->kind][anomaly->verdict]++;
	}
	if (provers)
		a->proofs = *provers_counts(provers);
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

static enum rt_status search_all(struct analysis *a, const struct analysis_options *options, struct provers *provers,
                                 struct rt_error *err)
{
	struct search_context c = {
	    .m = a->model,
	    .por = hybrid_por(a->order_results[order_find("hybrid")]),
	    .order_results = (const struct order_result *const *)a->order_results,
	    .hybrid = order_find("hybrid"),
	    .hb = order_find("hb"),
	    .shb = order_find("shb"),
	    .every = options->every,
	    .needs = provers ? provers_needs(provers) : NULL,
	};
	for (size_t i = 0; i < sizeof searches / sizeof *searches; i++) {
		if (options->kinds && !(options->kinds >> searches[i].kind & 1))
			continue;
		a->kinds |= 1u << searches[i].kind;
		enum rt_status status = searches[i].search(&c, &a->anomalies, err);
		if (status)
			return status;
	}
	enum rt_status status = decide_all(a, provers, err);
	if (status)
		return status;
	if (a->anomalies.count)
		qsort(a->anomalies.items, a->anomalies.count, sizeof *a->anomalies.items, by_importance);
	return RT_OK;
}

enum rt_status analysis_run(struct rt_trace *trace, const struct analysis_options *options, struct analysis **out,
                            struct rt_error *err)
{
	struct analysis *a = calloc(1, sizeof *a);
	*out = NULL;
	if (!a)
		return rt_error_set(err, RT_EMEMORY, "no memory to analyze the trace");
	a->trace = trace;
	enum rt_status status = model_load(trace, &options->model, &a->model, err);
	if (!status)
		status = run_orders(a, options->orders ? options->orders | orders_needed() : UINT32_MAX, err);
	struct provers *provers = NULL;
	if (!status && !options->unproved &&
	    !(provers = provers_create(a->model, rt_trace_info(trace)->exact, &options->prove, err)))
		status = RT_EMEMORY;
	if (!status)
		status = search_all(a, options, provers, err);
	provers_free(provers);
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
	for (int i = 0; orders[i].name; i++)
		orders[i].free(a->order_results[i]);
	model_free(a->model);
	free(a);
}
