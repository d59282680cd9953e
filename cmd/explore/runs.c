/* The runs of an exploration: started, some at once, taken in as they end; see explore.h. */
#include "cmd/explore/explore.h"

#include "cmd/base/interrupt.h"
#include "cmd/base/messages.h"
#include "lib/base/clock.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000) /* in ns */

/* ---- Progress ---- */

static void say_progress(const struct exploring *x)
{
	char text[120];
	size_t findings = x->merge.incident_count;
	if (x->o.quiet || !isatty(STDERR_FILENO))
		return;
	for (size_t i = 0; i < x->merge.run_count; i++)
		findings += x->merge.runs[i].fresh;
	snprintf(text, sizeof text, "run %" PRIu32 " of %" PRIu32 ", %zu findings ...", x->ended + 1, x->o.runs,
	         findings);
	messages_progress(text);
}

/* ---- Starting ---- */

bool run_order_add(struct run_order *order, const char *option)
{
	size_t n = 0;
	while (order->options && order->options[n])
		n++;
	char **options = reallocarray(order->options, n + 2, sizeof *options);
	if (!options)
		return false;
	order->options = options;
	options[n] = strdup(option);
	options[n + 1] = NULL;
	return options[n] != NULL;
}

static void order_release(struct run_order *order)
{
	for (size_t i = 0; order->options && order->options[i]; i++)
		free(order->options[i]);
	free(order->options);
	free(order->plan);
	*order = (struct run_order){0};
}

/* The options that make `record` lead the run. */
static bool add_options(struct run_order *order, const char *outcome)
{
	char text[64];
	if (!order->strategy && !order->plan) {
		snprintf(text, sizeof text, "--vary=%" PRIu64, order->seed ? order->seed : 1);
		return run_order_add(order, "--strategy=native") && run_order_add(order, text) &&
		       run_order_add(order, "--outcome") && run_order_add(order, outcome);
	}
	snprintf(text, sizeof text, "--serial=%" PRIu64, order->seed);
	if (order->file[0])
		return run_order_add(order, text) && run_order_add(order, "--plan") &&
		       run_order_add(order, order->file) && run_order_add(order, "--outcome") &&
		       run_order_add(order, outcome);
	if (!order->plan && !run_order_add(order, text))
		return false;
	snprintf(text, sizeof text, "--strategy=%.40s", order->strategy ? order->strategy : "");
	if (!order->plan && order->strategy && strcmp(order->strategy, "random") != 0 && !run_order_add(order, text))
		return false;
	return run_order_add(order, "--outcome") && run_order_add(order, outcome);
}

static enum rt_status start(struct exploring *x, struct run_slot *s, const struct run_order *order,
                            struct rt_error *err)
{
	s->order = *order;
	if (x->native && !order->plan)
		s->order.strategy = NULL;
	unlink(s->outcome);
	if (!add_options(&s->order, s->outcome))
		return rt_error_set(err, RT_EMEMORY, "no memory for a run");
	struct try_options o = {.plan = order->plan,
	                        .program = x->o.program,
	                        .input = x->o.input,
	                        .before = x->o.before,
	                        .folder = s->folder,
	                        .timeout_ms = x->o.timeout_ms,
	                        .order = order->resolve,
	                        .seed = order->seed,
	                        .record = (const char *const *)s->order.options,
	                        .children = true};
	x->started++;
	return try_start(&o, &s->t, err);
}

static bool next_order(struct exploring *x, struct run_order *order)
{
	*order = (struct run_order){.strategy = x->o.strategy->recorder, .seed = x->next_seed};
	if (x->o.strategy->next)
		return x->o.strategy->next(x, order);
	x->next_seed++;
	return true;
}

static bool budget_left(const struct exploring *x)
{
	if (x->stopped || x->started - x->first >= x->o.runs)
		return false;
	if (!x->o.time_ms)
		return true;
	/* What is left of the time is shared by what is left to be explored. */
	uint64_t all = x->o.time_ms * 1000000, before = x->began_target - x->began;
	return before < all && now_ns() - x->began_target < (all - before) / x->targets;
}

/* Of the time for all that is explored; UINT64_MAX: it has no limit. */
static uint64_t left_ns(const struct exploring *x)
{
	uint64_t past = now_ns() - x->began, limit = x->o.time_ms * 1000000;
	return !x->o.time_ms ? UINT64_MAX : past < limit ? limit - past : 0;
}

/* True if no run is waited for any longer; the first one has the time of a run. */
static bool is_over(const struct exploring *x)
{
	return x->stopped || (x->ended && left_ns(x) == 0);
}

static void free_slot(struct run_slot *s)
{
	try_free(s->t);
	order_release(&s->order);
	s->t = NULL;
}

/*
 * A program that cannot be controlled at all still runs: the first run says so. *again: that run does not count, and
 * threads run free from now on.
 */
static bool degrades(struct exploring *x, const struct run_slot *s)
{
	if (x->native || x->ended > x->first || !s->order.strategy || access(try_trace_path(s->t), R_OK) == 0)
		return false;
	explore_failed(x, try_end(s->t));
	if (!x->uncontrollable[0])
		snprintf(x->uncontrollable, sizeof x->uncontrollable,
		         "'%s' cannot be run one thread at a time: its threads ran free (%s)", x->o.program[0],
		         x->failure);
	x->failure[0] = '\0';
	x->failed--;
	x->native = true;
	x->started--;
	return true;
}

