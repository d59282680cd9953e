/*
 * A plan: a schedule as a run can follow it, and what became of that. One file, which the tool makes and the program's
 * recorder maps: nothing in it is an address of the recorded run.
 *
 * Each thread has its marks: the events up to the schedule's end that are compared, in its order: all that
 * synchronises, and the accesses at the positions where the schedule changes threads. A thread is known by its parent
 * and number, an event by operation, position (module and offset) and object. An object is known by its module or, if
 * it is not in one, by the bases: two objects of one base keep their distance, whatever address the base has in this
 * run.
 *
 * The recorder writes the last part, the state, as it goes on, so that it is there however the program ends.
 */
#ifndef TRACEFMT_PLAN_H
#define TRACEFMT_PLAN_H

#include <stdint.h>

#define RT_PLAN_MAGIC UINT64_C(0x326e616c70747472)
#define RT_PLAN_NONE UINT32_MAX
#define RT_PLAN_GOALS 16

enum rt_plan_kind { RT_PLAN_RACE, RT_PLAN_SEQUENCE, RT_PLAN_DEADLOCK };
/* What is done when the goal of a race is reached. */
enum rt_plan_then {
	RT_PLAN_FIRST,  /* the first event of the goal is executed, then the second one */
	RT_PLAN_SECOND, /* the second one, then the first */
	RT_PLAN_HOLD    /* all stay where they are */
};

struct rt_plan_module {
	uint64_t path; /* offset in the file, NUL-terminated */
};
/* Where an event is executed: an operation, and its positions. Another build may have made several of one. */
struct rt_plan_site {
	uint32_t first_place, place_count; /* they lie one behind another; 0: that build does not have it */
	uint16_t op;                       /* enum rt_op */
	uint16_t watched;                  /* an access whose position is looked at */
	uint32_t reserved;
};
struct rt_plan_place {
	uint64_t offset; /* from the module's first byte; without a module the pc itself */
	uint32_t module; /* index, RT_PLAN_NONE: none */
	uint32_t reserved;
};
struct rt_plan_base {
	uint32_t module; /* index; RT_PLAN_NONE: whatever is met first */
	uint32_t reserved;
};
struct rt_plan_mark {
	uint32_t site;
	uint32_t base;   /* RT_PLAN_NONE: the object is not compared */
	uint64_t offset; /* from the base; FORK, JOIN: the other thread */
};
struct rt_plan_thread {
	uint32_t parent, child_number; /* index; n: its parent's n-th child, from 1. Of the main thread: itself, 0 */
	uint64_t first_mark;           /* index; they lie one behind another */
	uint64_t mark_count;
};
/* The thread runs until it is about to execute the mark. The thread's number of marks: it has executed all of them, and
 * is about to execute anything, or has ended. */
struct rt_plan_step {
	uint32_t thread;
	uint32_t marked; /* 1: what it does before the mark is marked too, so that when this is done it may be left
	                    waiting */
	uint64_t mark;   /* of the thread, from 0 */
};
struct rt_plan_goal {
	uint32_t thread;  /* search: number of the first event of the goal that is the same thread's */
	uint32_t cell;    /* search: number of the first event of the goal that is of the same memory */
	uint64_t mark;    /* of the thread; search: the site */
	uint64_t reached; /* SEQUENCE: it was executed as the n-th of the goal, from 1; 0: it was not */
	uint64_t tid;     /* kernel's number of the thread that is right before it; 0: none */
};

/* What became of it. */
enum rt_plan_outcome {
	RT_PLAN_UNDER_WAY, /* or the program ended on the way */
	RT_PLAN_CONFIRMED,
	RT_PLAN_DIVERGED,
	RT_PLAN_STUCK
};
/* What a thread is about to do, or did instead of what was expected. */
struct rt_plan_event {
	uint32_t op; /* enum rt_op; 0: nothing is known; RT_OP_END: it has ended */
	uint32_t module;
	uint64_t offset; /* as a place's */
	uint64_t object; /* an address of this run */
};
/* LONE: a task that has not begun, in a team whose one thread is in another one. */
enum rt_plan_stand {
	RT_PLAN_UNBORN,
	RT_PLAN_READY,
	RT_PLAN_RUNS,
	RT_PLAN_OUTSIDE,
	RT_PLAN_BLOCKED,
	RT_PLAN_GONE,
	RT_PLAN_LONE
};
enum { RT_PLAN_HELD = 32, RT_PLAN_RECENT = 64 };
struct rt_plan_thread_state {
	uint64_t mark;                    /* the next one */
	uint32_t stand;                   /* enum rt_plan_stand */
	uint32_t task;                    /* index of the thread in this run, RT_PLAN_NONE: unknown */
	uint64_t last_step;               /* number of the last step that is its, from 1 */
	uint64_t done;                    /* number of the last step that it has done */
	uint64_t was_mark;                /* that was one */
	uint64_t last_pc, last_object;    /* of its last mark */
	uint64_t strayed;                 /* steps beside its marks since the last one */
	uint64_t stray_step;              /* number of the last one of them */
	struct rt_plan_event next, stray; /* what it is about to do; the first step beside its marks */
	uint64_t held[RT_PLAN_HELD];      /* locks; 0: free */
	/* Accesses since its last synchronisation. */
	struct rt_plan_recent {
		uint64_t pc, object;
	} recent[RT_PLAN_RECENT];
};

struct rt_plan {
	uint64_t magic;
	uint64_t size; /* of the file */
	uint32_t kind; /* enum rt_plan_kind */
	uint32_t then; /* enum rt_plan_then */
	uint32_t module_count, site_count, thread_count, goal_count;
	uint32_t rebuilt; /* 1: it is another build, which may execute other accesses for a line */
	uint32_t search;  /* 1: no steps: the goal's marks are sites, which threads are held at as RaceFuzzer does */
	uint64_t step_count;
	uint64_t modules, sites, places, bases, threads, marks, steps; /* offsets in the file */
	uint64_t states;                                               /* of struct rt_plan_thread_state, by thread */
	uint64_t learned; /* of uint64_t, by base: its address in this run, 0: not yet */
	struct rt_plan_goal goals[RT_PLAN_GOALS];

	/* Written by the recorder. */
	uint32_t started; /* the program follows it */
	uint32_t outcome; /* enum rt_plan_outcome */
	uint64_t step;    /* steps that were made */
	uint32_t thread;  /* DIVERGED: whose event it is; STUCK: whose turn it is */
	uint64_t mark;    /* DIVERGED: the mark that was expected */
	struct rt_plan_event actual;
	uint32_t held; /* RT_PLAN_HOLD: the goal is reached, and the process with this number is stopped; 0: not yet */
	uint32_t recorded_ms; /* by the maker: how long the recorded run took; 0: unknown */
	uint32_t open;        /* CONFIRMED: 1: threads outside the deadlock could end it: the end of the run tells */
	/* By the maker: behind the plan each thread goes on for as long as it can, and the thread of this number, from
	 * 1, comes last. 0: threads go on by chance. */
	uint32_t last;
};

#endif
