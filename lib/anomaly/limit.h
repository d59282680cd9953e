/*
 * The limits of an analysis. From the one table in limit.c come the bounds that searches, provers and reports keep, the
 * options that set them, `analyze --limits`, the manual's section and the report's `limits`.
 */
#ifndef LIB_ANOMALY_LIMIT_H
#define LIB_ANOMALY_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

enum limit {
	LIMIT_STACK_FRAMES,
	LIMIT_EVENT_LOCKS,
	LIMIT_REGION_ACCESSES,
	LIMIT_COMBINATIONS,
	LIMIT_RACES_OF_CELL,
	LIMIT_ANOMALIES,
	LIMIT_EVERY,
	LIMIT_ACCESS_PAIRS,
	LIMIT_SEARCH_STEPS,
	LIMIT_CYCLE_STEPS,
	LIMIT_CYCLE_THREADS,
	LIMIT_SEARCH_EVENTS,
	LIMIT_SEARCH_EVENTS_TOTAL,
	LIMIT_ORDER_EVENTS_TOTAL,
	LIMIT_BUILT_EVENTS_TOTAL,
	LIMIT_JUDGED_EVENTS_TOTAL,
	LIMIT_CHECKED_EVENTS_TOTAL,
	LIMIT_SHORTENED_EVENTS_TOTAL,
	LIMIT_OBSERVED_STEPS_TOTAL,
	LIMIT_SETTLE_EVENTS_TOTAL,
	LIMIT_FREE_EVENTS_TOTAL,
	LIMIT_INSTANCES,
	LIMIT_SEARCH_STATES,
	LIMIT_FOLLOWS,
	LIMIT_SCHEDULE_STEPS,
	LIMIT_LISTED_ANOMALIES,
	LIMIT_LISTED_CALLS,
	LIMITS
};

/* Bounds that hold whatever options say, since memory of that size is set aside. */
enum {
	LIMIT_STACK_FRAMES_MAX = 256,
	LIMIT_EVENT_LOCKS_MAX = 64,
	LIMIT_REGION_ACCESSES_MAX = 64,
	LIMIT_CYCLE_THREADS_MAX = 16,
	LIMIT_INSTANCES_MAX = 33
};
#define LIMIT_SEARCH_STATES_MAX (1 << 24)

struct limit_info {
	const char *name; /* in options, the manual and the JSON report */
	uint64_t value;   /* the default */
	const char *unit;
	const char *option; /* that sets it; NULL: none does */
	const char *what;   /* what it bounds, a noun phrase in the plural: "frames of a stack" */
	const char *hit;    /* a sentence: what is left out when it is reached */
	bool scales;        /* the default grows and falls with search_events_total */
};
extern const struct limit_info limit_infos[LIMITS];

/* The bounds of an analysis, and which of them were reached. */
struct limits {
	uint64_t of[LIMITS];
	uint32_t hit; /* bit i: enum limit i */
};

/* The bounds that are asked for, where they are not 0; else the defaults. */
struct limits limits_complete(const struct limits *asked);
/* The limit of this name that --limit may set; LIMITS: there is none. */
enum limit limit_find(const char *name, uint64_t length);

static inline void limits_reach(struct limits *l, enum limit limit, bool reached)
{
	l->hit |= (uint32_t)reached << limit;
}

#endif
