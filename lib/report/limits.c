/* The limits that a report names; see limits.h. */
#include "lib/report/limits.h"

/* True if the analysis could have reached the limit. */
static bool applies(const struct analysis *a, enum limit limit)
{
	switch (limit) {
	case LIMIT_ANOMALIES:
		return !a->every;
	case LIMIT_EVERY:
		return a->every;
	case LIMIT_SEARCH_EVENTS:
	case LIMIT_SEARCH_EVENTS_TOTAL:
	case LIMIT_ORDER_EVENTS_TOTAL:
	case LIMIT_BUILT_EVENTS_TOTAL:
	case LIMIT_JUDGED_EVENTS_TOTAL:
	case LIMIT_CHECKED_EVENTS_TOTAL:
	case LIMIT_SHORTENED_EVENTS_TOTAL:
	case LIMIT_OBSERVED_STEPS_TOTAL:
	case LIMIT_SETTLE_EVENTS_TOTAL:
	case LIMIT_FREE_EVENTS_TOTAL:
	case LIMIT_INSTANCES:
		return a->proofs.made;
	case LIMIT_SEARCH_STATES:
		return a->proofs.visited;
	case LIMIT_FOLLOWS:
		return a->memory_model == RT_MODEL_C11;
	case LIMIT_STACK_FRAMES:
	case LIMIT_EVENT_LOCKS:
	case LIMIT_REGION_ACCESSES:
	case LIMIT_COMBINATIONS:
	case LIMIT_RACES_OF_CELL:
	case LIMIT_ACCESS_PAIRS:
	case LIMIT_SEARCH_STEPS:
	case LIMIT_CYCLE_STEPS:
	case LIMIT_CYCLE_THREADS:
	case LIMIT_SCHEDULE_STEPS:
	case LIMIT_LISTED_ANOMALIES:
	case LIMIT_LISTED_CALLS:
	case LIMITS:
		break;
	}
	return true;
}

size_t report_limits(const struct report *r, struct report_limit limits[LIMITS])
{
	const struct analysis *a = r->analysis;
	struct limits l = a->limits;
	size_t n = 0;
	limits_reach(&l, LIMIT_STACK_FRAMES, descriptions_cut(r->descriptions));
	limits_reach(&l, LIMIT_EVENT_LOCKS, descriptions_locks_cut(r->descriptions));
	for (enum limit i = 0; i < LIMITS; i++)
		if (applies(a, i))
			limits[n++] = (struct report_limit){limit_infos[i == LIMIT_EVERY ? LIMIT_ANOMALIES : i].name,
			                                    limit_infos[i].what, l.of[i], l.hit >> i & 1};
	return n;
}
