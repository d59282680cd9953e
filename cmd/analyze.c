/* racetrace analyze: reports the concurrency bugs that a trace allows. */
#include "cmd/analyze.h"

#include "cmd/analyze_options.h"
#include "cmd/command.h"
#include "cmd/common.h"
#include "cmd/inputs.h"
#include "cmd/known.h"
#include "cmd/memory.h"
#include "cmd/progress.h"
#include "cmd/replay.h"
#include "cmd/reports.h"
#include "cmd/siblings.h"
#include "cmd/stats.h"
#include "lib/analysis/windows.h"
#include "lib/base/output.h"
#include "lib/report/findings.h"
#include "lib/report/merge.h"
#include "lib/report/report.h"
#include "lib/search/pattern_file.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
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

static volatile sig_atomic_t interrupted;

/* The first interrupt ends the proofs, another one the program. */
static void interrupt(int signal)
{
	interrupted = signal;
}

/* What an analysis tells as it goes on; arg: a struct stats. */
static void begin_step(enum analysis_step step, void *arg)
{
	static const char *const names[] = {
	    [ANALYSIS_LOAD] = "reading the trace",   [ANALYSIS_SEARCH] = "searching for candidates",
	    [ANALYSIS_ORDERS] = "computing orders",  [ANALYSIS_PREPARE] = "preparing proofs",
	    [ANALYSIS_PROVE] = "proving candidates", [ANALYSIS_DONE] = "describing what was found"};
	stats_step(step, arg);
	progress_step(names[step], (unsigned)step + 1, ANALYSIS_DONE + 1);
}

