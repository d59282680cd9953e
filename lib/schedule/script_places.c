/* Places of a schedule's events; see script_places.h. Both directions read the trace once. */
#include "lib/schedule/script_places.h"

#include "lib/base/vec.h"
#include "lib/schedule/plan.h"

#include <stdlib.h>
#include <string.h>

enum { SEEN = 64 };

/* What is looked for in a thread, in its order. */
struct target {
	struct script_at *at;
	uint64_t ordinal; /* finding places: of the last event before it, or of itself */
	uint64_t *to;     /* using places: gets its ordinal, or that of the event before it; NULL: found */
	bool goal;
};
struct follower {
	struct target *targets;
	size_t count, capacity, next;
	uint64_t syncs, last; /* last: ordinal of the last event */
	struct {
		uint64_t pc, count;
	} seen[SEEN]; /* accesses since the last synchronisation */
	size_t seen_count;
};
struct places {
	struct script *s;
	struct rt_trace *trace;
	uint32_t *threads;
	struct follower *followers; /* by thread of the trace */
	uint32_t thread_count;
	bool using, no_memory;
};

static const struct rt_frame *frame_of(const struct rt_trace *trace, uint64_t pc)
{
	size_t n;
	const struct rt_frame *f = rt_trace_frames(trace, pc, &n);
	while (n && (!f->function || !f->file))
		f++, n--;
	return n ? f : NULL;
}

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* Number of this access among those at its position since the last synchronisation, from 1. */
static uint64_t count_access(struct follower *f, uint64_t pc)
{
	size_t i = 0;
	while (i < f->seen_count && f->seen[i].pc != pc)
		i++;
	if (i == f->seen_count) {
		if (i == SEEN)
			return 1;
		f->seen_count++;
		f->seen[i].pc = pc;
		f->seen[i].count = 0;
	}
	return ++f->seen[i].count;
}

static void set_place(struct places *p, struct script_at *at, const struct rt_event *e, uint64_t syncs, uint64_t nth)
{
	const struct rt_frame *f = frame_of(p->trace, e->pc);
	free(at->function);
	free(at->file);
	*at = (struct script_at){.op = e->op, .line = f ? f->line : 0, .after = syncs, .nth = nth};
	at->function = strdup(f ? f->function : "");
	at->file = strdup(f ? file_name(f->file) : "");
	p->no_memory |= !at->function || !at->file;
}

static bool is_place(const struct places *p, const struct script_at *at, const struct rt_event *e, uint64_t syncs,
                     uint64_t nth)
{
	if (at->op != e->op || at->after != syncs || at->nth != nth)
		return false;
	const struct rt_frame *f = frame_of(p->trace, e->pc);
	return !strcmp(at->function, f ? f->function : "") && !strcmp(at->file, f ? file_name(f->file) : "") &&
	       at->line == (f ? f->line : 0);
}

/*
 * Another compiler may leave out an access at which the schedule only changes threads. It does so right before the
 * event that follows in the schedule then, or before the thread's next synchronisation.
 */
static void skip_accesses(const struct places *p, struct follower *f, const struct rt_event *e, uint64_t nth)
{
	size_t end = f->next;
	while (end < f->count && !is_place(p, f->targets[end].at, e, f->syncs, nth)) {
		const struct target *t = &f->targets[end];
		if (t->goal || plan_is_sync(t->at->op) || t->at->after != f->syncs)
			break;
		end++;
	}
	bool comes = end < f->count && is_place(p, f->targets[end].at, e, f->syncs, nth);
	for (; f->next < end && (comes || plan_is_sync(e->op)); f->next++) {
		*f->targets[f->next].to = e->ordinal - 1;
		f->targets[f->next].to = NULL;
	}
}

static void see(struct places *p, struct follower *f, const struct rt_event *e)
{
	bool sync = plan_is_sync(e->op);
	uint64_t nth = sync ? 1 : count_access(f, e->pc);
	if (p->using)
		skip_accesses(p, f, e, nth);
	for (; f->next < f->count; f->next++) {
		struct target *t = &f->targets[f->next];
		if (p->using ? !is_place(p, t->at, e, f->syncs, nth)
		             : e->ordinal < t->ordinal + !t->goal || (t->goal && e->ordinal != t->ordinal))
			break;
		if (!p->using)
			set_place(p, t->at, e, f->syncs, nth);
		else
			*t->to = t->goal ? e->ordinal : e->ordinal - 1;
		t->to = NULL;
	}
	if (sync) {
		f->syncs++;
		f->seen_count = 0;
	}
}

static enum rt_status add_target(struct places *p, uint32_t name, struct target t, struct rt_error *err)
{
	uint32_t thread = p->threads[name];
	if (thread == UINT32_MAX)
		return rt_error_set(err, RT_EINPUT, "the schedule has a thread that the trace has not: '%s'",
		                    p->s->names[name]);
	struct follower *f = &p->followers[thread];
	if (!vec_reserve(&f->targets, &f->capacity, (uint64_t)f->count + 1, sizeof *f->targets))
		return rt_error_set(err, RT_EMEMORY, "no memory for places");
	f->targets[f->count++] = t;
	return RT_OK;
}

