/* The table of limits; see limit.h. */
#include "lib/anomaly/limit.h"

#include <string.h>

#define BUDGET "--budget=N"
#define TOTAL "--budget=N,TOTAL"
#define LIMIT "--limit"

const struct limit_info limit_infos[LIMITS] = {
    [LIMIT_STACK_FRAMES] = {"stack_frames", LIMIT_STACK_FRAMES_MAX, "frames", NULL, "frames of a stack",
                            "Of a deeper stack the innermost frames are listed", false},
    [LIMIT_EVENT_LOCKS] = {"event_locks", LIMIT_EVENT_LOCKS_MAX, "locks", NULL,
                           "locks held at one event that are listed",
                           "Of more locks held at one event those acquired last are listed", false},
    [LIMIT_REGION_ACCESSES] = {"region_accesses", LIMIT_REGION_ACCESSES_MAX, "accesses", NULL,
                               "accesses of a region that are combined",
                               "Of a larger atomic region, the nearest accesses of each two source positions are "
                               "combined. An ASV of others is neither found nor refuted. --every combines all",
                               false},
    [LIMIT_COMBINATIONS] = {"combinations", 8192, "combinations", LIMIT, "combinations of accesses that are tried",
                            "At least as many groups of accesses are combined before a search without a result ends",
                            false},
    [LIMIT_RACES_OF_CELL] = {"races_of_cell", 1000, "races", LIMIT, "pairs of positions that race on one cell",
                             "Of more pairs of source positions that race on the same bytes, accesses next to one "
                             "another in the trace come "
                             "first. Pairs spread over threads and positions follow. None of those listed is refuted. "
                             "--every lists all pairs "
                             "of events",
                             false},
    [LIMIT_ANOMALIES] = {"anomalies", 25000, "anomalies", LIMIT, "anomalies of one kind that are kept",
                         "Of more anomalies of one kind, by source positions, the first that are found are kept",
                         false},
    [LIMIT_EVERY] = {"anomalies_every", 500000, "anomalies", LIMIT, "anomalies of one kind that are kept",
                     "With --every, of more anomalies of one kind the first that are found are listed. The report "
                     "names this limit anomalies",
                     false},
    [LIMIT_ACCESS_PAIRS] = {"access_pairs", 1 << 26, "pairs", LIMIT,
                            "pairs of groups of accesses that are compared for races, and for ASVs",
                            "In cells with more groups of accesses (by thread and position), accesses next to one "
                            "another are compared first. There may be other races and ASVs, and counts are lower "
                            "bounds",
                            false},
    [LIMIT_SEARCH_STEPS] = {"search_steps", 1 << 29, "steps", LIMIT, "steps of the search for anomalies of one kind",
                            "Where accesses of one variable, or of one atomic region, take more of them than their "
                            "share, some are not compared. There may be other anomalies there, and counts are lower "
                            "bounds",
                            false},
    [LIMIT_CYCLE_STEPS] = {"cycle_steps", 4000000, "steps", LIMIT, "steps to find the deadlocks of one length",
                           "Further cycles of locks with as many threads are not looked for", false},
    [LIMIT_CYCLE_THREADS] = {"cycle_threads", LIMIT_CYCLE_THREADS_MAX, "threads", NULL,
                             "threads of a deadlock that did not occur",
                             "There may be deadlocks of more threads. Those that did not occur are not listed", false},
    [LIMIT_SEARCH_EVENTS] = {"search_events", 500000, "events", BUDGET, "events executed for one anomaly",
                             "A candidate that is not decided within them stays predicted", false},
    [LIMIT_SEARCH_EVENTS_TOTAL] = {"search_events_total", 50000000, "events", TOTAL,
                                   "events executed for all anomalies",
                                   "Candidates that are not decided within them stay predicted", false},
    [LIMIT_ORDER_EVENTS_TOTAL] = {"order_events_total", 200000000, "events", LIMIT,
                                  "events executed to find what comes first",
                                  "Further pairs of events of sequences are left to the search for each candidate",
                                  true},
    [LIMIT_BUILT_EVENTS_TOTAL] = {"built_events_total", 100000000, "events", LIMIT,
                                  "events of schedules that are built in one go",
                                  "Further candidates get no schedule that is built without a search", true},
    [LIMIT_JUDGED_EVENTS_TOTAL] = {"judged_events_total", 500000000, "events", LIMIT,
                                   "events of schedules of stamped traces that are judged",
                                   "Further observed anomalies of a stamped trace have no schedule in the report, and "
                                   "further candidates stay predicted or conditional",
                                   true},
    [LIMIT_CHECKED_EVENTS_TOTAL] = {"checked_events_total", 2000000000, "events", LIMIT,
                                    "events that are looked at for what candidates need, and to check schedules",
                                    "Further observed anomalies have no schedule in the report, and further candidates "
                                    "stay predicted or conditional",
                                    true},
    [LIMIT_SHORTENED_EVENTS_TOTAL] = {"shortened_events_total", 100000000, "events", LIMIT,
                                      "events of schedules that are made shorter",
                                      "Further schedules have more events and turns than they need", true},
    [LIMIT_OBSERVED_STEPS_TOTAL] = {"observed_steps_total", 25000000, "steps", LIMIT,
                                    "steps of schedules of what was observed",
                                    "Further observed anomalies have no schedule in the report", true},
    [LIMIT_SETTLE_EVENTS_TOTAL] = {"settle_events_total", 6250000, "events", LIMIT,
                                   "events executed for all conditional anomalies",
                                   "Further conditional anomalies have no needs, and may be impossible", true},
    [LIMIT_FREE_EVENTS_TOTAL] = {"free_events_total", 3125000, "events", LIMIT,
                                 "events of schedules in which reads see other writes",
                                 "Further conditional anomalies have no needs, and may be impossible", true},
    [LIMIT_INSTANCES] =
        {"instances", LIMIT_INSTANCES_MAX, "instances", NULL, "instances of one anomaly that are looked at",
         "Of more instances of one anomaly that none of the provers decides, these are looked at in any "
         "case",
         false},
    [LIMIT_SEARCH_STATES] = {"search_states", LIMIT_SEARCH_STATES_MAX, "states", LIMIT, "states that are visited",
                             "With --exhaustive, what is open then is left to the other provers", false},
    [LIMIT_FOLLOWS] = {"follows", 50000000, "comparisons", LIMIT, "steps to find what follows from what",
                       "Some races that follow from another do not name it", false},
    [LIMIT_SCHEDULE_STEPS] = {"schedule_steps", 1000000, "steps", LIMIT, "steps of all schedules",
                              "The longest schedules are left out", false},
    [LIMIT_LISTED_ANOMALIES] = {"listed_anomalies", 5000, "anomalies", LIMIT, "anomalies that JSON lists",
                                "Of more anomalies JSON lists the most urgent atomicity violations and ASVs of each "
                                "finding, the same number of each, and all others. --anomalies lists all",
                                false},
    [LIMIT_LISTED_CALLS] = {"listed_calls", 20000, "calls", LIMIT, "calls in stacks that JSON lists in place",
                            "In JSON only the first anomaly of each error and warning has its stacks in place. Those "
                            "of others are in stacks, by number",
                            false},
};

