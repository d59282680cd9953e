/*
 * One run of a program that follows a plan: started, waited for, and put into words. It is `racetrace record --plan` in
 * a process of its own, so there is a trace of it, which is exact.
 */
#ifndef CMD_TRY_TRY_H
#define CMD_TRY_TRY_H

#include "cmd/try/runner.h"
#include "lib/anomaly/replay.h"
#include "tracefmt/plan.h"
#include "tracefmt/trace.h"

#include <sys/types.h>

struct try_options {
	struct rt_trace *trace;               /* that the plan is of; NULL: not there */
	const struct rt_trace_info *recorded; /* whose end a run is compared with; NULL: none */
	const struct rt_plan *plan;           /* NULL: a run that follows none */
	char *const *program;                 /* with its arguments */
	const char *input;                    /* NULL: /dev/null */
	const char *before;                   /* a command of the shell before the run; NULL: none */
	const char *folder;                   /* scratch: what is there is overwritten */
	unsigned timeout_ms;
	bool cut;                 /* it is what is left of a longer time: a run that it ends need not hang */
	enum outcome_order order; /* of a race */
	uint64_t seed;
	bool sync_only, hold;
	bool watched;              /* by Valgrind, as the recorded run was */
	const char *const *record; /* further options of `racetrace record`, ending with NULL; NULL: none */
	bool children;             /* processes that it makes have traces of their own */
};

struct try;

/* Starts it. The options' memory is borrowed until try_free. On RT_OK *out is owned by the caller. */
enum rt_status try_start(const struct try_options *options, struct try **out, struct rt_error *err);
int try_fd(const struct try *t);
/* The file of its trace, which may not be there. */
const char *try_trace_path(const struct try *t);
/* True if it has ended. Does not wait. */
bool try_ended(struct try *t);
/* What became of it, once it has ended. *run is the caller's (replay_run_release). */
enum rt_status try_tell(struct try *t, struct replay_run *run, struct rt_error *err);
/* How argv's process ended, and what it printed; once it has ended. Borrowed. */
const struct run_end *try_end(struct try *t);
/* An event of the goal at which a run is held. Its thread is right before it; of a sequence, it has been executed. */
struct held_event {
	char *text;           /* "main.1 (LWP 12) is about to: write of x at app.c:12 (worker)"; owned */
	const char *function; /* borrowed from the trace; NULL: unknown */
	char variable[256];   /* "x"; "": none */
	long tid;             /* 0: unknown */
};
/* The process that is held, with its events, which are the caller's (free their texts). 0: none is. */
pid_t try_held(struct try *t, struct held_event *events, uint32_t *count);
/* Ends it. NULL is allowed. */
void try_free(struct try *t);

#endif
