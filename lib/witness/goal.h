/* Goals and schedules: what a witness must reach, and the order of events that reaches it. */
#ifndef LIB_WITNESS_GOAL_H
#define LIB_WITNESS_GOAL_H

#include "lib/search/anomaly.h"

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

/* Appends an event of the model; false without memory. */
bool schedule_push(struct schedule *s, const struct model *m, uint32_t event);
void schedule_release(struct schedule *s);

#endif
