/* What became of a run that follows a plan, in words; see try.h. */
#include "cmd/try/parts.h"

#include "cmd/try/descendants.h"
#include "lib/base/memory_file.h"
#include "tracefmt/child.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Words ---- */

#define PART(t, type, member) ((type *)(void *)((char *)(t)->plan + (t)->plan->member))

static const char *module_path(const struct try *t, uint32_t module)
{
	return (const char *)t->plan + PART(t, const struct rt_plan_module, modules)[module].path;
}

/* The pc that a trace has for a place in a module; 0: it has none. */
static uint64_t pc_in(const struct try *t, const struct rt_trace *trace, uint32_t module, uint64_t offset)
{
	size_t n = 0;
	const struct rt_module *modules = trace ? rt_trace_modules(trace, &n) : NULL;
	if (module == RT_PLAN_NONE)
		return trace ? offset : 0;
	for (size_t i = 0; i < n; i++)
		if (!strcmp(modules[i].path, module_path(t, module)))
			return modules[i].start + offset;
	return 0;
}

/* The i-th of the two traces that may know a place of the run. In another build the schedule's does not. */
static const struct rt_trace *trace_that_knows(struct try *t, int i)
{
	return i ? try_trace(t) : t->plan->rebuilt ? NULL : t->o.trace;
}

/* " at app.c:12 (worker)", from whichever trace knows it; or " at app+0x1234". */
static void put_place(FILE *out, struct try *t, uint32_t module, uint64_t offset)
{
	for (int i = 0; i < 2; i++) {
		const struct rt_trace *trace = trace_that_knows(t, i);
		uint64_t pc = pc_in(t, trace, module, offset);
		size_t n = 0;
		const struct rt_frame *f = pc ? rt_trace_frames(trace, pc, &n) : NULL;
		for (size_t k = 0; k < n; k++) {
			if (!f[k].file || !f[k].line)
				continue;
			fprintf(out, " at %s:%" PRIu32, f[k].file, f[k].line);
			if (f[k].function)
				fprintf(out, " (%s)", f[k].function);
			return;
		}
		if (n && f[0].function) {
			fprintf(out, " in %s", f[0].function);
			return;
		}
	}
	if (module != RT_PLAN_NONE) {
		const char *path = module_path(t, module), *slash = strrchr(path, '/');
		fprintf(out, " at %s+0x%" PRIx64, slash ? slash + 1 : path, offset);
	} else if (offset) {
		fprintf(out, " at 0x%" PRIx64, offset);
	}
}

/* The same of a site: its first position. */
static void put_site(FILE *out, struct try *t, const struct rt_plan_site *site)
{
	const struct rt_plan_place *place = PART(t, const struct rt_plan_place, places) + site->first_place;
	if (site->place_count)
		put_place(out, t, place->module, place->offset);
}

/* The name of the symbol at an offset of a module; false if it has none. */
static bool put_variable(FILE *out, struct try *t, uint32_t module, uint64_t offset)
{
	for (int i = 0; i < 2; i++) {
		const struct rt_trace *trace = trace_that_knows(t, i);
		uint64_t address = pc_in(t, trace, module, offset);
		struct rt_variable v;
		if (!address || !rt_trace_variable(trace, address, &v))
			continue;
		fputs(v.name, out);
		if (address > v.address)
			fprintf(out, "+%" PRIu64, address - v.address);
		return true;
	}
	return false;
}

/* An address of the run. */
static void put_object(FILE *out, struct try *t, uint64_t address)
{
	const uint64_t *learned = PART(t, const uint64_t, learned);
	uint32_t best = RT_PLAN_NONE;
	for (uint32_t i = 0; i < t->plan->module_count; i++)
		if (learned[i] && learned[i] <= address && (best == RT_PLAN_NONE || learned[i] > learned[best]))
			best = i;
	if (best == RT_PLAN_NONE || !put_variable(out, t, best, address - learned[best]))
		fprintf(out, "0x%" PRIx64, address);
}

