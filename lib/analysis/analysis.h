/* The whole way from a loaded trace to verdicts, as one call: model, orders, searches, provers. */
#ifndef LIB_ANALYSIS_ANALYSIS_H
#define LIB_ANALYSIS_ANALYSIS_H

#include "lib/analysis/follow.h"
#include "lib/analysis/promise.h"
#include "lib/anomaly/limit.h"
#include "lib/anomaly/pattern.h"
#include "lib/prove/part.h"

struct window;

/* Results of an earlier analysis of the same trace, or room for those of this one. */
struct cache {
	struct parts *known; /* borrowed; NULL: none. Set to NULL if they are of other candidates */
	struct part *fresh;  /* where all results go if none are known; NULL: nowhere */
};

/* What analysis_run does, in this order; the last is no work. */
enum analysis_step { ANALYSIS_LOAD, ANALYSIS_SEARCH, ANALYSIS_ORDERS, ANALYSIS_PREPARE, ANALYSIS_PROVE, ANALYSIS_DONE };

struct analysis_options {
	uint32_t kinds;             /* bit i: enum anomaly_kind i is searched for; 0: all */
	uint32_t orders;            /* bit i: orders[i] runs; 0: all. What the verdicts need runs in any case */
	bool every;                 /* one anomaly a tuple of events instead of one a tuple of source positions */
	bool unproved;              /* no prover is asked: what the orders say is all that is wanted */
	bool exhaustive;            /* every state is visited for all races and deadlocks; see provers_visit */
	uint64_t asked;             /* bit i: patterns[i] is searched for although it is off by default */
	const struct pattern *user; /* patterns of the user's, ending with a NULL name; borrowed; NULL: none */
	struct limits limits;       /* of: 0 is the default */
	uint64_t memory;            /* bytes that the analysis may take; 0: there is no bound */
	uint64_t share;             /* of these, while others take the rest; 0: all */
	uint64_t report_memory;     /* bytes of these for what stays when it is reported; 0: no bound of its own */
	uint32_t jobs;              /* number of processes that prove candidates; 0, 1: this one */
	uint64_t available;         /* bytes that there are for it and its jobs: with fewer jobs, and fewer instances of
	                               what is found, if they would take more; 0: no bound */
	struct part *part;          /* decide its share of the candidates alone, and write the results; NULL: all */
	struct parts *parts;        /* take the results from there; NULL: there are none */
	struct cache *cache;        /* the same, if they are of the same candidates; else write them; NULL: neither */
	struct prove_options prove;
	struct model_options model;
	const struct window
	    *window;           /* the trace is this window of a larger one (windows.h); borrowed; NULL: it is whole */
	bool set_memory_model; /* by memory_model, whatever the trace says */
	enum rt_memory_model memory_model;
	void (*step)(enum analysis_step step, void *arg); /* called as each step begins; NULL: not */
	/* Called when `done` of `count` candidates are decided; true: the others are left predicted. NULL: not. */
	bool (*decided)(size_t done, size_t count, void *arg);
	void *step_arg; /* of both */
};

struct analysis {
	struct rt_trace *trace; /* borrowed */
	struct model *model;
	struct facts facts; /* of the model */
	struct order_result
	    *order_results[32];        /* by orders[] index; NULL: did not run, such as when nothing was found */
	struct causes causes;          /* what observed races follow from */
	struct anomaly_list anomalies; /* sorted: kind, then verdict and rank, then position; stable */
	uint32_t kinds;                /* bit i: enum anomaly_kind i was searched for */
	enum rt_memory_model memory_model;
	uint64_t summary[ANOMALY_KINDS][VERDICTS];
	struct limits limits;     /* as applied */
	bool every;               /* anomalies are listed one a tuple of events */
	struct promise first[32]; /* by orders[] index, of those that promise something of it and were asked */
	uint32_t first_known;     /* bit i: first[i] is worked out */
	struct nesting nesting;   /* if any of first is */
	struct prove_counts proofs;
	uint32_t jobs;    /* number of processes that proved candidates; 1: this one */
	size_t undecided; /* candidates that no prover has looked at, as `decided` ended it */
};

/* Analyzes a trace. On RT_OK *out is owned by the caller; the trace must outlive it. RT_ELARGE: model.admit says so; or
 * there is a share of the memory, and with all of it the result might be another. */
enum rt_status analysis_run(struct rt_trace *trace, const struct analysis_options *options, struct analysis **out,
                            struct rt_error *err);
void analysis_free(struct analysis *a);

/* Bytes that the analysis of a trace needs, by what is known when its model is about to be loaded; rather too many than
 * too few. */
uint64_t analysis_memory(const struct rt_trace_info *info, const struct model_size *size);

#endif
