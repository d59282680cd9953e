/* Replaying the entries of a report, some at once; see replay.h. */
#include "cmd/replay/replay.h"

#include "cmd/base/interrupt.h"
#include "cmd/base/messages.h"
#include "cmd/base/scratch.h"
#include "cmd/replay/choose.h"
#include "cmd/replay/debug.h"
#include "cmd/replay/reference.h"
#include "cmd/try/ways.h"
#include "lib/base/clock.h"
#include "lib/schedule/script_places.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const struct replay_options replay_defaults = {.verdicts = 1u << VERDICT_PROVED | 1u << VERDICT_OBSERVED,
                                               .orders = 1u << OUTCOME_FIRST | 1u << OUTCOME_SECOND,
                                               .attempts = 3,
                                               .repeat = 1,
                                               .jobs = 1,
                                               .limited = UINT32_MAX,
                                               .timeout_ms = 20000,
                                               .seed = 1};

enum { FOLDER_MAX = SCRATCH_MAX, SEARCHES = 10 }; /* runs of a search that does not find what it is for */

/* One entry of the report under way. */
struct job {
	size_t entry;
	const struct anomaly *anomaly;
	struct rt_plan *plan;   /* of this attempt */
	struct rt_trace *trace; /* that it is of, if that is not the report's */
	enum outcome_way way;
	uint32_t attempt; /* from 1 */
	enum outcome_order order;
	uint32_t round;         /* runs of this order and attempt so far */
	enum outcome_kind last; /* of the last run */
	struct replay_result *result;
	struct try *t;
	char folder[FOLDER_MAX];
};

struct replaying {
	struct report *r;
	const struct replay_options *o;
	struct rt_trace *trace;
	const struct rt_trace_info *info;
	bool watched; /* runs are by Valgrind, as the recorded one was */
	char *const *program;
	struct rt_error *err;
	char folder[FOLDER_MAX], reference_folder[FOLDER_MAX];
	const char *input; /* what runs read */
	struct job *jobs;
	size_t *entries; /* what is to be replayed, in that order */
	size_t count, next, done;
	uint64_t began; /* ns, of now_ns; or, if later, when the last ended that the time limit is not for */
	struct reference reference;
	struct rt_trace *other;  /* of a run of another build than the recorded one; NULL: it is the same */
	struct rebuilt *rebuilt; /* where positions are in it; NULL: the same */
	bool confirmed, held, cut_short;
};

/* False: interrupted. */
static bool wait_for_one(int fd)
{
	struct pollfd one = {.fd = fd, .events = POLLIN};
	interrupt_wait(&one, 1, NULL);
	return !interrupt_came();
}

/* True if an interrupt came that leaves a report of what was replayed so far. */
static bool is_cut_short(const struct replaying *p)
{
	return interrupt_came() == SIGINT && p->r && !p->o->hold;
}

/* ---- One job ---- */

static enum outcome_order first_order(const struct replaying *p, const struct anomaly *a)
{
	if (a->kind != ANOMALY_RACE || p->o->hold)
		return OUTCOME_NO_ORDER;
	return p->o->orders >> OUTCOME_FIRST & 1 ? OUTCOME_FIRST : OUTCOME_SECOND;
}

static bool is_limited(const struct replaying *p, const struct anomaly *a)
{
	return p->o->time_limit_ms && a && p->o->limited >> a->verdict & 1;
}

/* Of its time; UINT64_MAX: no limit. */
static uint64_t left_ms(const struct replaying *p, const struct anomaly *a)
{
	uint64_t past = (now_ns() - p->began) / 1000000, limit = p->o->time_limit_ms;
	return !is_limited(p, a) ? UINT64_MAX : past < limit ? limit - past : 0;
}