static const char *thread_name(const struct try *t, uint32_t thread, char *text, size_t size)
{
	const struct rt_trace_info *info = t->o.trace ? rt_trace_info(t->o.trace) : NULL;
	const struct rt_plan_thread *threads = PART(t, const struct rt_plan_thread, threads);
	if (thread >= t->plan->thread_count)
		return "a thread";
	if (info && thread < info->thread_count)
		return info->threads[thread].name;
	if (thread == 0)
		return "main";
	char parent[256];
	uint32_t by = threads[thread].parent < thread ? threads[thread].parent : 0;
	rt_child_name(text, size, thread_name(t, by, parent, sizeof parent), threads[thread].child_number);
	return text;
}

static const char *operation_text(unsigned op)
{
	switch (op) {
	case RT_OP_NONE:
		return "a call that may block";
	case RT_OP_END:
		return "its end";
	default:
		return rt_op_name(op);
	}
}

static void put_event(FILE *out, struct try *t, const struct rt_plan_event *e)
{
	fputs(operation_text(e->op), out);
	if (e->op == RT_OP_JOIN) {
		fprintf(out, " of thread %" PRIu64, e->object);
	} else if (e->object) {
		fputs(" of ", out);
		put_object(out, t, e->object);
	}
	if (e->op != RT_OP_END)
		put_place(out, t, e->module, e->offset);
}

/* What the plan has: the mark of a thread. */
static void put_mark(FILE *out, struct try *t, uint32_t thread, uint64_t number)
{
	char name[256];
	const struct rt_plan_thread *owner = PART(t, const struct rt_plan_thread, threads) + thread;
	if (number >= owner->mark_count) {
		fputs("anything", out);
		return;
	}
	const struct rt_plan_mark *mark = PART(t, const struct rt_plan_mark, marks) + owner->first_mark + number;
	const struct rt_plan_site *site = PART(t, const struct rt_plan_site, sites) + mark->site;
	const uint64_t *learned = PART(t, const uint64_t, learned);
	fputs(operation_text(site->op), out);
	if (site->op == RT_OP_JOIN) {
		fprintf(out, " of %s", thread_name(t, (uint32_t)mark->offset, name, sizeof name));
	} else if (mark->base != RT_PLAN_NONE) {
		const struct rt_plan_base *base = PART(t, const struct rt_plan_base, bases) + mark->base;
		fputs(" of ", out);
		if (base->module == RT_PLAN_NONE || !put_variable(out, t, base->module, mark->offset)) {
			if (learned[mark->base])
				fprintf(out, "0x%" PRIx64, learned[mark->base] + mark->offset);
			else
				fputs("another object", out);
		}
	}
	put_site(out, t, site);
}

/* A stream into memory. words_open: false without memory; words_close: the text, the caller's, or NULL. */
struct words {
	struct rt_bytes bytes;
	FILE *out;
};
static bool words_open(struct words *w)
{
	*w = (struct words){0};
	w->out = rt_memory_file(&w->bytes);
	return w->out != NULL;
}
static char *words_close(struct words *w)
{
	bool whole = fputc('\0', w->out) != EOF;
	if (fclose(w->out) == 0 && whole)
		return (char *)w->bytes.data;
	free(w->bytes.data);
	return NULL;
}

static uint32_t holder_of(const struct try *t, uint64_t lock, uint32_t but)
{
	const struct rt_plan_thread_state *states = PART(t, const struct rt_plan_thread_state, states);
	for (uint32_t i = 0; i < t->plan->thread_count; i++)
		for (unsigned k = 0; k < RT_PLAN_HELD && i != but; k++)
			if (lock && states[i].held[k] == lock)
				return i;
	return RT_PLAN_NONE;
}

