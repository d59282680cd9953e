/* What the parts of prove.h share: prove.c decides anomalies, instance.c one instance of them, budget.c what it may
 * cost. */
#ifndef LIB_PROVE_PROVERS_H
#define LIB_PROVE_PROVERS_H

#include "lib/judge/verify.h"
#include "lib/prove/certain.h"
#include "lib/prove/conditional.h"
#include "lib/prove/precede.h"
#include "lib/prove/prove.h"
#include "lib/prove/shorten.h"
#include "lib/prove/states.h"

struct provers {
	const struct model *m;
	struct prove_context context;
	const struct segment_order *por; /* one of the facts */
	struct prove_options options;
	bool whole;             /* all schedules are of whole events */
	bool settling;          /* provers_settle asks */
	uint64_t spent_before;  /* what was spent when the candidate's turn came */
	uint64_t share;         /* events that searches may execute for it */
	bool more_instances;    /* the candidate has, behind the one that is looked at */
	struct reasons reasons; /* why it stays open, so far */
	struct searches searches;
	struct judge *judge;
	struct conditional conditional;
	uint8_t *updates; /* worked out when they are first asked for */
	struct certain *certain;
	struct shorten *shorten;
	struct precede precede;
	bool precede_open; /* its questions have no answers yet */
	/* What provers_visit was asked about, sorted. */
	struct states_goal *visited;
	uint32_t visited_count, visited_capacity;
	struct prove_counts counts;
};

/* Number of events that PECAN's schedules and sure ones may have; and those in which reads are free. */
uint64_t budget_linear(const struct provers *p);
/* True if the goal, which the recorded run shows, may have that run as its schedule, of *steps steps at most. */
bool budget_takes_observed(struct provers *p, const struct goal *goal, uint32_t *steps);
uint64_t budget_free(const struct provers *p);
/*
 * Counts the events of a schedule each read of which is looked at, as the trace is stamped (the judge itself knows the
 * states of the recorded run); and true if there may be more.
 */
void budget_judge(struct provers *p, const struct schedule *s);
bool budget_judges(const struct provers *p);
/* Counts events that were looked at, in any trace: by the judge, or for what a goal needs. True if there may be more.
 */
void budget_check(struct provers *p, uint64_t events);
bool budget_checks(const struct provers *p);
/* True if the schedule may be made shorter; its events count. */
bool budget_shortens(struct provers *p, const struct schedule *s);
/* The anomaly is the one at hand from now on. The more of its finding were before it, the smaller is its share. */
void budget_begin(struct provers *p, const struct anomaly *a, bool settling);
/*
 * Events that a search may execute for one goal; 0: the budget ran out. While a candidate has more instances, one of
 * them may have half of what is left to it.
 */
uint64_t budget_left(struct provers *p);

/* What is known of one instance so far. */
struct outcome {
	enum search_answer answer;
	enum witness_kind kind;
	struct schedule schedule;
	bool admitted; /* the judge admits it: judge_admits */
	uint32_t uncertain, first_uncertain, substitutes, substitute;
};

/* Which provers are asked. */
enum asked { CHEAP = 1, EXPENSIVE = 2 };

/* Asks the provers in turn, until one refutes or has a witness that depends on no read, and in which each try that
 * fails can fail. What is in *o is the caller's to release. */
enum rt_status instance_decide(struct provers *p, const struct goal *goal, bool observed, unsigned asked,
                               struct outcome *o, struct rt_error *err);
/* The recorded run as the schedule of what it shows. The schedule in *o is the caller's to release. */
enum search_answer instance_recorded(struct provers *p, const struct goal *goal, struct outcome *o);
/* certain_count_uncertain, within the budget of what is judged. */
uint32_t instance_count_uncertain(struct provers *p, const struct goal *goal, const struct schedule *s,
                                  uint32_t *first);
/* True if what the goal needs rules it out. */
bool instance_refuted_by_needs(struct provers *p, const struct goal *goal);
/* Sorts goals as provers.visited is sorted. */
int instance_compare(const void *a, const void *b);

#endif
