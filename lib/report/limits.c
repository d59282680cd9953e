/* The bounds of an analysis; see limits.h. */
#include "lib/report/limits.h"

static void add(struct report_limit *limits, size_t *count, struct report_limit limit)
{
	limits[(*count)++] = limit;
}

size_t report_limits(const struct report *r, struct report_limit limits[REPORT_LIMITS_MAX])
{
	const struct analysis *a = r->analysis;
	const struct prove_counts *p = &a->proofs;
	size_t n = 0;
	add(limits, &n,
	    (struct report_limit){"stack_frames", "frames of a stack", DESCRIBE_STACK_MAX,
	                          descriptions_cut(r->descriptions)});
	add(limits, &n,
	    (struct report_limit){"event_locks", "locks held at one event that are listed", DESCRIBE_LOCKS_MAX,
	                          descriptions_locks_cut(r->descriptions)});
	add(limits, &n,
	    (struct report_limit){"region_accesses", "accesses of a region that are combined", SEARCH_REGION,
	                          a->limits.regions});
	add(limits, &n,
	    (struct report_limit){"combinations", "combinations of accesses that are tried", SEARCH_COMBINATIONS,
	                          a->limits.combinations});
	add(limits, &n,
	    (struct report_limit){"races_of_cell", "pairs of positions that race on one cell", SEARCH_RACES,
	                          a->limits.races});
	add(limits, &n,
	    (struct report_limit){"anomalies", "anomalies of one kind that are kept",
	                          a->every ? SEARCH_EVERY : SEARCH_ANOMALIES, a->limits.anomalies});
	add(limits, &n,
	    (struct report_limit){"access_pairs", "pairs of groups of accesses that are compared for races",
	                          SEARCH_PAIRS, a->limits.pairs});
	if (p->budget) {
		add(limits, &n,
		    (struct report_limit){"search_events", "events executed for one anomaly", p->budget, p->cut});
		add(limits, &n,
		    (struct report_limit){"search_events_total", "events executed for all anomalies", p->total_budget,
		                          p->exhausted || p->precede_exhausted});
		add(limits, &n,
		    (struct report_limit){"built_events_total", "events of schedules that are built in one go",
		                          p->linear_limit, p->pecan_exhausted});
		add(limits, &n,
		    (struct report_limit){"observed_steps_total", "steps of schedules of what was observed",
		                          p->observed_limit, p->observed_exhausted});
		add(limits, &n,
		    (struct report_limit){"free_events_total", "events of schedules in which reads see other writes",
		                          p->free_limit, p->free_exhausted || p->settle_exhausted});
		add(limits, &n,
		    (struct report_limit){"instances", "instances of one anomaly that are looked at", p->instances,
		                          p->instances_cut});
	}
	if (a->memory_model == RT_MODEL_C11)
		add(limits, &n,
		    (struct report_limit){"follows", "steps to find what follows from what", FOLLOW_WORK,
		                          a->causes.cut});
	if (a->schedule_bound)
		add(limits, &n,
		    (struct report_limit){"schedule_steps", "steps of all schedules", a->schedule_bound,
		                          a->schedules_cut});
	return n;
}