static void put_stand(FILE *out, struct try *t, uint32_t thread)
{
	char name[256];
	const struct rt_plan_thread_state *s = PART(t, const struct rt_plan_thread_state, states) + thread;
	switch (s->stand) {
	case RT_PLAN_UNBORN:
		fputs(PART(t, const struct rt_plan_thread, threads)[thread].child_number > RT_CHILD_TASK
		          ? "has not begun: no thread of its team has come for it"
		          : "has not been created",
		      out);
		return;
	case RT_PLAN_LONE:
		fputs("has not begun: its team has one thread, which is in another task", out);
		return;
	case RT_PLAN_GONE:
		fputs("has ended", out);
		return;
	case RT_PLAN_OUTSIDE:
		fputs("is in a call that blocks", out);
		put_place(out, t, s->next.module, s->next.offset);
		return;
	default:
		break;
	}
	uint32_t holder = s->next.op == RT_OP_ACQUIRE || s->next.op == RT_OP_ACQUIRE_SHARED
	                      ? holder_of(t, s->next.object, thread)
	                      : RT_PLAN_NONE;
	bool waits = s->stand == RT_PLAN_BLOCKED || holder != RT_PLAN_NONE;
	fputs(waits ? "waits: " : "is about to: ", out);
	put_event(out, t, &s->next);
	if (holder != RT_PLAN_NONE)
		fprintf(out, ", which %s holds", thread_name(t, holder, name, sizeof name));
}

/* ---- What became of it ---- */

static bool tell_waits(struct try *t, struct replay_run *run)
{
	const struct rt_plan_thread_state *states = PART(t, const struct rt_plan_thread_state, states);
	char name[256];
	run->waits = calloc((size_t)t->plan->thread_count + 1, sizeof *run->waits);
	for (uint32_t i = 0; run->waits && i < t->plan->thread_count; i++) {
		struct words w;
		if (i != t->plan->thread && (states[i].stand == RT_PLAN_UNBORN || states[i].stand == RT_PLAN_GONE))
			continue;
		if (!words_open(&w))
			return false;
		put_stand(w.out, t, i);
		run->waits[run->wait_count].text = words_close(&w);
		run->waits[run->wait_count].thread = strdup(thread_name(t, i, name, sizeof name));
		if (!run->waits[run->wait_count].text || !run->waits[run->wait_count].thread)
			return false;
		run->wait_count++;
	}
	return run->waits != NULL;
}

static bool tell_divergence(struct try *t, struct replay_run *run)
{
	struct words w;
	if (!words_open(&w))
		return false;
	put_mark(w.out, t, t->plan->thread, t->plan->mark);
	run->expected = words_close(&w);
	if (!words_open(&w))
		return false;
	put_event(w.out, t, &t->plan->actual);
	run->actual = words_close(&w);
	return run->expected && run->actual;
}

/* What a program printed to be shown: both streams, without what `record` itself says. NULL: nothing, or no memory. */
static char *try_output(const struct run_end *end)
{
	enum { SHOWN = 4096 };
	const struct run_output *streams[] = {&end->out, &end->err};
	struct words w;
	if (!words_open(&w))
		return NULL;
	for (int i = 0; i < 2; i++) {
		const char *at = streams[i]->text, *last = at + streams[i]->kept;
		while (at < last && ftell(w.out) < SHOWN) {
			const char *end_of_line = memchr(at, '\n', (size_t)(last - at));
			size_t n = (size_t)((end_of_line ? end_of_line + 1 : last) - at);
			if (n < 11 || memcmp(at, "racetrace: ", 11) != 0)
				fwrite(at, 1, n < SHOWN ? n : SHOWN, w.out);
			at += n;
		}
	}
	char *text = words_close(&w);
	if (text && *text)
		return text;
	free(text);
	return NULL;
}

static void tell_end(struct try *t, const struct run_end *end, struct replay_run *run)
{
	const struct rt_trace_info *info = t->o.recorded;
	run->value = end->value;
	run->end = end->kind == RUN_EXITED     ? OUTCOME_STATUS
	           : end->kind == RUN_SIGNALED ? OUTCOME_SIGNAL
	           : end->kind != RUN_TIMEOUT  ? OUTCOME_END_UNKNOWN
	           : t->o.cut                  ? OUTCOME_END_UNKNOWN
	                                       : OUTCOME_HANG;
	if (t->control->end == RT_END_DEADLOCK)
		run->end = OUTCOME_DEADLOCK;
	if (run->end == OUTCOME_DEADLOCK || run->end == OUTCOME_HANG)
		run->value = 0;
	if (!info || info->exit_kind == RT_EXIT_UNKNOWN || (t->o.cut && run->end == OUTCOME_END_UNKNOWN))
		return;
	run->end_differs =
	    run->end == OUTCOME_STATUS   ? info->exit_kind != RT_EXIT_STATUS || info->exit_value != end->value
	    : run->end == OUTCOME_SIGNAL ? info->exit_kind != RT_EXIT_SIGNAL || info->exit_value != end->value
	                                 : true;
}

