/*
 * What the parts of the strategy `follow` share: follow.c follows the plan, match.c compares the program's steps with
 * its marks, instead.c has the threads that go on where the plan's next one cannot, cycle.c knows a deadlock, seek.c
 * and sequence.c look for the goal where the plan has no steps.
 */
#ifndef RECORDER_SCHED_FOLLOW_H
#define RECORDER_SCHED_FOLLOW_H

#include "recorder/sched/strategy.h"
#include "tracefmt/plan.h"

typedef struct rt_plan_thread_state state_t;

/* What a step is to the thread's next mark. */
enum meets { IS_MARK, NO_MATTER, OTHER_EVENT };

extern struct rt_plan *rt_follow_plan; /* in the control area */
extern state_t rt_follow_nobody;       /* of threads that the plan does not have */
extern unsigned rt_follow_resolved;    /* events of the goal that were let through */

#define PART(type, member) ((type *)(void *)((char *)rt_follow_plan + rt_follow_plan->member))

static inline state_t *states(void)
{
	return PART(state_t, states);
}
static inline const struct rt_plan_thread *thread_of(const state_t *s)
{
	return PART(const struct rt_plan_thread, threads) + (s - states());
}
static inline const struct rt_plan_mark *mark_of(const state_t *s)
{
	return PART(const struct rt_plan_mark, marks) + thread_of(s)->first_mark + s->mark;
}
static inline bool past_marks(const state_t *s)
{
	return s->mark >= thread_of(s)->mark_count;
}
/* True if the thread only has to go on, in or behind a step that it has done. */
static inline bool is_between(const state_t *s, const struct rt_task *task)
{
	return s->done == task->next.count;
}

/* The plan's thread that a task is; nobody if it has none. */
state_t *rt_follow_state(struct rt_task *task);
/* The task of a plan's thread; NULL: it has not begun, or has ended. */
struct rt_task *rt_follow_task(uint32_t thread);
/* The task, if it is one of the n. */
struct rt_task *rt_follow_among(struct rt_task *const *enabled, unsigned n, const struct rt_task *task);

/* True if it can go on. One that let others go first is not among the enabled ones while there are such. */
static inline bool rt_follow_can_go(struct rt_task *const *enabled, unsigned n, const struct rt_task *task)
{
	return rt_follow_among(enabled, n, task) || (task->state == RT_READY && (task->yielded || task->tired));
}
/* True if it waits for a descriptor, or for another process. */
static inline bool rt_follow_is_polled(const struct rt_task *task)
{
	return task->state == RT_BLOCKED && (task->fds || task->shares);
}

/* True if it is outside, and may come back whatever the others do. One that sleeps in a library that has threads of its
 * own waits for another one. */
bool rt_follow_is_outside(const struct rt_task *task);

/*
 * What a thread does in the end need not be in the plan, but a join waits for it: the thread that is joined, or that it
 * joins in turn, and that has no more steps. NULL: none.
 */
struct rt_task *rt_follow_joined(struct rt_task *task, struct rt_task *const *enabled, unsigned n);
/*
 * True if what the thread waits for comes in its own time: a library, which makes the thread, or a timer, whose signal
 * interrupts it. No thread waits for that in a call, so the watcher has to look: to be asked of each thread that the
 * plan has next.
 */
bool rt_follow_comes(const state_t *s, const struct rt_task *task);
/*
 * True if the thread has yielded for long without coming to its next mark. No other thread runs meanwhile: what it
 * waits for, it waits for by what no hook shows. A plain computation does not yield.
 */
bool rt_follow_spins(const state_t *s, const struct rt_task *task);
/* The step's thread cannot go on: the one that does instead. comes: see rt_follow_comes. NULL: none; *stuck: nothing
 * comes, either. */
struct rt_task *rt_follow_instead(const state_t *s, struct rt_task *task, bool comes, struct rt_task *const *enabled,
                                  unsigned n, bool *stuck);

/* True if each thread of the goal waits for a lock of another one, for its end, or for what it is to give. */
bool rt_follow_cycle_stands(void);
/* True if the thread waits for what threads outside the goal could give, too: a post, a signal, an arrival or a result.
 */
bool rt_follow_awaits_any(const struct rt_task *task);
/* True if one of the goal's does. */
bool rt_follow_cycle_is_open(void);
/* What the step that a thread is about to execute is to its next mark. */
enum meets rt_follow_compare(state_t *s, const struct rt_step *e);
/* The step as an event of the plan. */
struct rt_plan_event rt_follow_event(const struct rt_step *e);
/* The thread goes on with this step. */
void rt_follow_executes(state_t *s, const struct rt_step *e, enum meets meets);
/* A thread that has found out that its step cannot be done yet is before its mark again. */
void rt_follow_retract(state_t *s, const struct rt_task *task);
/* True if the step is of a site's operation, at one of its positions. */
bool rt_follow_is_at(const struct rt_plan_site *site, const struct rt_step *e);
/* True if it is an access that is not atomic. */
bool rt_follow_is_plain(unsigned op);
/* True if both are about to access the same memory, one of them to write it, and not both by atomic operations. */
bool rt_follow_pending(const struct rt_task *a, const struct rt_task *b);
/* True if the mark is an event of the goal. */
bool rt_follow_is_goal(const state_t *s, uint64_t mark);
/* Operations that differ only in what comes of them are one. */
unsigned rt_follow_class(unsigned op);

/* The goal was reached: says so, and stops the process if it is to be held. */
void rt_follow_confirmed(void);

/* The thread that goes on, of n that can, when the plan has no steps. NULL: time passes, or the goal was reached. */
struct rt_task *rt_seek(struct rt_task *current, struct rt_task *const *enabled, unsigned n);
/* True if the thread is at a site of the goal. */
bool rt_seek_is_at_goal(const struct rt_task *task);
/* The thread that was found at the goal's i-th event. */
struct rt_task *rt_seek_found(unsigned i);
/* Room for all tasks in two sets, which a look for the goal uses. False: there is no memory. */
bool rt_seek_make_room(void);
extern struct rt_task **rt_seek_kept, **rt_seek_others;
/*
 * Puts those that yielded and are not held among the others. They are not among the enabled ones while there are such,
 * and yet they need not wait for one that is held. Returns their number.
 */
unsigned rt_seek_yielding(bool (*is_held)(const struct rt_task *));
/*
 * True if those that are held, with none that can go on, wait for a thread that is outside, or that waits for a
 * descriptor or another process: it may come to the goal as well. It may also wait for one of them, so that they wait
 * neither long nor often. To be asked at each decision: the watcher has to look meanwhile.
 */
bool rt_seek_awaits_outside(bool only_held);
/* rt_seek of a sequence. */
struct rt_task *rt_sequence_seek(struct rt_task *current, struct rt_task *const *enabled, unsigned n);
/* To be called at each step in which rt_sequence_seek is not. */
void rt_sequence_look(void);

#endif
