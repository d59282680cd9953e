/* Searches: one file a kind of anomaly, one line in searches[] (analysis.c). What they find are candidates. */
#ifndef LIB_SEARCH_SEARCH_H
#define LIB_SEARCH_SEARCH_H

#include "lib/anomaly/limit.h"
#include "lib/anomaly/pattern.h"
#include "lib/prove/prove.h"
#include "lib/relation/facts.h"
#include "lib/search/hidden.h"

/*
 * What only a candidate asks for, and so is worked out at the first one: on many traces there is none. Failures are
 * kept in status and error; what was asked for then answers as if nothing were known.
 */
struct search_lazy {
	struct order_result **order_results; /* by orders[] index; NULL: not yet */
	const struct prove_options *options; /* NULL: no prover will be asked */
	struct provers *provers;             /* owned by the creator of this */
	struct trf *unforced;                /* the same: of search_unforced */
	struct limits *limits;               /* borrowed */
	uint64_t memory;     /* bytes that instances of what one search finds may take; 0: there is no bound */
	bool memory_reached; /* one had as many as it may, for want of memory */
	enum rt_status status;
	struct rt_error error;
};

/* What a search may use. */
struct search_context {
	const struct model *m;
	struct facts *facts;
	const struct segment_order *por; /* one of them */
	struct search_lazy *lazy;
	int hb, shb;    /* orders[] indices */
	bool c11;       /* happens-before alone says what is observed */
	bool every;     /* one anomaly a tuple of events */
	size_t most;    /* most races that are listed one by one; 0: as many as memory may hold */
	uint64_t asked; /* see analysis_options */
	const struct pattern *user;
	const struct hidden *hidden; /* NULL: the trace has none */
};

/* The order's result; NULL on failure. */
const struct order_result *search_order(const struct search_context *c, int order);
/* What each event needs (provers_needs); NULL: no prover will be asked. */
const struct trf *search_needs(const struct search_context *c);

/* What each event needs, but for what atomic reads saw that synchronise with nothing; NULL on failure. */
const struct trf *search_unforced(const struct search_context *c);

/* True if orders[order] leaves the conflicting pair e1 <tr e2 unordered. */
static inline bool search_unordered(const struct search_context *c, int order, uint32_t e1, uint32_t e2)
{
	const struct order_result *r = c->lazy->order_results[order];
	return (r || (r = search_order(c, order))) && orders[order].unordered(r, e1, e2);
}

/*
 * Each appends its anomalies to the list, with kind, pattern, events and count, and with the verdict `observed` (and
 * the witness `recorded`) where the recorded run itself shows it, else `predicted`. The rest is the caller's.
 */
enum rt_status race_search(const struct search_context *c, struct anomaly_list *list, struct rt_error *err);
enum rt_status atomicity_search(const struct search_context *c, struct anomaly_list *list, struct rt_error *err);
enum rt_status check_act_search(const struct search_context *c, struct anomaly_list *list, struct rt_error *err);
/* After the provers have decided one that check_act_search found; leaves others alone. */
void check_act_settle(const struct model *m, struct anomaly *a);
/* What the order warns of (orders[].warned_at), as races whose pattern is the order's name. */
enum rt_status warning_search(const struct search_context *c, int order, struct anomaly_list *list,
                              struct rt_error *err);
enum rt_status user_search(const struct search_context *c, struct anomaly_list *list, struct rt_error *err);
enum rt_status asv_search(const struct search_context *c, struct anomaly_list *list, struct rt_error *err);
enum rt_status hang_search(const struct search_context *c, struct anomaly_list *list, struct rt_error *err);
enum rt_status deadlock_search(const struct search_context *c, struct anomaly_list *list, struct rt_error *err);

#endif