/* The program has ended, or was ended, before the plan did. */
static bool tell_early_end(struct try *t, const struct run_end *end, struct replay_run *run)
{
	struct words w;
	char text[160];
	if (!words_open(&w))
		return false;
	if (t->control->degraded && t->control->degraded != RT_DEGRADED_STRATEGY) {
		run->kind = OUTCOME_FAILED;
		fputs("the program could not be controlled: no memory for the scheduler", w.out);
	} else if (end->kind == RUN_TIMEOUT) {
		run->kind = OUTCOME_TIMEOUT;
		if (t->plan->search)
			fprintf(w.out, "after %u ms", t->o.timeout_ms);
		else
			fprintf(w.out, "after %u ms, at step %" PRIu64 " of %" PRIu64, t->o.timeout_ms,
			        t->plan->step + 1, t->plan->step_count);
	} else if (t->plan->search) {
		run->kind = OUTCOME_DIVERGED;
		fputs("the threads did not meet in this run", w.out);
	} else {
		run->kind = OUTCOME_DIVERGED;
		replay_end_text(run, text, sizeof text);
		fprintf(w.out, "%s at step %" PRIu64 " of %" PRIu64, text, t->plan->step + 1, t->plan->step_count);
		run->actual = strdup("its end");
		if (t->plan->step < t->plan->step_count) {
			const struct rt_plan_step *step = PART(t, const struct rt_plan_step, steps) + t->plan->step;
			const struct rt_plan_thread_state *s =
			    PART(t, const struct rt_plan_thread_state, states) + step->thread;
			struct words e;
			char name[256];
			run->thread = strdup(thread_name(t, step->thread, name, sizeof name));
			if (words_open(&e)) {
				put_mark(e.out, t, step->thread, s->mark);
				run->expected = words_close(&e);
			}
		}
	}
	run->why = words_close(&w);
	return run->why != NULL;
}

/* The threads waited for one another, and another one has ended that, or may still do so. */
static bool tell_open_end(const struct try *t, const struct run_end *end, struct replay_run *run)
{
	char text[160];
	struct words w;
	if (!words_open(&w))
		return false;
	run->kind = end->kind == RUN_TIMEOUT ? OUTCOME_TIMEOUT : OUTCOME_DIVERGED;
	replay_end_text(run, text, sizeof text);
	if (end->kind == RUN_TIMEOUT)
		fprintf(w.out, "after %u ms: the threads wait for one another, but another one still runs",
		        t->o.timeout_ms);
	else
		fprintf(w.out, "the threads waited for one another, but not for ever: %s", text);
	run->why = words_close(&w);
	return run->why != NULL;
}

/* The place of a site: in the trace of the plan. NULL: unknown. */
static const struct rt_frame *site_frame(struct try *t, const struct rt_plan_site *site)
{
	size_t n = 0;
	const struct rt_plan_place *place = PART(t, const struct rt_plan_place, places) + site->first_place;
	const struct rt_trace *trace = trace_that_knows(t, 0);
	uint64_t pc = site->place_count ? pc_in(t, trace, place->module, place->offset) : 0;
	const struct rt_frame *f = pc ? rt_trace_frames(trace, pc, &n) : NULL;
	while (n && !f->function)
		f++, n--;
	return n ? f : NULL;
}