static enum rt_status start_run(struct replaying *p, struct job *j)
{
	uint64_t left = left_ms(p, j->anomaly);
	struct try_options o = {.trace = j->trace   ? j->trace
	                                 : p->other ? p->other
	                                            : p->trace,
	                        .recorded = p->info,
	                        .plan = j->plan,
	                        .program = p->program,
	                        .input = p->input,
	                        .before = p->o->before,
	                        .folder = j->folder,
	                        .timeout_ms = p->o->hold ? INT32_MAX : p->o->timeout_ms,
	                        .order = j->order,
	                        .seed = p->o->seed + j->round + 1000 * (j->attempt - 1),
	                        .sync_only = p->info->sync_only,
	                        .watched = p->watched,
	                        .hold = p->o->hold};
	o.cut = left < o.timeout_ms && !p->o->hold;
	o.timeout_ms = !o.cut ? o.timeout_ms : left ? (unsigned)left : 1;
	return try_start(&o, &j->t, p->err);
}

static void say_progress(const struct replaying *p, const struct job *j)
{
	char text[96];
	if (!isatty(STDERR_FILENO) || p->o->hold)
		return;
	snprintf(text, sizeof text, "replaying %s, %zu of %zu done ...", p->r->entries[j->entry].id, p->done, p->count);
	messages_progress(text);
}

/* What cannot be made a plan of has that as its outcome. */
static enum rt_status fail_job(struct job *j, const char *why, struct rt_error *err)
{
	struct replay_run run = {.kind = OUTCOME_FAILED, .why = strdup(why)};
	if (run.why && replay_add(j->result, &run))
		return RT_OK;
	replay_run_release(&run);
	return rt_error_set(err, RT_EMEMORY, "no memory to replay a report");
}

static enum rt_status begin_job(struct replaying *p, struct job *j, size_t entry)
{
	struct rt_error err = {0};
	*j = (struct job){.entry = entry, .anomaly = p->r->entries[entry].anomaly, .attempt = 1};
	snprintf(j->folder, sizeof j->folder, "%.200s/%zu", p->folder, (size_t)(j - p->jobs));
	j->order = first_order(p, j->anomaly);
	j->result = calloc(1, sizeof *j->result);
	if (!j->result)
		return rt_error_set(p->err, RT_EMEMORY, "no memory to replay a report");
	say_progress(p, j);
	j->way = way_has_schedule(p->r, j->anomaly) ? OUTCOME_BY_SCHEDULE : OUTCOME_BY_SEARCH;
	enum rt_status status = j->way == OUTCOME_BY_SCHEDULE
	                            ? way_by_schedule(p->r, j->anomaly, p->rebuilt, &j->plan, &err)
	                            : way_by_search(p->r, j->anomaly, p->rebuilt, &j->plan, &err);
	if (status == RT_EINPUT)
		return fail_job(j, err.message, p->err);
	if (status)
		return rt_error_set(p->err, status, "%s", err.message);
	return start_run(p, j);
}

static void end_job(struct replaying *p, struct job *j)
{
	if (!is_limited(p, j->anomaly))
		p->began = now_ns();
	p->confirmed |= j->result->confirmed != 0;
	report_add_replay(p->r, j->entry, j->result);
	j->result = NULL;
	free(j->plan);
	j->plan = NULL;
	rt_trace_free(j->trace);
	j->trace = NULL;
	j->anomaly = NULL;
	p->done++;
}

/* The options of runs that follow no schedule. */
static struct try_options plain_options(const struct replaying *p)
{
	return (struct try_options){.program = p->program,
	                            .input = p->input,
	                            .before = p->o->before,
	                            .folder = p->reference_folder,
	                            .timeout_ms = p->o->timeout_ms,
	                            .sync_only = p->info->sync_only,
	                            .watched = p->watched};
}

/* Of a job's last run. */
static void trace_path(const struct job *j, char path[FOLDER_MAX + 16])
{
	snprintf(path, FOLDER_MAX + 16, "%s/trace.zst", j->folder);
}