/* The outcome belongs to an entry of a report that is kept: of the latest that has the anomaly. */
enum rt_status explore_attach(struct exploring *x, const char *fingerprint, struct replay_run *outcome,
                              struct rt_error *err)
{
	for (size_t i = x->merge.run_count; i-- > 0;) {
		struct report *r = x->merge.runs[i].report;
		for (size_t k = 0; r && k < r->count; k++) {
			if (strcmp(r->entries[k].fingerprint, fingerprint) != 0)
				continue;
			struct anomaly *a = (struct anomaly *)(uintptr_t)r->entries[k].anomaly;
			struct replay_result *result = a->replay;
			if (!result && !(result = calloc(1, sizeof *result))) {
				replay_run_release(outcome);
				return rt_error_set(err, RT_EMEMORY, "no memory to explore");
			}
			a->replay = NULL;
			int was = result->runs ? result->was : (int)a->verdict;
			bool added = replay_add(result, outcome);
			report_add_replay(r, k, result);
			result->was = was;
			if (added)
				return report_join(r, err);
			replay_run_release(outcome);
			return rt_error_set(err, RT_EMEMORY, "no memory to explore");
		}
	}
	replay_run_release(outcome);
	return RT_OK;
}

/* ---- All of them ---- */

static enum rt_status wait_for_runs(struct exploring *x, struct rt_error *err)
{
	struct pollfd *fds = calloc(x->o.jobs, sizeof *fds);
	if (!fds)
		return rt_error_set(err, RT_EMEMORY, "no memory to explore");
	for (uint32_t i = 0; i < x->o.jobs; i++)
		fds[i] = (struct pollfd){.fd = x->slots[i].t ? try_fd(x->slots[i].t) : -1, .events = POLLIN};
	uint64_t left = left_ns(x), most = x->ended && left < SECOND ? left : SECOND;
	interrupt_wait(fds, x->o.jobs,
	               &(struct timespec){.tv_sec = (time_t)(most / SECOND), .tv_nsec = (long)(most % SECOND)});
	free(fds);
	return RT_OK;
}

static enum rt_status step_slot(struct exploring *x, struct run_slot *s, struct rt_error *err)
{
	struct run_order order;
	enum rt_status status = RT_OK;
	if (s->t && try_ended(s->t)) {
		say_progress(x);
		if (!degrades(x, s))
			status = explore_take(x, s, err);
		free_slot(s);
	}
	if (!status && !s->t && budget_left(x) && next_order(x, &order)) {
		say_progress(x);
		status = start(x, s, &order, err);
	}
	return status;
}

static enum rt_status make_folders(struct exploring *x, struct rt_error *err)
{
	enum rt_status status = scratch_make(x->folder, err);
	if (status)
		return status;
	for (uint32_t i = 0; i < x->o.jobs; i++) {
		struct run_slot *s = &x->slots[i];
		snprintf(s->folder, sizeof s->folder, "%.200s/%" PRIu32, x->folder, i);
		snprintf(s->outcome, sizeof s->outcome, "%s/outcome", s->folder);
		if (mkdir(s->folder, 0700) != 0)
			return rt_error_set(err, RT_ESYSTEM, "cannot make a folder '%s': %s", s->folder,
			                    strerror(errno));
	}
	return RT_OK;
}

/* What belongs to the program that was explored before, if there was one. */
static void begin_target(struct exploring *x)
{
	if (x->o.strategy->release)
		x->o.strategy->release(x);
	x->predict = NULL;
	x->racefuzzer = NULL;
	x->systematic = NULL;
	x->native = false;
	x->status_count = 0;
	x->first = x->started = x->ended;
	x->next_seed = x->o.seed;
	x->began_target = now_ns();
	if (!x->began)
		x->began = x->began_target;
}

static enum rt_status make_runs(struct exploring *x, struct rt_error *err)
{
	enum rt_status status = RT_OK;
	for (bool busy = true; !status && busy;) {
		busy = false;
		for (uint32_t i = 0; !status && i < x->o.jobs; i++) {
			x->stopped |= interrupt_came() != 0;
			if (!x->stopped)
				status = step_slot(x, &x->slots[i], err);
			busy |= x->slots[i].t != NULL;
		}
		busy = busy && !is_over(x);
		if (!status && busy)
			status = wait_for_runs(x, err);
	}
	return status;
}

enum rt_status explore_runs(struct exploring *x, struct rt_error *err)
{
	enum rt_status status = RT_OK;
	begin_target(x);
	if (!x->slots) {
		x->slots = calloc(x->o.jobs, sizeof *x->slots);
		status = x->slots ? make_folders(x, err) : rt_error_set(err, RT_EMEMORY, "no memory to explore");
	}
	if (!status)
		status = make_runs(x, err);
	for (uint32_t i = 0; x->slots && i < x->o.jobs; i++)
		free_slot(&x->slots[i]);
	if (!status)
		status = explore_statuses(x, err);
	if (!x->o.quiet && isatty(STDERR_FILENO))
		messages_progress(NULL);
	return status;
}

void explore_reap(pid_t pid)
{
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

void explore_release(struct exploring *x)
{
	if (x->o.strategy->release)
		x->o.strategy->release(x);
	merge_release(&x->merge);
	json_decref(x->pairs);
	free(x->slots);
	free(x->statuses);
	scratch_remove(x->folder);
}
