/*
 * Strategies decide which thread runs next. A strategy is a file that defines one struct rt_strategy, and a line in
 * strategy.c.
 *
 * All functions are called by the thread that has the turn, inside the recorder: they allocate nothing but by
 * rt_sched_memory, and call no interposed function.
 */
#ifndef RECORDER_SCHED_STRATEGY_H
#define RECORDER_SCHED_STRATEGY_H

#include "recorder/control.h"
#include "recorder/runtime/recorder.h"

/* The operation that a thread is about to do. It has not begun. */
struct rt_step {
	/*
	 * enum rt_op. NONE: what is no event (a pause, a call that may block, the end of a quantum, the end of the
	 * process). BEGIN: the first turn of a new thread. ACQUIRE: of a try or timed lock too (RT_F_TIMED). WAIT_END:
	 * it was woken, or time is up, and takes the mutex again.
	 */
	uint8_t op;
	uint8_t flags;   /* RT_F_* */
	bool blocks;     /* cannot be done while another thread holds the object */
	uint64_t object; /* address; index of a thread for JOIN; of FORK: 0 */
	uint64_t arg;    /* size of an access; the mutex of a wait */
	uintptr_t pc;    /* as in the trace */
	uint64_t count;  /* the thread's n-th step, from 1 */
};

/* A controlled thread. */
struct rt_task {
	uint32_t thread;               /* index in the trace */
	uint32_t parent, child_number; /* n: the n-th child of the thread `parent` */
	enum rt_state state;
	struct rt_step next;
	void *own; /* the strategy's; NULL at first */

	/* The scheduler's. */
	struct rt_task *before, *after; /* live tasks in order of creation */
	struct rt_thread *data;         /* NULL: the thread has not begun */
	uint32_t go;                    /* futex word: GO_* in turn.c */
	int32_t tid;                    /* 0: it has not begun */
	uint64_t waits;                 /* RT_BLOCKED: for this object, */
	uint8_t waits_op;               /* to do this with it */
	bool timed_out, cancelable, canceled, interrupted, yielded, roams;
	uint64_t yielded_at;        /* step */
	uint64_t wakes, wakes_real; /* RT_BLOCKED: virtual and real time, ns, at which the wait ends; 0: never */
	struct pollfd *fds;         /* RT_BLOCKED: for one of these to be ready; NULL: not */
	unsigned fd_count;
	struct {
		uint64_t object, value;
		uintptr_t pc;
	} seen[4]; /* last looks at atomics */
	unsigned seen_next, repeats;
	uint32_t quantum; /* plain accesses until its next look at others */
	uint64_t records; /* in the ring at the end of the last quantum */
};

struct rt_strategy {
	const char *name;
	/* Before the first step. False: the input makes no sense; the report says why. */
	bool (*init)(const struct rt_control *control);
	/* At each step of the thread that has the turn. True: it goes on without a decision. NULL: always a decision.
	 */
	bool (*goes_on)(struct rt_task *current);
	/*
	 * Which goes on? enabled: in order of creation, each could do its step at once. current may not be among them.
	 * NULL: none may now; the scheduler waits for a thread that is outside, or calls stuck.
	 */
	struct rt_task *(*choose)(struct rt_task *current, struct rt_task *const *enabled, unsigned n);
	/* Which waiter does a signal wake? NULL: the first that came. */
	struct rt_task *(*wakes)(struct rt_task *signaller, struct rt_task *const *waiters, unsigned n);
	/* None can go on. NULL, or if it returns: a deadlock. */
	void (*stuck)(void);
	/* A module was loaded (rt_sched_modules). May be NULL. */
	void (*modules_changed)(void);
};
extern const struct rt_strategy *const rt_strategies[]; /* NULL-terminated */
extern const struct rt_strategy rt_strategy_random, rt_strategy_follow;

/* Plain accesses at this pc are steps. A few others may be too. */
void rt_sched_interest(uintptr_t pc);
/* Calls f for each module that is loaded. build_id: n bytes. */
void rt_sched_modules(void (*f)(const char *path, const uint8_t *build_id, size_t n, uintptr_t base, void *arg),
                      void *arg);
/* Appends to the report; what does not fit is left out. */
void rt_sched_report(const char *text);
/* Ends the process, after the result is written. */
void rt_sched_end(enum rt_end end) __attribute__((noreturn));
/* NULL: there is none, or it has ended. */
struct rt_task *rt_sched_task(uint32_t thread);
/* Those that have not ended, in order of creation. Returns their number; at most `most` are stored. */
unsigned rt_sched_live(struct rt_task **to, unsigned most);
/* Memory, zeros, that is never given back. NULL: there is none. */
void *rt_sched_memory(size_t size);
/* The next number of the scheduler's own random sequence, which the seed begins. */
uint64_t rt_sched_random(void);

#endif