/* Another way to the same anomaly; the job ends if there is none. */
static enum rt_status next_attempt(struct replaying *p, struct job *j)
{
	struct rt_plan *plan = NULL;
	struct rt_trace *trace = NULL;
	struct rt_error err = {0};
	char path[FOLDER_MAX + 16];
	trace_path(j, path);
	j->attempt++;
	j->round = 0;
	j->order = first_order(p, j->anomaly);
	if (j->way == OUTCOME_BY_SCHEDULE &&
	    way_by_rerun(path, j->anomaly->kind, p->r->entries[j->entry].fingerprint, &trace, &plan, &err) == RT_OK) {
		j->way = OUTCOME_BY_RERUN;
	} else if (way_can_search(p->r, j->anomaly) &&
	           way_by_search(p->r, j->anomaly, p->rebuilt, &plan, &err) == RT_OK) {
		j->way = OUTCOME_BY_SEARCH;
	}
	if (!plan) {
		end_job(p, j);
		return RT_OK;
	}
	free(j->plan);
	j->plan = plan;
	rt_trace_free(j->trace);
	j->trace = trace;
	return start_run(p, j);
}

/* True if the job is of threads that are stuck in the end of the recorded run. */
static bool is_of_stuck(const struct replaying *p, const struct job *j)
{
	return j->anomaly && anomaly_is_stuck(p->r->analysis->model, j->anomaly);
}

/* A run has ended: takes note of it. */
static enum rt_status take_run(struct replaying *p, struct job *j)
{
	struct replay_run run;
	char path[FOLDER_MAX + 16];
	enum rt_status status = try_tell(j->t, &run, p->err);
	if (status)
		return status;
	trace_path(j, path);
	if (is_of_stuck(p, j))
		way_take_stuck(p->r, j->entry, path, &run);
	run.printed = run.kind == OUTCOME_CONFIRMED ? try_end(j->t)->out.digest : 0;
	bool ended = try_end(j->t)->kind != RUN_TIMEOUT; /* otherwise what it printed was cut off */
	run.way = j->way;
	try_free(j->t);
	j->t = NULL;
	/* A run without a schedule would mostly be stuck as well. */
	if (run.kind == OUTCOME_CONFIRMED && ended && !p->o->hold && !is_of_stuck(p, j)) {
		struct try_options o = plain_options(p);
		uint64_t left = left_ms(p, j->anomaly) / 2; /* of the two, each has half of the time */
		o.timeout_ms = left < o.timeout_ms ? (unsigned)left : o.timeout_ms;
		if (left)
			reference_start(&p->reference, &o);
		/* Without --jobs no run is to meet another one: both may want the same port or file. */
		while (p->o->jobs == 1 && reference_step(&p->reference) && wait_for_one(reference_fd(&p->reference)))
			;
	}
	j->last = run.kind;
	if (replay_add(j->result, &run))
		return RT_OK;
	replay_run_release(&run);
	return rt_error_set(p->err, RT_EMEMORY, "no memory to replay a report");
}

/* True if the same plan is to be followed once more; the job says how. */
static bool another_run(const struct replaying *p, struct job *j)
{
	if (j->last == OUTCOME_FAILED || p->o->hold)
		return false;
	uint32_t repeat = left_ms(p, j->anomaly) == 0 ? 1 : p->o->repeat;
	if (++j->round < (j->way == OUTCOME_BY_SEARCH && !j->result->confirmed ? SEARCHES : repeat))
		return true;
	if (j->order != OUTCOME_FIRST || !(p->o->orders >> OUTCOME_SECOND & 1) || !j->result->confirmed ||
	    !left_ms(p, j->anomaly))
		return false;
	j->order = OUTCOME_SECOND;
	j->round = 0;
	return true;
}

/* A run has ended: the next one of the job, if there is one. */
static enum rt_status step_job(struct replaying *p, struct job *j)
{
	enum rt_status status = take_run(p, j);
	if (status)
		return status;
	if (!j->result->confirmed && !left_ms(p, j->anomaly)) {
		end_job(p, j);
		return RT_OK;
	}
	if (another_run(p, j))
		return start_run(p, j);
	if (!j->result->confirmed && j->last != OUTCOME_FAILED && !p->o->hold && j->attempt < p->o->attempts)
		return next_attempt(p, j);
	end_job(p, j);
	return RT_OK;
}

