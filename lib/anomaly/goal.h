/* Goals and schedules: the events that a witness must reach, and the order of events that reaches them. */
#ifndef LIB_ANOMALY_GOAL_H
#define LIB_ANOMALY_GOAL_H

#include "lib/anomaly/anomaly.h"

/*
 * RACE: after the schedule both events are next in their threads. SEQUENCE: the schedule executes the events in this
 * order and ends with the last one. DEADLOCK: after the schedule every thread is about to execute its acquire, which
 * another of them blocks.
 */
enum goal_kind { GOAL_RACE, GOAL_SEQUENCE, GOAL_DEADLOCK };

struct goal {
	enum goal_kind kind;
	uint32_t count;
	uint32_t events[ANOMALY_EVENTS_MAX]; /* event indices */
	/* Of a program's trace: a read of its own may see another value though its thread executes the goal's next
	 * event. The program may not do so: of what is proved this is false. */
	bool runs_on;
};

/* The goal of an anomaly's instance. */
struct goal goal_of(const struct anomaly *a);
/* That of instance i: 0 is the anomaly's own, the others follow. */
struct goal goal_of_instance(const struct anomaly *a, uint32_t i);

/* The goal's last event in the trace. */
static inline uint32_t goal_last(const struct goal *g)
{
	uint32_t last = 0;
	for (uint32_t i = 0; i < g->count; i++)
		last = g->events[i] > last ? g->events[i] : last;
	return last;
}
/* True if e is one of the goal's events. */
static inline bool goal_has(const struct goal *g, uint32_t e)
{
	for (uint32_t i = 0; i < g->count; i++)
		if (g->events[i] == e)
			return true;
	return false;
}
/* The WAIT_BEGIN of a wait for a condition that only a signal ends, of its end, which comes right behind; MODEL_NONE: e
 * ends no such wait. */
uint32_t goal_wait_begin(const struct model *m, uint32_t e);
/*
 * True if event i of these, which all stand still, is the end of a wait for a condition whose signal has not come.
 * Otherwise a wait that ends waits for its mutex, which the thread of another one holds.
 */
bool goal_awaits_signal(const struct model *m, const uint32_t *events, uint32_t count, uint32_t i);
/* True if a wait of the goal does. */
bool goal_awaits_any(const struct model *m, const struct goal *g);
/* True if e is a goal event that a witness executes, as in a sequence. */
static inline bool goal_runs(const struct goal *g, uint32_t e)
{
	return g->kind == GOAL_SEQUENCE && goal_has(g, e);
}
/* True if the goal's event i comes right after the goal's previous one in the same thread, whatever that one sees: it
 * may then see another write. In a program what it reads may decide what comes next. */
static inline bool goal_continues(const struct goal *g, const struct model *m, uint32_t i)
{
	return i && g->events[i - 1] == model_pred(m, g->events[i]) &&
	       (!m->program || g->runs_on || !rt_op_reads(model_op(m, g->events[i - 1])));
}

/*
 * Some of the trace's events are several of the model's, with one number: its parts. A call on a lock reads the lock's
 * memory and then takes it. A listed schedule counts the trace's events. A thread stops behind a whole one, or at the
 * goal. At a race or a deadlock that is before the goal's event, when it has run the parts before that; in a sequence
 * it is behind it.
 */
/* True if the parts behind e of the same event wait for no other thread: they may as well run with it. */
bool parts_wait_for_nothing(const struct model *m, uint32_t e);
/* Number of kept events that its thread has run when it stops at e, an event of a sequence. Parts behind e that wait
 * for nothing are run as well, unless e is the sequence's last event. */
uint32_t goal_stop(const struct model *m, const struct goal *g, uint32_t e);

/* Appends an event of the model; false without memory. */
bool schedule_push(struct schedule *s, const struct model *m, uint32_t event);
/* Appends, in the order of the trace, those of the first count[t] events of each thread t that come before the event
 * `end`. Takes time linear in the turns of the trace's threads, not in their events. False without memory. */
bool schedule_push_recorded(struct schedule *s, const struct model *m, const uint32_t *count, uint32_t end);
void schedule_release(struct schedule *s);

#endif
