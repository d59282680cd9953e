/* Replaying what a report lists: shared by `replay`, `run` and `analyze --confirm`. */
#ifndef CMD_REPLAY_REPLAY_H
#define CMD_REPLAY_REPLAY_H

#include "lib/report/report.h"
#include "lib/schedule/script.h"

struct replay_options {
	char *const *program; /* NULL: the recorded command */
	const char *anomaly;  /* id; NULL: by verdicts */
	const char *finding;  /* id; NULL: the same */
	uint32_t verdicts;    /* bit i: enum verdict i */
	uint32_t orders;      /* bit i: enum outcome_order i, of races */
	uint32_t attempts, repeat, jobs;
	unsigned timeout_ms;
	uint64_t time_limit_ms; /* 0: none */
	uint32_t limited;       /* bit i: the time limit is for enum verdict i, once the others have ended */
	uint64_t seed;
	const char *input;  /* NULL: /dev/null */
	const char *before; /* a command of the shell before each run; NULL: none */
	bool hold;
	const char *debugger; /* its command, as the shell takes it; NULL: none */
	uint32_t sample;      /* number of anomalies to replay of those chosen, by the seed; 0: all */
};
extern const struct replay_options replay_defaults;

/*
 * Replays what the options choose of a report and gives its entries their outcomes. *confirmed: something was.
 * RT_EUSAGE: there is no such anomaly, or it has no schedule.
 */
enum rt_status replay_report(struct report *r, const struct replay_options *options, bool *confirmed,
                             struct rt_error *err);

/*
 * The same with a schedule alone, of a trace. trace NULL: it is not there, and the program's own runs say where its
 * places are: its ordinals change. On RT_OK *result is owned by the caller.
 */
enum rt_status replay_script(struct script *s, struct rt_trace *trace, const struct replay_options *options,
                             struct replay_result **result, struct rt_error *err);

#endif