/* ---- All of them ---- */

static bool may_begin(const struct replaying *p)
{
	return p->next < p->count && left_ms(p, p->r->entries[p->entries[p->next]].anomaly) != 0;
}

static enum rt_status make_folders(struct replaying *p)
{
	enum rt_status status = scratch_make(p->folder, p->err);
	if (status)
		return status;
	snprintf(p->reference_folder, sizeof p->reference_folder, "%.200s/reference", p->folder);
	if (mkdir(p->reference_folder, 0700) != 0)
		return rt_error_set(p->err, RT_ESYSTEM, "cannot make a folder '%s': %s", p->reference_folder,
		                    strerror(errno));
	for (uint32_t i = 0; i < p->o->jobs; i++) {
		char path[FOLDER_MAX];
		snprintf(path, sizeof path, "%.200s/%" PRIu32, p->folder, i);
		if (mkdir(path, 0700) != 0)
			return rt_error_set(p->err, RT_ESYSTEM, "cannot make a folder '%s': %s", path, strerror(errno));
	}
	return RT_OK;
}

/* With --hold a run has no end of its own, but it has to come to where it is held within the time of a run. */
static enum rt_status look_at_held(struct replaying *p)
{
	p->held = debug_held(p->jobs[0].t, p->o->debugger, p->folder);
	if (p->held || now_ns() - p->began <= (p->o->timeout_ms + UINT64_C(1000)) * 1000000)
		return RT_OK;
	return rt_error_set(p->err, RT_ESYSTEM, "'%s' was not reached within %g seconds (--timeout)",
	                    p->o->anomaly ? p->o->anomaly : p->info->path, p->o->timeout_ms / 1000.0);
}

static enum rt_status wait_for_runs(struct replaying *p)
{
	struct pollfd *fds = calloc((size_t)p->o->jobs + 1, sizeof *fds);
	if (!fds)
		return rt_error_set(p->err, RT_EMEMORY, "no memory to replay a report");
	for (uint32_t i = 0; i < p->o->jobs; i++)
		fds[i] = (struct pollfd){.fd = p->jobs[i].t ? try_fd(p->jobs[i].t) : -1, .events = POLLIN};
	fds[p->o->jobs] = (struct pollfd){.fd = reference_fd(&p->reference), .events = POLLIN};
	static const struct timespec look = {.tv_nsec = 100000000};
	interrupt_wait(fds, (nfds_t)p->o->jobs + 1, p->o->hold && !p->held ? &look : NULL);
	free(fds);
	if (p->o->hold && p->jobs[0].t && !p->held && !interrupt_came())
		return look_at_held(p);
	return interrupt_came() && !is_cut_short(p) ? rt_error_set(p->err, RT_ESYSTEM, "interrupted") : RT_OK;
}

/* The runs under way end; what their anomalies' earlier runs did counts. */
static void cut_jobs_short(struct replaying *p)
{
	for (uint32_t i = 0; i < p->o->jobs; i++) {
		struct job *j = &p->jobs[i];
		if (!j->t)
			continue;
		try_free(j->t);
		j->t = NULL;
		if (j->result->count)
			end_job(p, j);
	}
	p->cut_short = true;
	interrupt_forget();
}

