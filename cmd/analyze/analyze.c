/* racetrace analyze: reports the concurrency bugs that a trace allows. */
#include "cmd/analyze/analyze.h"

#include "cmd/analyze/inputs.h"
#include "cmd/analyze/job.h"
#include "cmd/analyze/many.h"
#include "cmd/analyze/options.h"
#include "cmd/analyze/stats.h"
#include "cmd/base/command.h"
#include "cmd/base/common.h"
#include "cmd/base/known.h"
#include "cmd/base/memory.h"
#include "cmd/base/progress.h"
#include "cmd/base/reports.h"
#include "cmd/base/siblings.h"
#include "cmd/replay/replay.h"
#include "lib/base/output.h"
#include "lib/report/findings.h"
#include "lib/report/merge.h"
#include "lib/report/report.h"
#include "lib/search/pattern_file.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One line a limit: its name, default, unit, the option that sets it, and what is left out. */
static void print_limits(void)
{
	for (enum limit i = 0; i < LIMITS; i++) {
		const struct limit_info *l = &limit_infos[i];
		printf("%s=%" PRIu64 " %s (%s%s): %s.\n", l->name, l->value, l->unit, l->option ? l->option : "fixed",
		       l->scales ? ", scales" : "", l->hit);
	}
}

static int exit_status(const struct analyze_settings *s, const struct report *r)
{
	if (s->only_orders && !s->fail_on_given)
		return r->count ? EXIT_FOUND : EXIT_CLEAN;
	for (int level = s->fail_on - VERDICTS - 1; level >= 0 && level < LEVELS; level++)
		if (r->findings->levels[level])
			return EXIT_FOUND;
	for (int kind = 0; kind < ANOMALY_KINDS; kind++)
		for (int v = s->fail_on; v < VERDICTS; v++)
			if (r->summary[kind][v])
				return EXIT_FOUND;
	return EXIT_CLEAN;
}

static enum rt_status confirm(const struct analyze_settings *s, struct report *r, struct rt_error *err)
{
	struct replay_options replay = replay_defaults;
	bool confirmed;
	replay.anomaly = s->anomaly;
	replay.jobs = s->analysis.jobs ? s->analysis.jobs : 1;
	enum rt_status status = replay_report(r, &replay, &confirmed, err);
	return status ? status : report_join(r, err);
}

static int merged_status(const struct analyze_settings *s, const struct merge *m)
{
	for (int level = s->fail_on - VERDICTS - 1; level >= 0 && level < LEVELS; level++)
		if (m->levels[level])
			return EXIT_FOUND;
	for (size_t i = 0; i < m->count; i++)
		if (!m->items[i].known && (int)m->items[i].verdict >= s->fail_on)
			return EXIT_FOUND;
	return EXIT_CLEAN;
}

/* Joins what the merge has and writes it. */
static enum rt_status write_merge(struct analyze_settings *s, struct merge *m, int *result, struct rt_error *err)
{
	enum rt_status status = merge_finish(m, err);
	if (!status && merge_any_report(m))
		status = cmd_reports_write(&s->reports, cmd_merge_write, m, err);
	*result = merged_status(s, m);
	if (*result == EXIT_CLEAN && s->incomplete && (!s->allow_incomplete || analyze_interrupted()))
		*result = EXIT_INCOMPLETE;
	return status;
}

static enum rt_status write_one(struct analyze_settings *s, const struct analyze_job *j, int *result,
                                struct rt_error *err)
{
	struct report *r = j->report;
	enum rt_status status = s->confirm ? confirm(s, r, err) : RT_OK;
	if (!status)
		status = cmd_reports_write(&s->reports, cmd_report_write, r, err);
	if (!status)
		status = rt_trace_memory(j->trace, err);
	if (status)
		return status;
	if (!cmd_reports_have(&s->reports, "text")) /* the text report has that warning */
		cmd_warn_incomplete(j->trace);
	*result = exit_status(s, r);
	if (*result == EXIT_CLEAN && ((r->incomplete && !s->allow_incomplete) || r->analysis->undecided))
		*result = EXIT_INCOMPLETE;
	if (s->show_stats)
		stats_print(j->stats, r);
	if (isatty(STDERR_FILENO) && siblings_count(j->path))
		fprintf(stderr,
		        "racetrace: other processes of this recording have traces, too: racetrace analyze %s %s.*\n",
		        j->path, j->path);
	return RT_OK;
}

static enum rt_status run_one(struct analyze_settings *s, int *result, struct rt_error *err)
{
	struct stats stats = {0};
	struct merge windows = {0};
	struct analyze_job j = {.s = s,
	                        .path = s->traces.paths[0],
	                        .max_memory = s->max_memory,
	                        .processes = s->analysis.jobs,
	                        .stats = &stats};
	progress_begin();
	progress_step("reading the trace", 1, ANALYSIS_DONE + 1);
	enum rt_status status = analyze_job_open(&j, err);
	if (!status) {
		cmd_warn(j.trace);
		status = analyze_job_run(&j, err);
	}
	if (status == RT_ELARGE && analyze_by_windows(s))
		status = analyze_job_windows(&j, &windows, err);
	progress_end();
	if (!status && j.report) {
		analyze_job_tell(&j);
		status = write_one(s, &j, result, err);
	} else if (!status) {
		cmd_warn_incomplete(j.trace);
		s->incomplete |= j.lacks;
		status = write_merge(s, &windows, result, err);
		if (!status && s->show_stats)
			stats_print_windows(&windows);
	}
	merge_release(&windows);
	analyze_job_release(&j);
	return status;
}

