/*
 * The control area: the settings of the controlled scheduler in the program (recorder/sched), and its results. It is
 * part of the channel's memory, so it outlives a program that is killed. rt_channel.control_offset: where it begins; 0:
 * there is none, and threads run uncontrolled.
 */
#ifndef RECORDER_CONTROL_H
#define RECORDER_CONTROL_H

#include "recorder/channel.h"

enum rt_control_flags {
	RT_CONTROL_FIX_TIME = 1 /* clocks advance by turns */
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
	uint16_t flags;  /* RT_F_* */
	uint64_t object, arg, pc;
	uint64_t count; /* its n-th step */
};

/* A turn that went to another thread. */
struct rt_decision {
	uint32_t from, to; /* indices in the trace */
	uint64_t count;    /* from's step */
};

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
	uint32_t end_thread;  /* where it ended: index in the trace */
	_Atomic uint64_t steps, switches;
	_Atomic uint32_t degraded; /* enum rt_degraded */
	_Atomic uint32_t standing_count;
	struct rt_standing standing[RT_STANDING_MAX];
	char report[RT_REPORT_SIZE]; /* the strategy's, zero-terminated */
	_Atomic uint64_t log_count;  /* decisions made; the first RT_LOG_ROOM are kept */
	struct rt_decision log[RT_LOG_ROOM];
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
