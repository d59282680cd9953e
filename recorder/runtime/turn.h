/*
 * Turns: how hooks and interceptors talk to the controlled scheduler (recorder/sched), under which one thread of the
 * process runs at a time. Without it rt_controlled is false, and nothing here is called.
 *
 * A thread announces a step before it, and continues when it has the turn. It keeps the turn until it announces the
 * next one, so the operation itself, its event and what it enables for others are one step.
 */
#ifndef RECORDER_TURN_H
#define RECORDER_TURN_H

#include "recorder/runtime/recorder.h"
#include "recorder/watch.h"

#include <time.h>

struct rt_thread;
struct rt_task;

/*
 * There are two recorders, made of the same files. In the controlled one threads may take turns, and a plain access may
 * be a step. In the other the compiler leaves out all that asks for it.
 */
#ifndef RT_CONTROLLED
#define RT_CONTROLLED 0
#endif

#if RT_CONTROLLED
extern bool rt_controlled; /* threads that have a task take turns */
#else
enum { rt_controlled = false };
#endif

/* See watch.h. */
extern unsigned char rt_interest[RT_INTEREST_SIZE];

/* True if the strategy is told of calls, blocks and the initialisation of objects: the functions below. */
extern bool rt_turn_told;
void rt_turn_enters(uintptr_t function, const void *frame); /* a function's first instructions; and its frame */
void rt_turn_exits_function(void);
void rt_turn_allocates(uintptr_t block, size_t size, uintptr_t pc);
void rt_turn_frees(uintptr_t block);
void rt_turn_initializes(uintptr_t object, uintptr_t pc);

/* A time at which a wait ends. NULL: never. */
struct rt_until {
	const struct timespec *time;
	clockid_t clock; /* of which it is a time; RT_CLOCK_DURATION: a duration */
};
#define RT_CLOCK_DURATION (-1)
#define RT_FOREVER ((struct rt_until){NULL, 0})
#define RT_UNTIL(of_clock, at) ((struct rt_until){(at), (of_clock)})

/* Starts the scheduler if the channel has a control area; by the main thread, once its slot is open. */
void rt_turn_start(struct rt_slot *slot);
/* The process is about to end, or to become another program. */
void rt_turn_exits(bool executes);

/* The slot's thread was made, and waits: its first turn is a decision. */
void rt_turn_created(struct rt_slot *slot);
/* The slot's thread, in it: waits for its first turn. False: it roams, and has no event before it comes. */
bool rt_turn_begin(struct rt_slot *slot, uintptr_t pc);
/* This thread has ended. */
void rt_turn_end(void);
/* True if the thread with this index has not ended. */
bool rt_turn_lives(uint32_t thread);
/* pthread_cancel was called for it. */
void rt_turn_canceled(struct rt_thread *thread);

/*
 * A task that is a thread of the trace, with this slot, begins in this thread, which roams: it is one of those that
 * take turns, and roams at first as well. Returns what the thread was, for when the task ends; NULL: it takes no turns.
 */
struct rt_task *rt_turn_task_begins(struct rt_slot *slot, bool lone, uintptr_t pc);
void rt_turn_task_ends(struct rt_task *runner);

/*
 * Before an operation: returns when this thread has the turn and the strategy has chosen it. blocks: it cannot be done
 * while another thread holds the object.
 */
void rt_turn_step(unsigned op, uint64_t object, uint64_t arg, uintptr_t pc, unsigned flags, bool blocks);
/* Before the event of a synchronisation operation: a step if the event comes before the operation. */
void rt_turn_emits(unsigned op, uint64_t object, uint64_t arg, uintptr_t pc, unsigned flags);
/* Behind it: threads that wait for what it gives try again. */
void rt_turn_emitted(unsigned op, uint64_t object);
/* This thread has taken the semaphore's last token, or has begun the once-routine. */
void rt_turn_took_last(uint64_t object);
/* True if the semaphore has no token (sem.c). */
bool rt_sem_is_zero(uint64_t semaphore);
/* A plain access at an interesting pc, or one that ends the thread's quantum (plain.h). */
void rt_turn_access(unsigned op, uint64_t object, uint64_t size, uintptr_t pc, unsigned flags);
/* Returns when this thread has the turn, without a step if it has. */
void rt_turn_hold(uintptr_t pc);

