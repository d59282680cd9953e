/*
 * Lists a schedule event by event. The trace has its events in another order, so they are gathered in windows of the
 * schedule: a first pass counts the events of each step, then each pass fills one window.
 */
#include "lib/base/free.h"
#include "lib/schedule/script.h"

#include <stdlib.h>
#include <string.h>

enum { WINDOW = 1 << 21 }; /* 2 Mi events of 72 bytes each */
#define NO_STEP SIZE_MAX

/* One step of the schedule, or one event of the goal that the steps do not run. */
struct expanded_part {
	uint32_t thread;
	uint64_t from, to;
	uint64_t first; /* position of its first event in the expanded schedule */
	uint64_t count; /* number of its events in the trace: repeats that were left out have an ordinal and no event */
	size_t next;    /* next part of the thread */
	bool goal;
};

struct expansion {
	const struct script *s;
	struct rt_trace *trace;
	struct expanded_part *parts;
	size_t count;
	size_t *heads; /* by thread: its first part */
	/* State of a pass. */
	size_t *part;   /* by thread: the current or next part */
	uint64_t *in;   /* by thread: events of that part so far */
	uint64_t *last; /* by thread: ordinal of the last event seen */
	struct rt_event *window;
	uint64_t window_first, window_count;
};

static enum rt_status part_add(struct expansion *x, const struct expanded_part *part, size_t *tails, const char *what,
                               size_t i, struct rt_error *err)
{
	uint32_t thread = part->thread;
	if (thread == UINT32_MAX)
		return rt_error_set(err, RT_EINPUT, "%s %zu: the trace has no such thread", what, i + 1);
	uint64_t done = tails[thread] == NO_STEP ? 0 : x->parts[tails[thread]].to;
	if (!part->goal && part->from != done + 1)
		return rt_error_set(err, RT_EINPUT, "%s %zu: the thread stands before its event %llu, not %llu", what,
		                    i + 1, (unsigned long long)done + 1, (unsigned long long)part->from);
	if (part->goal && part->from <= done)
		return RT_OK; /* a step runs it */
	x->parts[x->count] = *part;
	x->parts[x->count].next = NO_STEP;
	if (tails[thread] == NO_STEP)
		x->heads[thread] = x->count;
	else
		x->parts[tails[thread]].next = x->count;
	tails[thread] = x->count++;
	return RT_OK;
}

static enum rt_status make_parts(struct expansion *x, const uint32_t *by_name, struct rt_error *err)
{
	const struct script *s = x->s;
	uint32_t thread_count = rt_trace_info(x->trace)->thread_count;
	size_t *tails = malloc(((size_t)thread_count + 1) * sizeof *tails);
	enum rt_status status = tails ? RT_OK : rt_error_set(err, RT_EMEMORY, "no memory to expand a schedule");
	for (uint32_t i = 0; !status && i < thread_count; i++)
		tails[i] = NO_STEP;
	for (size_t i = 0; !status && i < s->step_count; i++)
		status =
		    part_add(x,
		             &(struct expanded_part){
		                 .thread = by_name[s->steps[i].name], .from = s->steps[i].from, .to = s->steps[i].to},
		             tails, "step", i, err);
	for (uint32_t i = 0; !status && i < s->goal_count; i++)
		status = part_add(x,
		                  &(struct expanded_part){.thread = by_name[s->goal[i].name],
		                                          .from = s->goal[i].ordinal,
		                                          .to = s->goal[i].ordinal,
		                                          .goal = true},
		                  tails, "goal", i, err);
	free(tails);
	return status;
}

/* The part that contains an event of the schedule; NULL if none does. */
static struct expanded_part *part_of(struct expansion *x, const struct rt_event *e)
{
	size_t *at = &x->part[e->thread];
	while (*at != NO_STEP && x->parts[*at].to < e->ordinal) {
		*at = x->parts[*at].next;
		x->in[e->thread] = 0;
	}
	return *at != NO_STEP && x->parts[*at].from <= e->ordinal ? &x->parts[*at] : NULL;
}

