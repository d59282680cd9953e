/* One trace that is analyzed; see job.h. */
#include "cmd/analyze/job.h"

#include "cmd/analyze/cache.h"
#include "cmd/base/common.h"
#include "cmd/base/known.h"
#include "cmd/base/memory.h"
#include "cmd/base/progress.h"
#include "lib/analysis/windows.h"

#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static atomic_bool interrupted; /* lock-free, as a handler needs it */

static void interrupt(int signal)
{
	(void)signal;
	atomic_store(&interrupted, true);
}

void analyze_catch_interrupt(void)
{
	sigaction(SIGINT, &(struct sigaction){.sa_handler = interrupt, .sa_flags = SA_RESTART | (int)SA_RESETHAND},
	          NULL);
}

bool analyze_interrupted(void)
{
	return atomic_load(&interrupted);
}

/* What an analysis tells as it goes on; arg: the job. */
static void begin_step(enum analysis_step step, void *arg)
{
	static const char *const names[] = {
	    [ANALYSIS_LOAD] = "reading the trace",   [ANALYSIS_SEARCH] = "searching for candidates",
	    [ANALYSIS_ORDERS] = "computing orders",  [ANALYSIS_PREPARE] = "preparing proofs",
	    [ANALYSIS_PROVE] = "proving candidates", [ANALYSIS_DONE] = "describing what was found"};
	const struct analyze_job *j = arg;
	if (j->stats)
		stats_step(step, j->stats);
	if (!j->one_of_several)
		progress_step(names[step], (unsigned)step + 1, ANALYSIS_DONE + 1);
}

