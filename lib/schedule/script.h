/*
 * Schedules in their written form (racetrace.schedule/1, docs/report-format.md). They come from any source and are
 * validated. Reading one checks its form only; script_judge and script_expand check it against a trace.
 */
#ifndef LIB_SCHEDULE_SCRIPT_H
#define LIB_SCHEDULE_SCRIPT_H

#include "lib/judge/verify.h"

#include <stdio.h>

/* Largest file that is read, in bytes */
#define SCRIPT_FILE_MAX (INT64_C(1) << 30)

/* Where an event is in the source, and in its thread. */
struct script_at {
	char *function, *file; /* NULL: unknown, as is the rest; file: without its folder */
	uint32_t line, op;     /* op: enum rt_op */
	uint64_t after;        /* number of events of its thread before it that synchronise */
	uint64_t nth;          /* among the accesses at its position since the last of these, from 1 */
};
struct script_step {
	uint32_t name;         /* of the thread, index into names */
	uint64_t from, to;     /* ordinals, from 1; from <= to */
	struct script_at next; /* what the thread is about to execute then */
};
struct script_event {
	uint32_t name;
	uint64_t ordinal;
	struct script_at at;
};
struct script {
	uint64_t recorded; /* before the steps the events up to this number run as they were recorded; 0: none */
	char **names;      /* of threads, each once */
	uint32_t name_count;
	struct script_step *steps;
	size_t step_count;
	struct script_event goal[ANOMALY_EVENTS_MAX];
	uint32_t goal_count;
	bool kind_given;
	enum goal_kind kind; /* if given; otherwise the goal's events determine it */
	char *trace;         /* path of the trace that a report names; NULL: unknown */
};

/*
 * Reads a schedule: the file's own or, if the file is a report, that of the anomaly with this id (NULL: of the only one
 * with a schedule). path is for messages. On RT_OK the caller owns *out. RT_EUSAGE: no such schedule; RT_EINPUT: the
 * file is malformed.
 */
enum rt_status script_read(FILE *file, const char *path, const char *anomaly, struct script **out,
                           struct rt_error *err);
/* NULL is allowed. */
void script_free(struct script *s);
/* Writes it as JSON, one step a line; the caller checks the stream's error state. False without memory. */
bool script_write(const struct script *s, FILE *out);

/*
 * Replaces `recorded` by the steps that it stands for, in one pass over the trace. RT_EINPUT: the trace has fewer
 * events.
 */
enum rt_status script_unfold(struct script *s, struct rt_trace *trace, struct rt_error *err);

/* The place in a schedule that breaks a rule, as far as it is known. */
struct script_place {
	uint32_t thread;          /* index into the trace's threads, UINT32_MAX: none */
	uint64_t ordinal, number; /* 0: unknown */
};
struct script_verdict {
	enum verify_fault fault; /* VERIFY_NONE: the schedule is a witness */
	const char *name; /* the name of a thread that the trace lacks (NO_EVENT), borrowed from the script; or NULL */
	struct script_place at; /* the event that breaks a rule */
	struct script_place other;
	/* Without a fault: number of reads whose writers only time stamps tell, and the first of them. */
	uint32_t uncertain;
	struct script_place first_uncertain;
};

/*
 * Judges a schedule of a trace with the judge of verify.h. Loads the trace into a separate model and reads it once
 * more. A thread's events are counted including those that the model drops: steps must follow without a gap, no thread
 * runs before its creation, and the goal must be reached exactly. Dropped events at a thread's end need not have run
 * before its join.
 */
enum rt_status script_judge(const struct script *s, struct rt_trace *trace, struct script_verdict *out,
                            struct rt_error *err);

/*
 * Calls each for every event of the schedule in its order, then for the goal's that the steps do not run; each stops it
 * by returning false. Reads the trace several times, in memory that does not grow with it. RT_EINPUT if the steps are
 * not the trace's.
 */
enum rt_status script_expand(const struct script *s, struct rt_trace *trace,
                             bool (*each)(void *context, const struct rt_event *e, bool goal), void *context,
                             struct rt_error *err);

/* Index of the thread of each name in the trace; UINT32_MAX if there is none. The caller frees it; NULL without
 * memory. */
uint32_t *script_threads(const struct script *s, const struct rt_trace *trace);

/* True of what a thread of a deadlock does at its goal event: it acquires, joins, waits for others, or waits when the
 * trace ends. */
static inline bool script_is_wait(unsigned op)
{
	return rt_op_has(op, RT_WAITS) || op == RT_OP_BLOCK || op == RT_OP_ATOMIC_LOAD;
}

#endif
