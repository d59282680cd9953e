/* What the scheduler's own files share. The fields are under rt_sched.lock, as are the functions that do not take it.
 */
#ifndef RECORDER_SCHED_SCHED_H
#define RECORDER_SCHED_SCHED_H

#define RT_CONTROLLED 1 /* turn.h */
#include "recorder/runtime/core.h"
#include "recorder/runtime/turn.h"
#include "recorder/sched/strategy.h"

struct rt_sched {
	unsigned char lock;
	const struct rt_strategy *strategy;
	struct rt_control *control;
	struct rt_task *tasks;           /* by slot */
	struct rt_task *first, *last;    /* live ones, in order of creation */
	struct rt_task **enabled;        /* room for all */
	struct rt_task *holder;          /* has the turn; NULL: all that could go on are outside */
	unsigned live, outside, blocked; /* number of tasks */
	struct rt_task *left;            /* went outside last, and which goes on was not decided since; NULL: it was */
	bool settling;                   /* no thread gets the turn before those outside sleep or are back */
	uint64_t settles_since;          /* real time, ns */
	int32_t dying;           /* kernel's number of a thread that has ended and may not be gone yet; 0: none */
	uint64_t steps, chance;  /* chance: the step at which all were last told to try again */
	uint64_t now, next_wake; /* virtual time, ns; next_wake UINT64_MAX: none */
	uint64_t skipped;        /* by which the program's clocks are ahead of the system's, ns */
	uint64_t naps;           /* waits that ended by their time, or could have */
	uint64_t random;
	uint32_t alarm;     /* futex word of the watcher: counted up when it has to look at once */
	bool watched;       /* there is one */
	bool foreign;       /* there are threads that take no turns, or timers with handlers */
	bool times;         /* a timer was set */
	bool handles;       /* a signal's handler may run and wake a thread */
	bool overdue;       /* none came for a while */
	unsigned computing; /* tasks that are outside as they compute */
	unsigned polling;   /* tasks that wait for descriptors, for other processes, or for what comes by itself */
};
extern struct rt_sched rt_sched;

#define RT_STEP_NS 1000u   /* of virtual time that a step takes */
#define RT_SPIN_REPEATS 8u /* equal looks at unchanged values after which a thread spins */
#define RT_QUANTUM 20000u  /* plain accesses until a thread looks at the others, at first */

void rt_sched_lock(void);
void rt_sched_unlock(void);
/* The task that is to have the turn; NULL: none can now. current: the one that has it, or NULL. Ends a run that is
 * stuck. */
struct rt_task *rt_sched_pick(struct rt_task *current);
/* Gives it the turn and releases the lock. NULL: to no thread. */
void rt_sched_give(struct rt_task *to);
/* Takes the task from the blocked ones. */
void rt_sched_unblock(struct rt_task *t);
/* Time passes: ends the waits whose time has come. True: there were any. */
bool rt_sched_tick(uint64_t ns);
/* Time passes until the first wait ends. False: there is none, or what is outside may come back first. */
bool rt_sched_jump(void);
/* What the kernel says the time is, ns. By a system call: a wrapped or intercepted function would be a step. */
uint64_t rt_sched_real_ns(clockid_t clock);
/* The program's clocks go on to where such a wait would end. */
void rt_sched_skip(struct rt_until until);
/* The task's wait, which is about to begin, ends at this time. */
void rt_sched_set_alarm(struct rt_task *t, struct rt_until until);
/* What the step takes: the object, or the mutex at the end of a wait. */
uint64_t rt_step_lock(const struct rt_step *step);
/* True if the task holds the lock, so that another one cannot take it, or take it shared. By what events say. */
bool rt_sched_keeps(const struct rt_task *task, uint64_t lock, bool shared);
/* True if another thread holds what the task's step takes, by what events say. */
bool rt_sched_is_held(const struct rt_task *t);
/* True if the thread finds out by a try whether it can do what it waits for. */
bool rt_sched_may_try(const struct rt_task *t);
/* The same, if it is not in a handler, after which it goes on then. */
void rt_sched_wake(struct rt_task *t);
/* True if the thread, after a handler, finds out by itself whether it still has to wait. */
bool rt_sched_looks_again(const struct rt_task *t);
/* Those that wait to do op with the object, in rt_sched.enabled; returns their number. */
unsigned rt_sched_waiters(unsigned op, uint64_t object);

/* This thread's hooks are no steps: it takes no turns, or it is in the scheduler. */
bool rt_sched_is_free(void);
/* Into the scheduler, with the lock; out of it, without. */
struct rt_task *rt_sched_enter(void);
void rt_sched_leave(void);
/*
 * The three of a thread that wants the turn: all return when it has it. pass: by its state, which says whether it could
 * go on, it keeps the turn or another gets it. queue: it comes from outside. Both release the lock. await: without it.
 */
void rt_sched_pass(struct rt_task *t);
void rt_sched_queue(struct rt_task *t);
void rt_sched_await(struct rt_task *t);
/* Gives the turn, if no thread has it and none may be on its way back. The lock is held, and is released. */
void rt_sched_offer(void);
/* This thread, which has the turn, goes outside. The lock is held, and is released. */
void rt_sched_goes_outside(struct rt_task *t);
/* True if the task, the caller's, may have woken others outside, and has waited for them and then for the turn; the
 * lock, which is held, is released then. */
bool rt_sched_settle(struct rt_task *t);
/* True if some thread outside may be on its way back: the turn is not given before that is known. */
bool rt_sched_is_settling(void);
/* The state of the thread as the kernel says it, 'S' asleep, 'R' running; 0: not known. *times: how often it has gone
 * to sleep, which is to be known too; may be NULL. */
char rt_sched_look_at(int32_t tid, uint64_t *times);
/* Processor time of the thread, ns; 0: not known. */
uint64_t rt_sched_ran(int32_t tid);
/* By the watcher, without the lock: gives the turn as soon as all outside sleep. */
void rt_sched_look_outside(void);
/* rt_sched_pick when no thread has the turn; logs the decision if a thread has gone outside before it. */
struct rt_task *rt_sched_pick_settled(void);
/* Writes the decision into the log. */
void rt_sched_log(const struct rt_task *from, const struct rt_task *to);
/* True if plain accesses at this pc are steps, or if that cannot be excluded. */
bool rt_sched_interesting(uintptr_t pc);
/* Follows the calls of all threads from now on. False without memory. */
bool rt_sched_follow_calls(uint32_t slots);
/* Modules were loaded or unloaded. */
void rt_sched_see_modules(void);
/* Those of a thread that begins: none yet. */
struct rt_calls *rt_sched_calls(const struct rt_task *t);
/* True if, at the read's hook, the store of the write's hook before it is known to have taken place. */
bool rt_sched_has_stored(uintptr_t write, uintptr_t read);
/* True if the strategy named this pc itself. */
bool rt_sched_is_aimed_at(uintptr_t pc);
/* The input's aims. False: it makes no sense. */
bool rt_sched_aims_begin(const struct rt_control *control);
/* Finds their places in the modules that are loaded now. */
void rt_sched_aim(void);
/* Memory, strategy and seed. False: it runs uncontrolled, which has been said. */
bool rt_sched_begin(uint32_t slots);
/* Starts the thread that looks after the holder. Without the lock. */
void rt_sched_watch(void);

#endif