/* The default of a limit that scales, for this total. */
static uint64_t scaled(enum limit limit, uint64_t total)
{
	const uint64_t usual = limit_infos[LIMIT_SEARCH_EVENTS_TOTAL].value, value = limit_infos[limit].value;
	if (value >= usual)
		return total > UINT64_MAX / (value / usual) ? UINT64_MAX : total * (value / usual);
	return total / (usual / value);
}

struct limits limits_complete(const struct limits *asked)
{
	struct limits l = {.hit = 0};
	uint64_t total = asked->of[LIMIT_SEARCH_EVENTS_TOTAL];
	for (enum limit i = 0; i < LIMITS; i++) {
		l.of[i] = asked->of[i] ? asked->of[i] : limit_infos[i].value;
		if (!asked->of[i] && limit_infos[i].scales && total)
			l.of[i] = scaled(i, total);
	}
	if (l.of[LIMIT_SEARCH_EVENTS] > l.of[LIMIT_SEARCH_EVENTS_TOTAL])
		l.of[LIMIT_SEARCH_EVENTS] = l.of[LIMIT_SEARCH_EVENTS_TOTAL];
	if (l.of[LIMIT_SEARCH_STATES] > LIMIT_SEARCH_STATES_MAX)
		l.of[LIMIT_SEARCH_STATES] = LIMIT_SEARCH_STATES_MAX;
	return l;
}

enum limit limit_find(const char *name, uint64_t length)
{
	for (enum limit i = 0; i < LIMITS; i++)
		if (limit_infos[i].option && strlen(limit_infos[i].name) == length &&
		    !memcmp(limit_infos[i].name, name, length))
			return i;
	return LIMITS;
}