static enum rt_status add_targets(struct places *p, struct rt_error *err)
{
	struct script *s = p->s;
	enum rt_status status = RT_OK;
	/* Of a sequence the steps execute the goal's events: these need no place of their own to be stopped at. */
	for (size_t i = 0; !status && i < s->step_count; i++)
		if (!p->using || s->steps[i].next.function)
			status = add_target(
			    p, s->steps[i].name,
			    (struct target){.at = &s->steps[i].next, .ordinal = s->steps[i].to, .to = &s->steps[i].to},
			    err);
	for (uint32_t i = 0; !status && i < s->goal_count; i++)
		status = add_target(
		    p, s->goal[i].name,
		    (struct target){
		        .at = &s->goal[i].at, .ordinal = s->goal[i].ordinal, .to = &s->goal[i].ordinal, .goal = true},
		    err);
	return status;
}

/* Goals of a sequence lie among a thread's steps: by ordinal, an event before the stop behind it. */
static int compare_targets(const void *a, const void *b)
{
	const struct target *x = a, *y = b;
	uint64_t x_at = x->ordinal + !x->goal, y_at = y->ordinal + !y->goal;
	return x_at < y_at ? -1 : x_at > y_at;
}

static enum rt_status read_all(struct places *p, struct rt_error *err)
{
	struct rt_pass pass;
	for (struct rt_event *e = rt_pass_first(&pass, p->trace, err); e && !p->no_memory; e = rt_pass_next(&pass)) {
		if (e->thread >= p->thread_count)
			continue;
		struct follower *f = &p->followers[e->thread];
		if (e->op == RT_OP_BLOCK) /* a wait that never ends: the thread is about to do what it waits for */
			e->op = (enum rt_op)e->arg;
		if (plan_can_stop(e->op))
			see(p, f, e);
		f->last = e->ordinal;
	}
	return pass.status ? pass.status : p->no_memory ? rt_error_set(err, RT_EMEMORY, "no memory for places") : RT_OK;
}

static enum rt_status find(struct places *p, struct rt_error *err)
{
	p->thread_count = rt_trace_info(p->trace)->thread_count;
	p->threads = script_threads(p->s, p->trace);
	p->followers = calloc((size_t)p->thread_count + 1, sizeof *p->followers);
	enum rt_status status =
	    p->threads && p->followers ? add_targets(p, err) : rt_error_set(err, RT_EMEMORY, "no memory for places");
	for (uint32_t i = 0; !status && i < p->thread_count; i++)
		if (p->followers[i].count)
			qsort(p->followers[i].targets, p->followers[i].count, sizeof(struct target), compare_targets);
	return status ? status : read_all(p, err);
}

static void release(struct places *p)
{
	for (uint32_t i = 0; p->followers && i < p->thread_count; i++)
		free(p->followers[i].targets);
	free(p->followers);
	free(p->threads);
}

enum rt_status script_find_places(struct script *s, struct rt_trace *trace, struct rt_error *err)
{
	struct places p = {.s = s, .trace = trace};
	enum rt_status status = find(&p, err);
	release(&p);
	return status;
}

/* Steps of one thread follow each other without a gap; what has become empty goes. */
static void close_gaps(struct places *p)
{
	struct script *s = p->s;
	size_t kept = 0;
	for (uint32_t i = 0; i < s->name_count; i++)
		p->followers[p->threads[i]].syncs = 0; /* the thread's last event of a step from here on */
	for (size_t i = 0; i < s->step_count; i++) {
		struct follower *f = &p->followers[p->threads[s->steps[i].name]];
		struct script_step step = s->steps[i];
		if (!step.next.function)
			step.to = f->last; /* to its end */
		step.from = f->syncs + 1;
		if (step.to < step.from) {
			free(step.next.function);
			free(step.next.file);
			continue;
		}
		f->syncs = step.to;
		s->steps[kept++] = step;
	}
	s->step_count = kept;
}

enum rt_status script_use_places(struct script *s, struct rt_trace *trace, struct rt_error *err)
{
	struct places p = {.s = s, .trace = trace, .using = true};
	enum rt_status status = RT_OK;
	for (uint32_t i = 0; i < s->goal_count; i++)
		if (!s->goal[i].at.function)
			return rt_error_set(err, RT_EINPUT,
			                    "the schedule has no places: give its trace with --trace, or "
			                    "write it by 'racetrace schedule'");
	status = find(&p, err);
	for (uint32_t i = 0; !status && i < p.thread_count; i++)
		for (size_t k = 0; !status && k < p.followers[i].count; k++)
			if (p.followers[i].targets[k].to)
				status =
				    rt_error_set(err, RT_EINPUT, "the run does not come to '%s:%u' (%s)",
				                 p.followers[i].targets[k].at->file, p.followers[i].targets[k].at->line,
				                 p.followers[i].targets[k].at->function);
	if (!status)
		close_gaps(&p);
	release(&p);
	return status;
}
