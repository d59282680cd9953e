/* One run that follows a plan; see try.h. */
#include "cmd/try/parts.h"

#include "cmd/base/library.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { GRACE_MS = 5000, ARGUMENTS_MAX = 16 };

/* ---- Starting ---- */

/* Written in place: the folder is this command's own, and the run is started when the file is whole. */
static enum rt_status write_plan(const struct try *t, struct rt_error *err)
{
	struct rt_plan head = *t->o.plan;
	FILE *f = fopen(t->plan_path, "w");
	head.then = t->o.hold ? RT_PLAN_HOLD : t->o.order == OUTCOME_SECOND ? RT_PLAN_SECOND : RT_PLAN_FIRST;
	bool ok = f && fwrite(&head, sizeof head, 1, f) == 1 &&
	          (head.size == sizeof head || fwrite(t->o.plan + 1, head.size - sizeof head, 1, f) == 1);
	if (f && fclose(f) != 0)
		ok = false;
	return ok ? RT_OK : rt_error_set(err, RT_ESYSTEM, "cannot write '%s': %s", t->plan_path, strerror(errno));
}

static enum rt_status launch(struct try *t, struct rt_error *err)
{
	char *self, seed[32];
	size_t count = 0, n = 0;
	enum rt_status status = library_own_path(&self, err);
	if (status)
		return status;
	while (t->o.program[count])
		count++;
	size_t further = 0;
	while (t->o.record && t->o.record[further])
		further++;
	const char **argv = calloc(count + further + ARGUMENTS_MAX, sizeof *argv);
	if (!argv) {
		free(self);
		return rt_error_set(err, RT_EMEMORY, "no memory for a run");
	}
	snprintf(seed, sizeof seed, "--serial=%" PRIu64, t->o.seed);
	argv[n++] = self;
	argv[n++] = "record";
	if (t->o.plan) {
		argv[n++] = "--plan";
		argv[n++] = t->plan_path;
		argv[n++] = seed;
	}
	if (t->o.sync_only)
		argv[n++] = "--sync-only";
	if (t->o.watched)
		argv[n++] = "--recorder=valgrind";
	for (size_t i = 0; i < further; i++)
		argv[n++] = t->o.record[i];
	if (!t->o.children)
		argv[n++] = "--no-children";
	argv[n++] = "-o";
	argv[n++] = t->trace_path;
	argv[n++] = "--";
	for (size_t i = 0; i < count; i++)
		argv[n++] = t->o.program[i];
	struct run_options run = {.argv = (char *const *)(uintptr_t)argv,
	                          .input = t->o.input,
	                          .before = t->o.before,
	                          .timeout_ms = t->o.timeout_ms,
	                          .growing = t->growing_path,
	                          .grace_ms = GRACE_MS,
	                          .terminal = t->o.hold};
	status = runner_start(&run, &t->runner, err);
	free(argv);
	free(self);
	return status;
}

enum rt_status try_start(const struct try_options *options, struct try **out, struct rt_error *err)
{
	char held_path[4096];
	struct try *t = calloc(1, sizeof *t);
	if (!t)
		return rt_error_set(err, RT_EMEMORY, "no memory for a run");
	t->o = *options;
	snprintf(t->plan_path, sizeof t->plan_path, "%.4000s/plan", options->folder);
	snprintf(t->trace_path, sizeof t->trace_path, "%.4000s/trace.zst", options->folder);
	snprintf(t->growing_path, sizeof t->growing_path, "%s.part", t->trace_path);
	unlink(t->trace_path);
	snprintf(held_path, sizeof held_path, "%.4000s.held", t->plan_path);
	unlink(held_path);
	enum rt_status status = options->plan ? write_plan(t, err) : RT_OK;
	if (!status)
		status = launch(t, err);
	if (status) {
		try_free(t);
		return status;
	}
	*out = t;
	return RT_OK;
}

const char *try_trace_path(const struct try *t)
{
	return t->trace_path;
}

int try_fd(const struct try *t)
{
	return runner_fd(t->runner);
}

bool try_ended(struct try *t)
{
	return runner_ended(t->runner) != NULL;
}

const struct run_end *try_end(struct try *t)
{
	return runner_wait(t->runner);
}

void try_free(struct try *t)
{
	if (!t)
		return;
	runner_free(t->runner);
	rt_trace_free(t->trace);
	free(t->plan);
	free(t->control);
	free(t);
}

/* ---- Reading what is left ---- */

/* The plan as the run has left it, and behind it the control area up to its log. */
bool try_read_result(struct try *t)
{
	const size_t control = offsetof(struct rt_control, log_count);
	FILE *f = fopen(t->plan_path, "r");
	if (!f)
		return false;
	free(t->plan);
	t->plan = malloc(t->o.plan->size);
	t->control = calloc(1, sizeof *t->control);
	bool ok = t->plan && t->control && fread(t->plan, t->o.plan->size, 1, f) == 1 &&
	          t->plan->size == t->o.plan->size && t->plan->magic == RT_PLAN_MAGIC;
	if (ok && fread(t->control, control, 1, f) != 1)
		memset(t->control, 0, sizeof *t->control);
	fclose(f);
	return ok;
}

struct rt_trace *try_trace(struct try *t)
{
	if (!t->looked && access(t->trace_path, R_OK) == 0 && rt_trace_open(t->trace_path, &t->trace, NULL))
		t->trace = NULL;
	t->looked = true;
	return t->trace;
}