static void tell_held(struct try *t, const struct rt_plan_goal *goal, struct held_event *to)
{
	char name[256];
	struct words w;
	const struct rt_plan_thread *threads = PART(t, const struct rt_plan_thread, threads);
	const struct rt_plan_mark *mark =
	    t->plan->search ? NULL
	                    : PART(t, const struct rt_plan_mark, marks) + threads[goal->thread].first_mark + goal->mark;
	const struct rt_plan_site *site =
	    PART(t, const struct rt_plan_site, sites) + (mark ? mark->site : (uint32_t)goal->mark);
	const struct rt_frame *f = site_frame(t, site);
	struct rt_variable v;
	*to = (struct held_event){.function = f ? f->function : NULL, .tid = (long)goal->tid};
	if (mark && mark->base != RT_PLAN_NONE) {
		const struct rt_plan_base *base = PART(t, const struct rt_plan_base, bases) + mark->base;
		const struct rt_trace *trace = trace_that_knows(t, 0);
		uint64_t address = base->module == RT_PLAN_NONE ? 0 : pc_in(t, trace, base->module, mark->offset);
		if (address && rt_trace_variable(trace, address, &v) && v.address == address)
			memcpy(to->variable, v.name, sizeof to->variable);
	}
	if (!words_open(&w))
		return;
	fprintf(w.out, "%s", mark ? thread_name(t, goal->thread, name, sizeof name) : "a thread");
	if (goal->tid)
		fprintf(w.out, " (LWP %" PRIu64 ")", goal->tid);
	fputs(t->plan->kind == RT_PLAN_SEQUENCE ? " has done: " : " is about to: ", w.out);
	if (mark)
		put_mark(w.out, t, goal->thread, goal->mark);
	else {
		fputs(operation_text(site->op), w.out);
		put_site(w.out, t, site);
	}
	to->text = words_close(&w);
}

/* True if the process is stopped: a signal that continues it is not lost. */
static bool is_stopped(uint32_t pid)
{
	char number[16];
	struct process_state is;
	snprintf(number, sizeof number, "%" PRIu32, pid);
	return process_look(number, &is) && (is.state == 'T' || is.state == 't');
}

pid_t try_held(struct try *t, struct held_event *events, uint32_t *count)
{
	char path[4096];
	snprintf(path, sizeof path, "%.4000s.held", t->plan_path);
	FILE *f = fopen(path, "r");
	if (!f)
		return 0;
	free(t->plan);
	t->plan = malloc(t->o.plan->size);
	bool ok = t->plan && fread(t->plan, t->o.plan->size, 1, f) == 1 && t->plan->magic == RT_PLAN_MAGIC;
	fclose(f);
	if (!ok || !is_stopped(t->plan->held))
		return 0;
	*count = t->plan->goal_count;
	for (uint32_t i = 0; i < *count; i++)
		tell_held(t, &t->plan->goals[i], &events[i]);
	return (pid_t)t->plan->held;
}

enum rt_status try_tell(struct try *t, struct replay_run *run, struct rt_error *err)
{
	const struct run_end *end = try_end(t);
	char name[256];
	bool ok = true;
	*run = (struct replay_run){.kind = OUTCOME_FAILED, .order = t->o.order};
	if (end->kind == RUN_INTERRUPTED)
		return rt_error_set(err, RT_ESYSTEM, "interrupted");
	if (!try_read_result(t) || !t->plan->started) {
		size_t n;
		const char *own = run_own_line(end, &n);
		run->why = end->kind == RUN_NOT_STARTED ? strdup(strerror(end->value))
		           : own                        ? strndup(own, n)
		                                        : strdup("the program did not start the recorder");
		return RT_OK;
	}
	tell_end(t, end, run);
	run->output = try_output(end);
	switch (t->plan->outcome) {
	case RT_PLAN_CONFIRMED:
		run->kind = OUTCOME_CONFIRMED;
		if (t->plan->open && !t->plan->held && run->end != OUTCOME_DEADLOCK)
			ok = tell_open_end(t, end, run);
		break;
	case RT_PLAN_DIVERGED:
		run->kind = OUTCOME_DIVERGED;
		ok = tell_divergence(t, run);
		break;
	case RT_PLAN_STUCK:
		run->kind = OUTCOME_STUCK;
		ok = tell_waits(t, run);
		break;
	default:
		ok = tell_early_end(t, end, run);
		break;
	}
	if (ok && !t->plan->search && (run->kind == OUTCOME_STUCK || (run->kind == OUTCOME_DIVERGED && !run->thread)))
		run->thread = strdup(thread_name(t, t->plan->thread, name, sizeof name));
	if (ok)
		return RT_OK;
	replay_run_release(run);
	return rt_error_set(err, RT_EMEMORY, "no memory for the outcome of a run");
}
