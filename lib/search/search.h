/* Searches: one file a kind of anomaly, one line in searches[] (analysis.c). What they find are candidates. */
#ifndef LIB_SEARCH_SEARCH_H
#define LIB_SEARCH_SEARCH_H

#include "lib/order/trf.h"
#include "lib/search/analysis.h"

/* What a search may use. */
struct search_context {
	const struct model *m;
	const struct segment_order *por;
	const struct order_result *const *order_results; /* by orders[] index */
	int hybrid, hb, shb;                             /* orders[] indices */
	bool every;                                      /* one anomaly a tuple of events */
	const struct trf *needs; /* what each event needs (provers_needs); NULL: no prover will be asked */
};

/* Is the conflicting pair e1 <tr e2 unordered by orders[order]? It must have run; hybrid, hb and shb have. */
static inline bool search_unordered(const struct search_context *c, int order, uint32_t e1, uint32_t e2)
{
	return orders[order].unordered(c->order_results[order], e1, e2);
}

/*
 * Each appends its anomalies to the list, with kind, pattern, events and count, and with the verdict `observed` (and
 * the witness `recorded`) where the recorded run itself shows it, else `predicted`. The rest is the caller's.
 */
enum rt_status race_search(const struct search_context *c, struct anomaly_list *list, struct rt_error *err);
enum rt_status atomicity_search(const struct search_context *c, struct anomaly_list *list, struct rt_error *err);
enum rt_status deadlock_search(const struct search_context *c, struct anomaly_list *list, struct rt_error *err);

#endif