static bool decided(size_t done, size_t count, void *arg)
{
	(void)arg;
	progress_count(done, count);
	return interrupted;
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

/* Warns, if CP or WCP was named in --orders, that the condition of their promise does not hold. */
static void warn_nesting(const struct analyze_settings *s, const struct analysis *a)
{
	const struct nesting *n = &a->nesting;
	uint32_t promising = 0;
	for (int i = 0; orders[i].name; i++)
		promising |= orders[i].promises ? UINT32_C(1) << i : 0;
	if (n->count && s->analysis.orders & promising)
		fprintf(stderr,
		        "racetrace: warning: locks are not well nested: event %" PRIu32
		        " releases the lock of event %" PRIu32 " while that of event %" PRIu32 " is held (%" PRIu64
		        " such releases): the first pair of cp and wcp need not be a race\n",
		        a->model->events[n->release].number, a->model->events[n->outer].number,
		        a->model->events[n->inner].number, n->count);
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

/* Fails if a kind that --kinds names was not searched for. */
static enum rt_status check_kinds(const struct analyze_settings *s, const struct analysis *a, struct rt_error *err)
{
	char searched[128] = "";
	for (int i = 0; i < ANOMALY_KINDS; i++)
		if (a->kinds >> i & 1)
			snprintf(searched + strlen(searched), sizeof searched - strlen(searched), "%s%s",
			         *searched ? ", " : "", anomaly_kind_name((enum anomaly_kind)i));
	for (int i = 0; i < ANOMALY_KINDS; i++)
		if (s->analysis.kinds >> i & 1 && !(a->kinds >> i & 1))
			return rt_error_set(err, RT_EUSAGE, "there is no search for the kind '%s'%s%s",
			                    anomaly_kind_name((enum anomaly_kind)i), *searched ? ", only for " : "",
			                    searched);
	return RT_OK;
}

/* One trace that is analyzed, whole or by windows. */
struct job {
	struct analyze_settings *s;
	const char *path;
	struct rt_trace *trace;
	struct analysis_options analysis;
	struct report_options report;
	uint64_t max_memory;
	struct stats *stats;
	struct merge *merge; /* of windows */
	bool incomplete;     /* a window's report is */
};

static enum rt_status job_open(struct job *j, struct rt_error *err)
{
	struct analyze_settings *s = j->s;
	progress_begin();
	progress_step("reading the trace", 1, ANALYSIS_DONE + 1);
	enum rt_status status = cmd_open_trace(j->path, &s->input, &j->trace, err);
	if (status) {
		progress_end();
		return status;
	}
	progress_watch(j->trace);
	j->report = (struct report_options){.least = s->all ? VERDICT_REFUTED : VERDICT_PREDICTED,
	                                    .anomalies = s->anomalies,
	                                    .verbose = s->verbose,
	                                    .every = s->analysis.every,
	                                    .orders = s->only_orders ? s->analysis.orders : 0,
	                                    .source_root = s->source_root,
	                                    .only = s->anomaly,
	                                    .finding = s->finding};
	cmd_known_use(&s->known, &j->report);
	j->max_memory = s->max_memory;
	j->analysis = s->analysis;
	j->analysis.model.admit = cmd_admit;
	j->analysis.model.admit_arg = &j->max_memory;
	j->analysis.step = begin_step;
	j->analysis.decided = decided;
	j->analysis.step_arg = j->stats;
	return RT_OK;
}

static void tell_undecided(const struct job *j, const struct analysis *a)
{
	if (a->undecided)
		fprintf(stderr, "racetrace: interrupted: %zu candidate%s of '%s' stay%s unproved\n", a->undecided,
		        a->undecided == 1 ? "" : "s", j->path, a->undecided == 1 ? "s" : "");
}

/* True if the options allow a list of findings of several windows instead of one report. */
static bool may_be_windows(const struct analyze_settings *s)
{
	return !s->anomaly && !s->finding && !s->anomalies && !s->all && !s->confirm && !s->only_orders &&
	       !s->analysis.every && !s->analysis.exhaustive && !s->analysis.parts;
}

/* A windows_take. */
static enum rt_status take_window(struct analysis *a, const struct window *w, void *arg, struct rt_error *err)
{
	struct job *j = arg;
	char name[4096], events[64];
	struct report *r;
	enum rt_status status = check_kinds(j->s, a, err);
	if (!status)
		status = report_create(a, &j->report, &r, err);
	if (status) {
		analysis_free(a);
		return status;
	}
	j->incomplete |= r->incomplete || a->undecided;
	tell_undecided(j, a);
	snprintf(events, sizeof events, "events %" PRIu64 " to %" PRIu64, w->first, w->last);
	snprintf(name, sizeof name, "%s%s%s", analyze_is_many(j->s) ? j->path : "", analyze_is_many(j->s) ? ", " : "",
	         events);
	rt_trace_share(j->trace); /* the merge owns one of each report */
	status =
	    merge_add(j->merge, &(struct merge_source){.name = name, .first = w->first, .last = w->last}, r, NULL, err);
	if (!status && j->merge->runs[j->merge->run_count - 1].report)
		windows_set_aside(a);
	return status;
}

/* Adds to the merge what the windows of a trace allow that is too large to be analyzed whole. */
static enum rt_status add_windows(struct job *j, struct rt_error *err)
{
	enum { KEPT = 8 };
	size_t before = j->merge->run_count;
	uint64_t allowed = cmd_allowed_memory(j->max_memory);
	j->max_memory = allowed - allowed / KEPT; /* the rest is for the reports of windows that came before */
	progress_begin();
	progress_watch(j->trace);
	enum rt_status status = windows_analyze(j->trace, &j->analysis, take_window, j, err);
	progress_end();
	if (!status)
		fprintf(stderr,
		        "racetrace: '%s' would take more memory than is allowed: analyzed by %zu windows, without what "
		        "needs events of several of them; --max-memory SIZE allows more\n",
		        j->path, j->merge->run_count - before);
	return status;
}

/* What a trace allows. On RT_OK the report is the caller's, with its analysis and trace (release_report); or *out is
 * NULL and merge has the reports of windows. merge: NULL: there are to be none. */
static enum rt_status analyze(struct analyze_settings *s, const char *path, struct stats *stats, struct merge *merge,
                              struct report **out, struct rt_error *err)
{
	struct job j = {.s = s, .path = path, .stats = stats, .merge = merge};
	struct analysis *a = NULL;
	*out = NULL;
	enum rt_status status = job_open(&j, err);
	if (status)
		return status;
	status = analysis_run(j.trace, &j.analysis, &a, err);
	if (!status && !(status = check_kinds(s, a, err))) {
		warn_nesting(s, a);
		status = report_create(a, &j.report, out, err);
	}
	progress_end();
	if (status == RT_ELARGE && may_be_windows(s)) {
		status = add_windows(&j, err);
		s->incomplete |= j.incomplete;
		if (!status)
			cmd_warn_incomplete(j.trace);
		rt_trace_free(j.trace);
		return status;
	}
	if (!status) {
		tell_undecided(&j, a);
		return RT_OK;
	}
	if (a)
		analysis_free(a);
	rt_trace_free(j.trace);
	return status;
}

static void release_report(struct report *r)
{
	struct analysis *a = (struct analysis *)(uintptr_t)r->analysis;
	struct rt_trace *trace = a->trace;
	report_free(r);
	analysis_free(a);
	rt_trace_free(trace);
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
	if (*result == EXIT_CLEAN && s->incomplete && !s->allow_incomplete)
		*result = EXIT_INCOMPLETE;
	return status;
}

static enum rt_status run_one(struct analyze_settings *s, int *result, struct rt_error *err)
{
	struct stats stats = {0};
	struct report *r;
	struct merge merge = {0};
	enum rt_status status = analyze(s, s->traces.paths[0], &stats, &merge, &r, err);
	if (status || !r) {
		if (!status)
			status = write_merge(s, &merge, result, err);
		if (!status && s->show_stats)
			stats_print_windows(&merge);
		merge_release(&merge);
		return status;
	}
	struct rt_trace *trace = r->analysis->trace;
	if (s->confirm)
		status = confirm(s, r, err);
	if (!status) {
		status = cmd_reports_write(&s->reports, cmd_report_write, r, err);
		if (!status)
			status = rt_trace_memory(trace, err);
		if (!cmd_reports_have(&s->reports, "text")) /* the text report has that warning */
			cmd_warn_incomplete(trace);
		*result = exit_status(s, r);
		if (*result == EXIT_CLEAN && ((r->incomplete && !s->allow_incomplete) || r->analysis->undecided))
			*result = EXIT_INCOMPLETE;
		if (s->show_stats && !status)
			stats_print(&stats, r);
	}
	if (!status && isatty(STDERR_FILENO) && siblings_count(s->traces.paths[0]))
		fprintf(stderr,
		        "racetrace: other processes of this recording have traces, too: racetrace analyze %s %s.*\n",
		        s->traces.paths[0], s->traces.paths[0]);
	release_report(r);
	return status;
}

/* Several traces are one report: what each finding was seen in is said. What cannot be read is left out, and the exit
 * status says so in the end. */
static enum rt_status run_many(struct analyze_settings *s, int *result, struct rt_error *err)
{
	struct merge merge = {0};
	struct rt_error unread = {0};
	enum rt_status status = RT_OK;
	size_t taken = 0;
	for (size_t i = 0; i < s->traces.count && !status && !(interrupted && i); i++) {
		struct stats stats = {0};
		struct report *r;
		struct rt_error e = {0};
		enum rt_status of_trace = analyze(s, s->traces.paths[i], &stats, &merge, &r, &e);
		if (of_trace == RT_EINPUT || of_trace == RT_ELARGE) {
			fprintf(stderr, "racetrace: %s\n", e.message);
			unread = e;
			continue;
		}
		if (of_trace) {
			*err = e;
			status = of_trace;
			break;
		}
		taken++;
		if (!r)
			continue; /* the windows are there already */
		s->incomplete |= r->incomplete || r->analysis->undecided;
		cmd_warn_incomplete(r->analysis->trace);
		status = merge_add(&merge, &(struct merge_source){.name = s->traces.paths[i]}, r, NULL, err);
	}
	if (interrupted && taken < s->traces.count) {
		fprintf(stderr, "racetrace: interrupted: the report is about %zu of %zu traces\n", taken,
		        s->traces.count);
		s->incomplete = true;
	}
	if (!status)
		status = write_merge(s, &merge, result, err);
	if (!status && !merge_any_report(&merge)) {
		*err = unread;
		err->told = true;
		status = RT_EINPUT;
	}
	if (unread.message[0])
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
	s->analysis.model.admit = cmd_admit;
	s->analysis.model.admit_arg = &max_memory;
	status = analysis_run(trace, &s->analysis, &a, err);
	part_end(&part);
	if (!status && part.failed)
		status =
		    rt_error_set(err, RT_EINPUT, "cannot write '%s': %s", s->reports.items[0].path, strerror(errno));
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
		sigaction(SIGINT,
		          &(struct sigaction){.sa_handler = interrupt, .sa_flags = SA_RESTART | (int)SA_RESETHAND},
		          NULL);
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
