/*
 * Schedules as they are written (racetrace.schedule/1, docs/report-format.md): by anyone, so nothing in them is
 * believed. Reading one checks its form alone; what it says of a trace, script_judge and script_expand check.
 */
#ifndef LIB_SCHEDULE_SCRIPT_H
#define LIB_SCHEDULE_SCRIPT_H

#include "lib/judge/verify.h"

#include <stdio.h>

/* Largest file that is read, in bytes. */
#define SCRIPT_FILE_MAX (INT64_C(1) << 30)

struct script_step {
	uint32_t name;     /* of the thread, index into names */
	uint64_t from, to; /* ordinals, from 1; from <= to */
};
struct script_event {
	uint32_t name;
	uint64_t ordinal;
};
struct script {
	char **names; /* of threads, each once */
	uint32_t name_count;
	struct script_step *steps;
	size_t step_count;
	struct script_event goal[ANOMALY_EVENTS_MAX];
	uint32_t goal_count;
	bool kind_given;
	enum goal_kind kind; /* if it is given; otherwise the goal's events tell */
	char *trace;         /* path of the trace that a report is about, NULL: unknown */
};

/*
 * Reads a schedule: the file's own, or, if it holds a report, that of the anomaly with this id (NULL: of the only one
 * that has a schedule). path is for messages. On RT_OK *out is owned by the caller. RT_EUSAGE: the anomaly is the wrong
 * one; RT_EINPUT: the file is.
 */
enum rt_status script_read(FILE *file, const char *path, const char *anomaly, struct script **out,
                           struct rt_error *err);
/* NULL is allowed. */
void script_free(struct script *s);
/* Writes it as JSON, one step a line; the caller looks at the stream's error state. False without memory. */
bool script_write(const struct script *s, FILE *out);

/* Where a schedule fails: an event, as far as it is known. */
struct script_place {
	uint32_t thread;          /* index into the trace's threads, UINT32_MAX: none */
	uint64_t ordinal, number; /* 0: not known */
};
struct script_verdict {
	enum verify_fault fault; /* VERIFY_NONE: the schedule is a witness */
	const char *name;        /* the thread that there is none of (NO_EVENT), borrowed from the script; or NULL */
	struct script_place at;  /* the event at fault */
	struct script_place other;
	/* No fault: reads whose writers are known by time stamp only, and the first of them. */
	uint32_t uncertain;
	struct script_place first_uncertain;
};

/*
 * Judges a schedule of a trace with the judge of verify.h; loads the trace into a model of its own and reads it once
 * more. A thread's events are counted with those that the model leaves out: steps must join without a gap, no thread
 * runs before its creation, and the goal is reached to the event. What the model leaves out at a thread's end need not
 * have run before its join.
 */
enum rt_status script_judge(const struct script *s, struct rt_trace *trace, struct script_verdict *out,
                            struct rt_error *err);

/*
 * Hands out every event of the schedule in its order, the goal's behind it where the steps do not run them. Memory does
 * not grow with the trace, which is read several times. each: false stops. RT_EINPUT if the steps are not the trace's.
 */
enum rt_status script_expand(const struct script *s, struct rt_trace *trace,
                             bool (*each)(void *context, const struct rt_event *e, bool goal), void *context,
                             struct rt_error *err);

/* Index of the thread of each name in the trace, UINT32_MAX: there is none. The caller frees it; NULL without memory.
 */
uint32_t *script_threads(const struct script *s, const struct rt_trace *trace);

#endif