static enum rt_status replay_all(struct replaying *p)
{
	enum rt_status status = RT_OK;
	for (bool busy = true; !status && busy && !is_cut_short(p);) {
		busy = false;
		for (uint32_t i = 0; !status && i < p->o->jobs; i++) {
			struct job *j = &p->jobs[i];
			if (j->t && try_ended(j->t))
				status = step_job(p, j);
			while (!status && !j->t && may_begin(p)) {
				status = begin_job(p, j, p->entries[p->next++]);
				if (!status && !j->t)
					end_job(p, j);
			}
			busy |= j->t != NULL;
		}
		busy |= !status && reference_step(&p->reference);
		if (!status && busy)
			status = wait_for_runs(p);
	}
	if (!status && is_cut_short(p))
		cut_jobs_short(p);
	for (size_t i = 0; !status && i < p->next; i++)
		if (p->r->entries[p->entries[i]].anomaly->replay)
			replay_compare(p->r->entries[p->entries[i]].anomaly->replay, p->reference.known,
			               p->reference.printed);
	if (isatty(STDERR_FILENO))
		messages_progress(NULL);
	if (!status && p->done < p->count)
		fprintf(stderr, "racetrace: %s: %zu of %zu were not replayed\n",
		        p->cut_short ? "interrupted" : "the time limit is over", p->count - p->done, p->count);
	return status;
}

static void release(struct replaying *p)
{
	for (uint32_t i = 0; p->jobs && i < p->o->jobs; i++) {
		try_free(p->jobs[i].t);
		free(p->jobs[i].plan);
		rt_trace_free(p->jobs[i].trace);
		replay_free(p->jobs[i].result);
	}
	free(p->jobs);
	free(p->entries);
	reference_release(&p->reference);
	rebuilt_free(p->rebuilt);
	rt_trace_free(p->other);
	scratch_remove(p->folder);
}

/* The program, and signals while runs are under way. */
static enum rt_status find_program(struct replaying *p)
{
	p->program = p->o->program ? p->o->program : (char *const *)(uintptr_t)p->info->command;
	p->input = reference_input(p->info, p->o->input);
	if (p->program && p->program[0]) {
		p->watched = p->info->binary && (!p->o->program || reference_is_plain(p->program[0]));
		return RT_OK;
	}
	return rt_error_set(p->err, RT_EUSAGE, "'%s' does not say which program it is of: give it after '--'",
	                    p->info->path);
}

/* In another build of the program, positions are where one run of it has them. */
static enum rt_status find_build(struct replaying *p)
{
	static const char *const serial[] = {"--serial", NULL};
	struct try_options o = plain_options(p);
	if (!reference_is_other_build(p->trace, p->program))
		return RT_OK;
	fprintf(stderr,
	        "racetrace: '%s' is not the build that was recorded: positions are found by function, file and line\n",
	        p->program[0]);
	o.record = serial;
	enum rt_status status = reference_trace(&o, wait_for_one, &p->other, p->err);
	return status ? status : rebuilt_create(p->trace, p->other, &p->rebuilt, p->err);
}

/* One run after another, in each order. */
static enum rt_status make_runs(struct replaying *p, struct job *j)
{
	enum rt_status status = RT_OK;
	j->order = j->plan->kind != RT_PLAN_RACE || p->o->hold ? OUTCOME_NO_ORDER
	           : p->o->orders >> OUTCOME_FIRST & 1         ? OUTCOME_FIRST
	                                                       : OUTCOME_SECOND;
	j->round = 0;
	for (bool more = true; !status && more;) {
		status = start_run(p, j);
		while (!status && !try_ended(j->t))
			status = wait_for_runs(p);
		if (!status)
			status = take_run(p, j);
		more = !status && another_run(p, j);
	}
	while (!status && reference_step(&p->reference))
		status = wait_for_runs(p);
	return status;
}

static enum rt_status plan_of_script(struct replaying *p, const struct script *s, struct rt_trace *trace,
                                     struct rt_plan **plan)
{
	struct plan_request request = {0};
	enum rt_status status = plan_request_of(s, trace, &request, p->err);
	if (!status)
		status = plan_make(trace, &request, p->rebuilt, plan, p->err);
	free((void *)(uintptr_t)request.runs);
	return status;
}

/*
 * Without the schedule's trace its places are found in that of a run of the program. At first that is one that follows
 * no schedule, then the last one, which has followed it up to where it was another.
 */
