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

/* Of a static variable: it belongs to the run of one process. A forked child has zeros there when its own run begins.
 */
#define RT_OF_RUN __attribute__((section("rt_of_run")))

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
enum { RT_TAKEN_MAX = 16 };
struct rt_task {
	uint32_t thread;               /* index in the trace */
	uint32_t parent, child_number; /* n: the n-th child of the thread `parent` */
	uintptr_t start;               /* its first function; 0: unknown */
	enum rt_state state;
	struct rt_step next;
	/* The strategy's; zeros at first. */
	void *own;
	uint64_t rank, since;

	/* The scheduler's. */
	struct rt_task *before, *after; /* live tasks in order of creation */
	struct rt_thread *data;         /* NULL: the thread has not begun */
	uint32_t go;                    /* futex word: GO_* in turn.c */
	int32_t tid;                    /* 0: it has not begun */
	uint64_t waits;                 /* RT_BLOCKED: for this object, */
	uint64_t waits_aside;           /* it did, until a handler interrupted it, and has not been woken */
	uint8_t waits_op;               /* to do this with it */
	bool timed_out, last_chance, cancelable, canceled, interrupted, yielded, roams;
	bool lone;                  /* a task of a team of one thread, which no other task meets */
	bool lingers;               /* it is about to end the process, and lets others go on for a while */
	bool woke;                  /* it may have woken others that are outside */
	bool unsettled;             /* RT_OUTSIDE: it may be on its way back */
	uint64_t slept, ran;        /* the same: what looks at it said (settle.c) */
	uint64_t computed;          /* RT_OUTSIDE as it computed for long: its processor time then, ns; 0: not so */
	bool tired;                 /* it kept the turn for long and only computed: others come first */
	uint64_t yielded_at;        /* step */
	uint64_t tired_at;          /* the same */
	uint64_t paused_at;         /* changes of threads when it last paused, plus one */
	uint64_t wakes, wakes_real; /* RT_BLOCKED: virtual and real time, ns, at which the wait ends; 0: never */
	uint64_t due;               /* the same by the program's clock; only if there is one */
	struct pollfd *fds;         /* RT_BLOCKED: for one of these to be ready; NULL: not */
	unsigned fd_count;
	bool shares; /* RT_BLOCKED: it tries again and again, for another process may give what it waits for */
	struct {
		uint64_t object, value;
		uintptr_t pc;
	} seen[4]; /* last looks at atomics */
	unsigned seen_next, repeats;
	/* Semaphores of which it took the last token, without a post by any thread since, and once-routines that it
	 * runs; 0: none. Further ones are not known. */
	uint64_t taken[RT_TAKEN_MAX];
	struct rt_calls *calls; /* NULL: they are not followed */
	uint32_t quantum;       /* plain accesses until its next look at others */
	unsigned spun;          /* quanta in a row in which it spun, up to a limit */
	uint64_t records;       /* in the ring at the end of the last quantum */
};