/* Counts if there is no window. *missing: events of the window that are yet to come. */
static void see_event(struct expansion *x, const struct rt_event *e, uint64_t *missing)
{
	struct expanded_part *part = part_of(x, e);
	x->last[e->thread] = e->ordinal;
	if (!part)
		return;
	uint64_t place = part->first + x->in[e->thread]++;
	if (!x->window) {
		part->count++;
	} else if (place >= x->window_first && place - x->window_first < x->window_count) {
		x->window[place - x->window_first] = *e;
		(*missing)--;
	}
}

static enum rt_status pass(struct expansion *x, struct rt_error *err)
{
	uint32_t threads = rt_trace_info(x->trace)->thread_count;
	struct rt_pass pass;
	uint64_t missing = x->window ? x->window_count : UINT64_MAX;
	memcpy(x->part, x->heads, threads * sizeof *x->part);
	memset(x->in, 0, threads * sizeof *x->in);
	for (struct rt_event *e = rt_pass_first(&pass, x->trace, err); e && missing; e = rt_pass_next(&pass))
		if (e->thread < threads)
			see_event(x, e, &missing);
	if (!pass.status && x->window && missing)
		return rt_error_set(err, RT_EINPUT, "the trace changed while it was read");
	return pass.status;
}

/* Sets the positions of the parts in the schedule. Fails if a step ends after its thread's last event. */
static enum rt_status place_parts(struct expansion *x, uint64_t *total, struct rt_error *err)
{
	const struct rt_trace_info *info = rt_trace_info(x->trace);
	*total = 0;
	for (size_t i = 0; i < x->count; i++) {
		struct expanded_part *part = &x->parts[i];
		const struct rt_thread *t = &info->threads[part->thread];
		uint64_t last = t->events + t->left_out;
		if (last < x->last[part->thread])
			last = x->last[part->thread];
		if (part->goal && !part->count)
			return rt_error_set(err, RT_EINPUT, "the goal: the thread has no event %llu",
			                    (unsigned long long)part->to);
		if (part->to > last)
			return rt_error_set(err, RT_EINPUT, "step %zu: the thread has no event %llu", i + 1,
			                    (unsigned long long)part->to);
		part->first = *total;
		*total += part->count;
	}
	return RT_OK;
}

static enum rt_status run(struct expansion *x, bool (*each)(void *context, const struct rt_event *e, bool goal),
                          void *context, struct rt_error *err)
{
	uint64_t total;
	enum rt_status status = pass(x, err);
	if (!status)
		status = place_parts(x, &total, err);
	if (status)
		return status;
	x->window_count = total < WINDOW ? total : WINDOW;
	x->window = calloc(x->window_count + 1, sizeof *x->window);
	if (!x->window)
		return rt_error_set(err, RT_EMEMORY, "no memory to expand a schedule");
	size_t part = 0;
	for (uint64_t at = 0; at < total; at += x->window_count) {
		x->window_first = at;
		if (x->window_count > total - at)
			x->window_count = total - at;
		if ((status = pass(x, err)))
			return status;
		for (uint64_t i = 0; i < x->window_count; i++) {
			while (at + i >= x->parts[part].first + x->parts[part].count)
				part++;
			if (!each(context, &x->window[i], x->parts[part].goal))
				return RT_OK;
		}
	}
	return RT_OK;
}

enum rt_status script_expand(const struct script *s, struct rt_trace *trace,
                             bool (*each)(void *context, const struct rt_event *e, bool goal), void *context,
                             struct rt_error *err)
{
	size_t threads = (size_t)rt_trace_info(trace)->thread_count + 1;
	struct expansion x = {.s = s, .trace = trace};
	uint32_t *by_name = script_threads(s, trace);
	x.parts = calloc(s->step_count + s->goal_count + 1, sizeof *x.parts);
	x.heads = malloc(threads * sizeof *x.heads);
	x.part = malloc(threads * sizeof *x.part);
	x.in = malloc(threads * sizeof *x.in);
	x.last = calloc(threads, sizeof *x.last);
	enum rt_status status = RT_EMEMORY;
	if (by_name && x.parts && x.heads && x.part && x.in && x.last) {
		for (size_t i = 0; i < threads; i++)
			x.heads[i] = NO_STEP;
		status = make_parts(&x, by_name, err);
		if (!status)
			status = run(&x, each, context, err);
	} else {
		rt_error_set(err, RT_EMEMORY, "no memory to expand a schedule");
	}
	free_all(by_name, x.parts, x.heads, x.part, x.in, x.last, x.window);
	return status;
}