enum rt_turn_result { RT_TURN_AGAIN, RT_TURN_TIMEOUT, RT_TURN_CANCELED, RT_TURN_FREE };
/* Another process may give what the thread's next wait is for. */
void rt_turn_shares(void);
/*
 * The step cannot be done: waits until it may be tried again, or for a condition, barrier or thread until it was woken.
 * CANCELED: pthread_cancel was called for this thread, if it is cancelable. FREE: threads take no turns any more.
 */
enum rt_turn_result rt_turn_block(unsigned op, uint64_t object, struct rt_until until, bool cancelable);
/* Threads that wait for the object try again. */
void rt_turn_gives(uint64_t object);
/* Wakes at most `most` threads (the strategy picks them) that wait to do op with the object; returns their number. */
unsigned rt_turn_wakes(unsigned op, uint64_t object, unsigned most);
/* A signal was sent to it: whatever it waits for, it gets a turn for the handler. */
void rt_turn_signaled(const struct rt_thread *thread);
/* True if this wait for a condition is to end without a signal; another thread may go on meanwhile. */
bool rt_turn_is_spurious(void);
/* True if the thread tries again because no other one can go on: what it waits for may be given by another process. */
bool rt_turn_is_last_chance(void);
/* Number of threads that wait to do op with the object. */
unsigned rt_turn_waiters(unsigned op, uint64_t object);

/* What an atomic operation, or a try that failed, saw: a thread that always sees the same spins. */
void rt_turn_saw(uint64_t object, uint64_t value, uintptr_t pc);
/* What the clock says: *to, and the pauses that took no time; or logical time (RT_CONTROL_FIX_TIME), of which each look
 * takes a moment. */
void rt_turn_clock(clockid_t clock, struct timespec *to);
/* Lets other threads run first, if any can. */
void rt_turn_yield(uintptr_t pc);
/* Time passes when no other thread can go on, and with steps. */
void rt_turn_sleep(struct rt_until until, uintptr_t pc);
/* The same before the process ends: a strategy to which pauses are nothing is to have the other threads' steps, too. */
void rt_turn_lets_others(struct rt_until until);
/*
 * Waits until one of the n descriptors is ready, or the time. False: it need not, as no other thread lives. They are
 * the caller's until it returns.
 */
struct pollfd;
bool rt_turn_polls(struct pollfd *fds, unsigned n, struct rt_until until, uintptr_t pc);
/* Around a call that may block otherwise: the thread gives up the turn, and queues for it when it is back. */
void rt_turn_leaves(uintptr_t pc);
void rt_turn_returns(uintptr_t pc);
/* Before something that may wake threads that are outside: they come back before this thread's next step. */
void rt_turn_woke(void);
bool rt_turn_is_outside(void); /* if rt_controlled */
/*
 * The same around code of a library that has threads of its own, which calls what is interposed: that takes no turn.
 * Threads that this one creates begin in that way. It comes back when n threads (0: this one alone) have come to the
 * gate.
 */
void rt_turn_roams(uintptr_t pc);
void rt_turn_comes(uint64_t gate, unsigned n, uintptr_t pc);
bool rt_turn_is_roaming(void);
/* Before a lock without a try is taken: waits until no other thread holds it, by what events say. */
void rt_turn_takes(uint64_t lock, uintptr_t pc);

/*
 * What may wake a thread that no other thread of these does: a thread that takes no turns; a signal's handler, for
 * which a run that seems deadlocked waits a moment; and where timers are set, for ever.
 */
void rt_turn_has_foreign(void);
void rt_turn_handles(void);
void rt_turn_times(void);

/* True if this thread takes turns. */
bool rt_turn_takes_part(void);
static inline bool rt_turn_mine(void)
{
	return rt_controlled && rt_turn_takes_part();
}

static inline void rt_turn_foreign(void)
{
	if (rt_controlled)
		rt_turn_has_foreign();
}

#endif