static enum rt_status follow_script(struct replaying *p, struct job *j, struct script *s)
{
	enum rt_status status = RT_OK;
	for (j->attempt = 1; !status && j->attempt <= p->o->attempts && !j->result->confirmed; j->attempt++) {
		char seed[32], path[FOLDER_MAX + 16];
		trace_path(j, path);
		const char *const serial[] = {seed, NULL};
		struct try_options o = plain_options(p);
		snprintf(seed, sizeof seed, "--serial=%" PRIu32, (j->attempt + 1) / 2);
		o.record = serial;
		rt_trace_free(j->trace);
		free(j->plan);
		j->trace = NULL;
		j->plan = NULL;
		if (j->attempt % 2 || rt_trace_open(path, &j->trace, NULL))
			status = reference_trace(&o, wait_for_one, &j->trace, p->err);
		if (status)
			return status;
		status = script_use_places(s, j->trace, p->err);
		if (!status)
			status = plan_of_script(p, s, j->trace, &j->plan);
		if (status == RT_EINPUT && j->attempt < p->o->attempts)
			status = RT_OK;
		else if (!status)
			status = make_runs(p, j);
	}
	return status;
}

/* A signal that ended the runs is this process's too, unless a report was to be left. */
static void end_runs(const struct sigaction old[INTERRUPTS])
{
	interrupt_give(old);
	if (interrupt_came())
		raise(interrupt_came());
}

enum rt_status replay_script(struct script *s, struct rt_trace *trace, const struct replay_options *options,
                             struct replay_result **result, struct rt_error *err)
{
	static const struct rt_trace_info unknown = {.path = "the schedule"};
	struct replay_options o = *options;
	struct sigaction old[INTERRUPTS];
	struct job job = {.attempt = 1, .result = calloc(1, sizeof *job.result)};
	struct replaying p = {.o = &o,
	                      .trace = trace,
	                      .info = trace ? rt_trace_info(trace) : &unknown,
	                      .err = err,
	                      .jobs = &job,
	                      .began = now_ns()};
	o.jobs = 1;
	enum rt_status status = job.result ? find_program(&p) : rt_error_set(err, RT_EMEMORY, "no memory for a run");
	interrupt_take(old);
	if (!status)
		status = make_folders(&p);
	snprintf(job.folder, sizeof job.folder, "%.200s/0", p.folder);
	if (!status && trace)
		status = find_build(&p);
	if (!status && trace)
		status = plan_of_script(&p, s, trace, &job.plan);
	if (!status)
		status = trace ? make_runs(&p, &job) : follow_script(&p, &job, s);
	if (!status) {
		replay_compare(job.result, p.reference.known, p.reference.printed);
		job.result->was = -1;
		*result = job.result;
		job.result = NULL;
	}
	try_free(job.t);
	free(job.plan);
	rt_trace_free(job.trace);
	replay_free(job.result);
	p.jobs = NULL;
	release(&p);
	end_runs(old);
	return status;
}

enum rt_status replay_report(struct report *r, const struct replay_options *options, bool *confirmed,
                             struct rt_error *err)
{
	struct sigaction old[INTERRUPTS];
	struct replaying p = {.r = r,
	                      .o = options,
	                      .trace = r->analysis->trace,
	                      .info = rt_trace_info(r->analysis->trace),
	                      .err = err,
	                      .began = now_ns()};
	enum rt_status status = find_program(&p);
	if (status)
		return status;
	p.jobs = calloc(options->jobs, sizeof *p.jobs);
	if (!p.jobs)
		status = rt_error_set(err, RT_EMEMORY, "no memory to replay a report");
	interrupt_take(old);
	if (!status)
		status = replay_choose(r, options, p.watched, &p.entries, &p.count, err);
	if (!status)
		status = make_folders(&p);
	if (!status && p.count)
		status = find_build(&p);
	if (!status)
		status = replay_all(&p);
	*confirmed = p.confirmed;
	release(&p);
	end_runs(old);
	return status;
}