static enum rt_status run_many(struct analyze_settings *s, int *result, struct rt_error *err)
{
	struct merge merge = {0};
	bool unread = false;
	enum rt_status status = analyze_many(s, &merge, &unread, err);
	if (!status)
		status = write_merge(s, &merge, result, err);
	if (!status && unread)
		*result = EXIT_INPUT;
	merge_release(&merge);
	return status;
}

/* Writes the part, which begins with the arguments that merging it needs. */
static enum rt_status run_shard(struct analyze_settings *s, char *const *args, uint32_t arg_count, struct rt_error *err)
{
	struct rt_output out;
	struct rt_trace *trace;
	struct analysis *a = NULL;
	uint64_t max_memory = s->max_memory;
	enum rt_status status = cmd_open_trace(s->traces.paths[0], &s->input, &trace, err);
	if (status)
		return status;
	status = rt_output_create(&out, s->reports.items[0].path, RT_OUTPUT_STREAM, err);
	if (status) {
		rt_trace_free(trace);
		return status;
	}
	struct part part = {.fd = out.fd, .shard = s->shard - 1, .of = s->of};
	part_begin(&part, args, arg_count);
	s->analysis.part = &part;
	s->analysis.memory = s->max_memory;
	s->analysis.model.admit = cmd_admit;
	s->analysis.model.admit_arg = &max_memory;
	status = analysis_run(trace, &s->analysis, &a, err);
	part_end(&part);
	if (!status && part.failure)
		status = rt_error_set(err, RT_EINPUT, "cannot write '%s': %s", s->reports.items[0].path,
		                      strerror(part.failure));
	if (!status)
		status = rt_output_commit(&out, err);
	else
		rt_output_discard(&out);
	analysis_free(a);
	rt_trace_free(trace);
	return status;
}

static enum rt_status run(struct analyze_settings *s, int *result, struct rt_error *err)
{
	enum rt_status status = cmd_reports_open(&s->reports, "json", err);
	if (status)
		return status;
	status = analyze_is_many(s) ? run_many(s, result, err) : run_one(s, result, err);
	if (!status)
		cmd_known_warn(&s->known);
	return cmd_reports_close(&s->reports, status, err);
}

static int end(struct analyze_settings *s, enum rt_status status, const struct rt_error *err, int result)
{
	pattern_list_release(&s->user);
	cmd_known_release(&s->known);
	cmd_inputs_release(&s->traces);
	return status ? cmd_fail(err) : result;
}

/* True if it begins an option of which the parts of one analysis differ. *apart: its value is the next argument. */
static bool is_of_part(const char *arg, bool *apart)
{
	bool shard = !strncmp(arg, "--sh", 4), output = !strncmp(arg, "--ou", 4);
	bool brief = !strncmp(arg, "-o", 2);
	*apart = brief ? !arg[2] : !strchr(arg, '=');
	return shard || output || brief;
}

/* The arguments without those options; `copy` has room for them. Returns their number. */
static uint32_t common_args(int argc, char **argv, char **copy)
{
	uint32_t n = 0;
	for (int i = 1; i < argc; i++) {
		bool apart;
		if (is_of_part(argv[i], &apart))
			i += apart;
		else
			copy[n++] = argv[i];
	}
	return n;
}

int cmd_analyze(int argc, char **argv)
{
	struct analyze_settings s = {.fail_on = VERDICTS + 1 + LEVEL_ERROR};
	struct rt_error err = {0};
	int result = EXIT_CLEAN;
	/* Parsing sorts argv. */
	char **args = calloc((size_t)argc + 1, sizeof *args);
	uint32_t arg_count = args ? common_args(argc, argv, args) : 0;
	cmd_parse(&analyze_argp, argc, argv, 0, &s);
	if (s.schema)
		fputs(report_schema, stdout);
	else if (s.limits)
		print_limits();
	if (s.schema || s.limits) {
		free(args);
		return EXIT_CLEAN;
	}
	if (!s.of) /* a part has all of its results or is none: an interrupt ends the program */
		analyze_catch_interrupt();
	enum rt_status status = s.of ? args ? run_shard(&s, args, arg_count, &err)
	                                    : rt_error_set(&err, RT_EMEMORY, "no memory for the arguments")
	                             : run(&s, &result, &err);
	free(args);
	return end(&s, status, &err, result);
}

int cmd_analyze_parts(struct parts *parts, const struct cmd_reports *reports)
{
	struct analyze_settings s = {.fail_on = VERDICTS + 1 + LEVEL_ERROR, .analysis.parts = parts};
	struct rt_error err = {0};
	int result = EXIT_CLEAN;
	uint32_t count;
	char *const *args = parts_args(parts, &count);
	char **argv = calloc((size_t)count + 2, sizeof *argv);
	if (!argv)
		return end(&s, rt_error_set(&err, RT_EMEMORY, "no memory for the arguments"), &err, EXIT_INPUT);
	argv[0] = program_invocation_short_name;
	memcpy(argv + 1, args, count * sizeof *argv);
	cmd_parse(&analyze_argp, (int)count + 1, argv, 0, &s);
	s.reports = *reports;
	enum rt_status status = run(&s, &result, &err);
	free(argv);
	return end(&s, status, &err, result);
}
