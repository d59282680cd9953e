/*
 * The control area: the settings of the controlled scheduler in the program (recorder/sched), and its results. It is
 * part of the channel's memory, so it outlives a program that is killed. rt_channel.control_offset: where it begins; 0:
 * there is none, and threads run uncontrolled.
 */
#ifndef RECORDER_CONTROL_H
#define RECORDER_CONTROL_H

#include "recorder/channel.h"

enum rt_control_flags {
	RT_CONTROL_FIX_TIME = 1, /* clocks advance by turns */
	RT_CONTROL_SPURIOUS = 2, /* waits for conditions sometimes end without a signal */
	RT_CONTROL_CHILDREN = 4  /* the threads of other processes take turns as well: each process by itself */
};

/* How a controlled run ended. */
enum rt_end {
	RT_END_RUNNING, /* by a signal, or it did not end */
	RT_END_EXIT,    /* exit, _exit or return from main */
	RT_END_EXEC,    /* it executed another program */
	RT_END_DEADLOCK /* no thread could continue */
};

/* Why control was given up. */
enum rt_degraded {
	RT_DEGRADED_NOT,
	RT_DEGRADED_MEMORY,  /* no memory for the scheduler */
	RT_DEGRADED_STRATEGY /* the strategy gave up */
};

enum rt_state {
	RT_ENDED,
	RT_READY,   /* waits for its turn; its step is known */
	RT_RUNNING, /* has the turn */
	RT_BLOCKED, /* its step cannot be executed yet */
	RT_OUTSIDE  /* in a call that may block; returns by itself */
};

/* Where a thread was when the run ended. */
struct rt_standing {
	uint32_t thread; /* index in the trace */
	uint8_t state;   /* enum rt_state */
	uint8_t op;      /* its next operation, enum rt_op; NONE: a call that may block */
	uint64_t object;
	uint64_t count; /* its n-th step */
};

/* A turn that went to another thread. */
struct rt_decision {
	uint32_t from, to; /* indices in the trace */
	uint64_t count;    /* from's step */
};

/* What a strategy is to aim at: its input, unless it follows a plan. */
enum rt_pattern {
	RT_PATTERN_RACE,     /* two threads about to access the same memory at two of the places */
	RT_PATTERN_SEQUENCE, /* events in this order, each by the thread of its role, on the object of its location */
	RT_PATTERN_DEADLOCK  /* threads about to take locks at the places, in a circle */
};

/* A position of a pattern. */
struct rt_place {
	uint64_t offset;         /* from the module's first byte, as in the trace */
	uint32_t role, location; /* of a sequence: numbers, at most RT_ROLES_MAX */
	uint64_t object;         /* of a sequence: the location is this variable of the module; 0: any memory */
	char module[240];        /* the name of its file, without folders */
};
/* location: no event, but where the thread of the role waits, without locks, until the role's next event is to come. */
#define RT_GATE UINT32_MAX
#define RT_PLACES_MAX 4096u
#define RT_ROLES_MAX 16u

/*
 * What kind a lock is of. Not its address: that of another run, or another lock of the same kind, is as good.
 */
enum rt_lock_kind {
	RT_LOCK_UNKNOWN,
	RT_LOCK_STATIC, /* a variable's: its address */
	RT_LOCK_HEAP,   /* in a block: the pc where that was allocated, and the offset in it */
	RT_LOCK_MADE    /* elsewhere: the pc where it was initialised */
};
struct rt_lock {
	uint32_t kind; /* enum rt_lock_kind */
	uint32_t type; /* locks of the same number, which is not 0, are of one kind as well */
	uint64_t at, offset;
	uint64_t block; /* HEAP: bytes of the block; in the input, of its elements: offsets in them count. 0: no such */
};

/* Something at or below the function takes a lock of this kind (DrFinder's may-trigger relation). */
struct rt_may_trigger {
	uint64_t function; /* pc at its beginning */
	/* UNKNOWN: the function takes different ones at the same place, on behalf of its callers. */
	struct rt_lock lock;
	/* In the input, of the pcs and addresses, which are offsets there. RT_NO_MODULE: none. */
	uint32_t function_module, lock_module;
};
#define RT_NO_MODULE UINT32_MAX
#define RT_RELATIONS_MAX 32768u
struct rt_module_name {
	char name[240];
};

struct rt_aims {
	uint32_t pattern;                      /* enum rt_pattern */
	uint32_t depth;                        /* of bugs, or of call stacks; 0: the strategy's own choice */
	uint64_t steps;                        /* of an earlier run; 0: unknown */
	uint32_t place_count;                  /* behind this */
	uint32_t everywhere;                   /* not 0: each plain access is a step as well */
	uint32_t relation_count, module_count; /* behind the places */
};
static inline const struct rt_place *rt_aims_places(const struct rt_aims *a)
{
	return (const struct rt_place *)(const void *)(a + 1);
}

static inline const struct rt_may_trigger *rt_aims_relations(const struct rt_aims *a)
{
	return (const struct rt_may_trigger *)(const void *)(rt_aims_places(a) + a->place_count);
}
static inline const struct rt_module_name *rt_aims_modules(const struct rt_aims *a)
{
	return (const struct rt_module_name *)(const void *)(rt_aims_relations(a) + a->relation_count);
}
static inline uint64_t rt_aims_size(const struct rt_aims *a)
{
	return sizeof *a + a->place_count * sizeof(struct rt_place) +
	       a->relation_count * sizeof(struct rt_may_trigger) + a->module_count * sizeof(struct rt_module_name);
}

/* A pattern was created: its events were pending at the same time, or came in its order. */
struct rt_creation {
	uint32_t threads[2];
	uint64_t pcs[2], object;
	uint32_t first;    /* index of the one that went on first, by chance */
	uint32_t reserved; /* 0 */
};
#define RT_CREATIONS_MAX 64u

#define RT_STANDING_MAX 256u
#define RT_REPORT_SIZE 65536u
#define RT_LOG_ROOM (UINT64_C(1) << 20)

struct rt_control {
	/* Written by the collector before the program starts. */
	char strategy[32];
	uint64_t seed;
	uint32_t flags;
	uint32_t reserved;
	uint64_t input_bytes; /* the strategy's input, behind the log */

	/* Written by the recorder; whole at any instant. */
	_Atomic uint32_t end; /* enum rt_end */
	_Atomic uint64_t steps, switches;
	_Atomic uint32_t degraded; /* enum rt_degraded */
	_Atomic uint32_t standing_count;
	struct rt_standing standing[RT_STANDING_MAX];
	char report[RT_REPORT_SIZE]; /* the strategy's, zero-terminated */
	uint64_t threads;            /* controlled ones that there were */
	/* What the strategy did: threads that it made wait; times when those were all; threads that waited too long;
	 * patterns that it created, the first RT_CREATIONS_MAX of which are kept. */
	uint64_t postponed, thrashed, livelocks, created;
	struct rt_creation creations[RT_CREATIONS_MAX];
	_Atomic uint64_t log_count; /* decisions made; the first RT_LOG_ROOM are kept */
	struct rt_decision log[RT_LOG_ROOM];
	_Atomic uint64_t relation_count; /* that the run had; the first RT_RELATIONS_MAX are kept */
	struct rt_may_trigger relations[RT_RELATIONS_MAX];
};

static inline struct rt_control *rt_channel_control(struct rt_channel *c)
{
	return c->control_offset ? (struct rt_control *)(void *)((char *)c + c->control_offset) : 0;
}
static inline const void *rt_control_input(const struct rt_control *c)
{
	return c + 1;
}

#endif
