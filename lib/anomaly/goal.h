/* Goals and schedules: what a witness must reach, and the order of events that reaches it. */
#ifndef LIB_ANOMALY_GOAL_H
#define LIB_ANOMALY_GOAL_H

#include "lib/anomaly/anomaly.h"

/*
 * RACE: after the schedule both events are next in their threads. SEQUENCE: the schedule executes the events in this
 * order and ends with the last one. DEADLOCK: after the schedule every thread stands before its acquire, which another
 * one of them blocks.
 */
enum goal_kind { GOAL_RACE, GOAL_SEQUENCE, GOAL_DEADLOCK };

struct goal {
	enum goal_kind kind;
	uint32_t count;
	uint32_t events[ANOMALY_EVENTS_MAX]; /* event indices */
};

/* The goal that stands for an anomaly's instance. */
struct goal goal_of(const struct anomaly *a);

/* Is e one of the goal's events? */
static inline bool goal_has(const struct goal *g, uint32_t e)
{
	for (uint32_t i = 0; i < g->count; i++)
		if (g->events[i] == e)
			return true;
	return false;
}
/* Is e one of those that a witness executes: a sequence's? */
static inline bool goal_runs(const struct goal *g, uint32_t e)
{
	return g->kind == GOAL_SEQUENCE && goal_has(g, e);
}
/* Is the goal's event i right behind the one before it in the same thread? That one may have seen another write then.
 */
static inline bool goal_continues(const struct goal *g, const struct model *m, uint32_t i)
{
	return i && g->events[i - 1] == model_pred(m, g->events[i]);
}

/* Appends an event of the model; false without memory. */
bool schedule_push(struct schedule *s, const struct model *m, uint32_t event);
/* Appends, in the order of the trace, those of the first count[t] events of each thread t that come before the event
 * `end`. Takes time for the turns of the trace's threads, not for their events. False without memory. */
bool schedule_push_recorded(struct schedule *s, const struct model *m, const uint32_t *count, uint32_t end);
void schedule_release(struct schedule *s);

#endif
