/* What making a plan gathers from the passes over the trace, and what is then written; see plan.c and plan_write.c. */
#ifndef LIB_SCHEDULE_PLANNER_H
#define LIB_SCHEDULE_PLANNER_H

#include "lib/base/hash.h"
#include "lib/schedule/plan.h"

/* Where a thread stops: right before an event. */
struct stop {
	uint64_t ordinal; /* the thread has run up to this one; once found, of the event that it stops at */
	uint64_t mark;    /* index of that */
	uint64_t behind;  /* ordinal of the thread's last access or synchronisation before that */
	bool marked;      /* which is a mark */
	bool goal;        /* it is the next event that it must stop at */
	bool found;
};

struct site_key {
	uint64_t pc;
	uint64_t op;
};
struct site {
	struct site_key key;
	uint32_t index;
	uint32_t first_place, place_count; /* once written: in the build that is run */
	bool watched;
	UT_hash_handle hh;
};

/* A mark as the trace has it. */
struct raw_mark {
	uint64_t addr;
	uint32_t site;
	uint32_t base;
	uint64_t offset;
};

struct thread_plan {
	struct stop *stops; /* in the thread's order; the goal's is the last if it is one */
	size_t stop_count, next_stop;
	uint64_t last; /* ordinal of the last event of the schedule; then of the last mark */
	struct site_key seen_at;
	uint64_t seen; /* in a pass: ordinal of the last access or synchronisation; then of the last mark */
	struct raw_mark *marks;
	size_t mark_count, mark_capacity, at;
	uint64_t own_memory;        /* in a pass: address of its thread-local memory; 0: not met yet */
	uint64_t stack, stack_size; /* the same of its stack */
	bool done;
};

/* An address outside of all modules, and what it is now. */
struct plan_address {
	uint64_t addr;
	uint64_t offset;
	uint32_t base; /* RT_PLAN_NONE: not met yet */
};

struct planner {
	struct rt_trace *trace;
	const struct rebuilt *rebuilt; /* NULL: the recorded build is run */
	const struct plan_request *request;
	struct rt_error *err;
	const struct rt_module *modules; /* of the build that is run */
	size_t module_count;
	struct thread_plan *threads;
	uint32_t thread_count;
	struct stop **run_stops; /* by run of the request; NULL: nothing to do in it */
	struct stop *goal_stops[ANOMALY_EVENTS_MAX];
	uint64_t goal_marks[ANOMALY_EVENTS_MAX]; /* of a sequence */
	struct site *sites;
	uint32_t site_count;
	struct rt_plan_place *site_places;
	size_t site_place_count, site_place_capacity;
	struct plan_address *places;
	size_t place_count;
	struct rt_plan_base *bases;
	uint32_t base_count, base_capacity;
	uint32_t unfinished; /* threads of which this pass has not seen all */
	uint64_t missing;    /* position of an event of the goal that the other build does not have; 0: none */
	bool no_memory;
};

/*
 * Moves each event of the goal at which a thread leaves a barrier to its arrival, and cuts the runs. *made: the new
 * runs, owned by the caller; NULL: they are the request's own.
 */
enum rt_status planner_arrivals(struct rt_trace *trace, struct plan_request *q, struct plan_run **made,
                                struct rt_error *err);
/* Says that there is no memory for the plan. */
enum rt_status planner_no_memory(struct planner *p);
/* Index of the module that an address is in, RT_PLAN_NONE: in none. */
uint32_t planner_module(const struct planner *p, uint64_t addr);
/* The plan as the file has it; owned by the caller. */
enum rt_status planner_write(struct planner *p, struct rt_plan **out);

#endif