static bool decided(size_t done, size_t count, void *arg)
{
	const struct analyze_job *j = arg;
	if (!j->one_of_several)
		progress_count(done, count);
	return analyze_interrupted();
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

enum rt_status analyze_job_open(struct analyze_job *j, struct rt_error *err)
{
	struct analyze_settings *s = j->s;
	if (stat(j->path, &j->opened) != 0)
		j->opened = (struct stat){0};
	enum rt_status status = cmd_open_quietly(j->path, &s->input, &j->trace, err);
	if (status)
		return status;
	j->described = (struct report_options){.least = s->all ? VERDICT_REFUTED : VERDICT_PREDICTED,
	                                       .anomalies = s->anomalies,
	                                       .verbose = s->verbose,
	                                       .every = s->analysis.every,
	                                       .orders = s->only_orders ? s->analysis.orders : 0,
	                                       .source_root = s->source_root,
	                                       .only = s->anomaly,
	                                       .finding = s->finding};
	cmd_known_use(&s->known, &j->described);
	j->analysis = s->analysis;
	j->analysis.jobs = j->processes;
	j->analysis.model.admit = cmd_admit;
	j->analysis.model.admit_arg = &j->max_memory;
	j->analysis.step = begin_step;
	j->analysis.decided = decided;
	j->analysis.step_arg = j;
	return RT_OK;
}

enum rt_status analyze_job_run(struct analyze_job *j, struct rt_error *err)
{
	struct analysis *a = NULL;
	struct cmd_cache cache;
	if (!j->one_of_several)
		progress_watch(j->trace);
	uint64_t memory = j->s->max_memory ? j->max_memory : 0;
	j->analysis.memory = j->s->max_memory;
	j->analysis.available = cmd_allowed_memory(j->max_memory);
	j->analysis.share = j->max_memory != j->s->max_memory ? j->max_memory : 0;
	cmd_cache_open(&cache, j->s, memory, j->path, &j->opened);
	j->analysis.cache = &cache.cache;
	enum rt_status status = analysis_run(j->trace, &j->analysis, &a, err);
	cmd_cache_end(&cache, status ? NULL : a);
	j->analysis.cache = NULL;
	if (!status)
		status = check_kinds(j->s, a, err);
	if (!status)
		status = report_create(a, &j->described, &j->report, err);
	if (status)
		analysis_free(a);
	else
		j->lacks = j->report->incomplete || a->undecided;
	return status;
}

static void tell_undecided(const struct analyze_job *j, const struct analysis *a)
{
	if (a->undecided)
		fprintf(stderr, "racetrace: interrupted: %zu candidate%s of '%s' stay%s unproved\n", a->undecided,
		        a->undecided == 1 ? "" : "s", j->path, a->undecided == 1 ? "s" : "");
}

void analyze_job_tell(const struct analyze_job *j)
{
	warn_nesting(j->s, j->report->analysis);
	tell_undecided(j, j->report->analysis);
}

bool analyze_by_windows(const struct analyze_settings *s)
{
	return !s->anomaly && !s->finding && !s->anomalies && !s->all && !s->confirm && !s->only_orders &&
	       !s->analysis.every && !s->analysis.exhaustive && !s->analysis.parts;
}

/* Where the windows of a trace go. */
struct windowing {
	struct analyze_job *job;
	struct merge *merge;
	uint64_t allowed; /* bytes, for what the process has and takes */
	struct describe_pass *pass;
};

/*
 * The next window may take what the reports of those before it have left. All reports together may keep a quarter, and
 * half of what more than the smallest window is allowed; each half of what is left of that.
 */
static void allow_next(const struct windowing *to)
{
	enum { SMALLEST = 26 << 20 };
	struct analyze_job *j = to->job;
	uint64_t kept = cmd_own_memory() + describe_pass_room(to->pass),
	         more = to->allowed > SMALLEST ? (to->allowed - SMALLEST) / 2 : 0;
	uint64_t most = more < to->allowed / 4 ? more : to->allowed / 4;
	j->max_memory = j->analysis.memory = to->allowed > kept ? to->allowed - kept : 1;
	j->analysis.report_memory = most > kept ? (most - kept) / 2 + 1 : 1;
}

/* A windows_take. */
static enum rt_status take_window(struct analysis *a, const struct window *w, void *arg, struct rt_error *err)
{
	struct windowing *to = arg;
	struct analyze_job *j = to->job;
	char name[4096], events[64];
	struct report *r;
	enum rt_status status = check_kinds(j->s, a, err);
	j->described.stretch = (struct describe_stretch){.pass = to->pass, .from = w->from, .last = w->last};
	if (!status)
		status = report_create(a, &j->described, &r, err);
	if (status) {
		analysis_free(a);
		return status;
	}
	j->windows++;
	j->lacks |= r->incomplete || a->undecided;
	tell_undecided(j, a);
	snprintf(events, sizeof events, "events %" PRIu64 " to %" PRIu64, w->first, w->last);
	bool many = analyze_is_many(j->s);
	snprintf(name, sizeof name, "%s%s%s", many ? j->path : "", many ? ", " : "", events);
	rt_trace_share(j->trace); /* the merge owns one of each report */
	status = merge_add(to->merge, &(struct merge_source){.name = name, .first = w->first, .last = w->last}, r, NULL,
	                   err);
	if (!status && to->merge->runs[to->merge->run_count - 1].report)
		windows_set_aside(a);
	allow_next(to);
	return status;
}

enum rt_status analyze_job_windows(struct analyze_job *j, struct merge *merge, struct rt_error *err)
{
	enum { PASS_PART = 32 };
	/* What the process has now is part of what an analysis is said to need. */
	struct windowing to = {
	    .job = j, .merge = merge, .allowed = cmd_allowed_memory(j->max_memory) + cmd_own_memory()};
	to.pass = describe_pass_create(j->trace, to.allowed / PASS_PART);
	if (!to.pass)
		return rt_error_set(err, RT_EMEMORY, "no memory for windows of the trace");
	allow_next(&to);
	if (!j->one_of_several)
		progress_watch(j->trace);
	enum rt_status status = windows_analyze(j->trace, &j->analysis, take_window, &to, err);
	describe_pass_free(to.pass);
	if (!status)
		fprintf(stderr,
		        "racetrace: '%s' would take more memory than is allowed: analyzed by %zu windows, without what "
		        "needs events of several of them; --max-memory SIZE allows more\n",
		        j->path, j->windows);
	return status;
}

void analyze_job_release(struct analyze_job *j)
{
	struct analysis *a = j->report ? (struct analysis *)(uintptr_t)j->report->analysis : NULL;
	report_free(j->report);
	analysis_free(a);
	rt_trace_free(j->trace);
	j->report = NULL;
	j->trace = NULL;
}