struct rt_strategy {
	const char *name;
	bool has_plan; /* the input is not a struct rt_aims */
	bool is_told;  /* it asks for the calls of threads, and for kinds of locks (calls.c) */
	bool timeless; /* a pause is nothing, unless no other thread has run since the last one: time is no order */
	/* Before the first step. False: the input makes no sense; the report says why. */
	bool (*init)(const struct rt_control *control);
	/* At each step of the thread that has the turn. True: it goes on without a decision. NULL: always a decision.
	 */
	bool (*goes_on)(struct rt_task *current);
	/*
	 * Which goes on? enabled: in order of creation, each could do its step at once. current may not be among them.
	 * NULL: none may now; the scheduler waits for a thread that is outside, or for a time. Where there is neither,
	 * any of them goes on.
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
extern const struct rt_strategy rt_strategy_random, rt_strategy_noise, rt_strategy_suspend, rt_strategy_pct,
    rt_strategy_pos, rt_strategy_coverage, rt_strategy_racefuzzer, rt_strategy_drfinder, rt_strategy_follow,
    rt_strategy_systematic;

/* The aims that the run was given; not NULL, unless the strategy has a plan. */
extern const struct rt_aims *rt_sched_aims;
/*
 * The places of the aims that a step is at: the index of the first one from `from` on, or RT_NO_PLACE. They are steps,
 * in whichever module.
 */
#define RT_NO_PLACE UINT32_MAX
uint32_t rt_sched_place(const struct rt_step *step, uint32_t from);
/* 0: its module is not there. */
uintptr_t rt_sched_place_pc(uint32_t place);
/* True now and then: often at first, so that small programs see many interleavings; rarely in long runs, where each
 * change of threads costs more than the step. */
bool rt_sched_hesitates(void);
/* One of them, each as likely as another. */
struct rt_task *rt_sched_any(struct rt_task *const *tasks, unsigned n);
/* The same, of those for which the function says this. NULL: there is none. */
struct rt_task *rt_sched_any_that(struct rt_task *const *tasks, unsigned n, bool (*is)(const struct rt_task *task),
                                  bool wanted);
/* The one of the highest priority, the first of several. */
static inline struct rt_task *rt_sched_highest(struct rt_task *const *tasks, unsigned n,
                                               uint64_t (*priority)(struct rt_task *task))
{
	struct rt_task *best = tasks[0];

	for (unsigned i = 0; i < n; i++)
		if (priority(tasks[i]) > priority(best))
			best = tasks[i];
	return best;
}
/* A strategy's `wakes` by chance. */
struct rt_task *rt_sched_wakes_any(struct rt_task *signaller, struct rt_task *const *waiters, unsigned n);
/* True if the step may wait for as long as it takes: for what a thread holds, took last or runs, or for its end. */
bool rt_step_waits(const struct rt_step *step);
/*
 * True if the thread's step waits for the other one: for a lock that this one holds, for a post of the semaphore whose
 * last token it took, for the end of the once-routine that it runs, or for its own end. A third one may post.
 */
bool rt_sched_waits_for(const struct rt_task *t, const struct rt_task *other);
/* The module's first byte, as the aims number it; 0: it is not there. */
uint64_t rt_sched_module(uint32_t module);

/* Of a strategy that is_told: the pc at the beginning of the n-th function that the thread is in, from the innermost,
 * which is number 0, outwards; 0: there is none, or it is not known. */
uintptr_t rt_sched_call(const struct rt_task *task, unsigned n);
/* The kind of a lock. */
struct rt_lock rt_sched_lock_kind(uintptr_t lock);

/*
 * How long what is decided outside is waited for, in real time since the last step of any thread, ns. A thread that is
 * at its goal: for others that may come there. One that waits for a descriptor or another process: alone, before
 * threads that a plan has no more steps of may be what it takes; then at all. While all are kept: for one that sleeps
 * and does not wake SOON.
 */
#define RT_AWAIT_AT_GOAL_NS UINT64_C(100000000)
#define RT_AWAIT_ALONE_NS UINT64_C(300000000)
#define RT_AWAIT_POLLED_NS UINT64_C(3000000000)
#define RT_AWAIT_SLEEPER_NS UINT64_C(200000000)
#define RT_SOON_NS UINT64_C(2000000000)
/* Real time since the last step, as far as it was asked for since then, ns. */
uint64_t rt_sched_waited(void);

/* True if a thread waits for a time, but to end the process. */
bool rt_sched_has_sleeper(void);
/*
 * Where a strategy keeps all enabled threads from going on: true if one that sleeps is to come first, for which the
 * strategy returns NULL. Not for ever: a thread may sleep again and again.
 */
bool rt_sched_awaits_sleeper(void);
/* True if the step takes a lock. */
bool rt_step_acquires(const struct rt_step *step);
/* True if both steps access the same memory, one at least writes, and not both are atomic. */
bool rt_steps_race(const struct rt_step *a, const struct rt_step *b);
/* True if the order of the two steps may matter: they race, or are on the same object. */
bool rt_steps_conflict(const struct rt_step *a, const struct rt_step *b);
/* Steps that there were. */
uint64_t rt_sched_steps(void);
/* Virtual time, ns. */
uint64_t rt_sched_now(void);
/* What the result is to say of the strategy; written at any time. */
struct rt_control *rt_sched_result(void);

/* Plain accesses at this pc are steps. A few others may be too. */
void rt_sched_interest(uintptr_t pc);
/* All plain accesses are. */
void rt_sched_interest_all(void);
/* Calls f for each module that is loaded. base: of its first byte. */
void rt_sched_modules(void (*f)(const char *path, uintptr_t base));
/* What a path links to; "": it is no link. */
#define RT_TARGET_MAX 4096
void rt_sched_target(const char *path, char target[RT_TARGET_MAX]);
/* True if the path or what it links to has the name that `known` ends with. */
bool rt_sched_is_file(const char *path, const char *target, const char *known);
/* Appends to the report; what does not fit is left out. */
void rt_sched_report(const char *text);
/* Ends the process, after the result is written. */
void rt_sched_end(enum rt_end end) __attribute__((noreturn));
/* NULL: there is none, or it has ended. */
struct rt_task *rt_sched_task(uint32_t thread);
/* Memory, zeros, that is never given back. NULL: there is none. */
void *rt_sched_memory(size_t size);
/* The next number of the scheduler's own random sequence, which the seed begins. */
uint64_t rt_sched_random(void);

#endif
