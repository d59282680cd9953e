/*
 * Translates a written schedule for the judge. Steps count all events of a thread; the model keeps some. One pass over
 * the trace determines how many kept events come up to the end of each step, and which ones are the goal's. Rules about
 * events that the model drops are checked here; all others by the judge.
 */
#include "lib/prove/certain.h"
#include "lib/relation/raced.h"
#include "lib/schedule/script.h"

#include <stdlib.h>
#include <string.h>

#define NO_STEP SIZE_MAX

/* State of a thread in the pass. */
struct thread {
	uint32_t kept;        /* kept events so far */
	uint64_t last;        /* ordinal of its last event so far */
	size_t step, end;     /* its next step to be resolved, its last one */
	bool in_goal;         /* it has an event of the goal */
	uint32_t fork_thread; /* the creating thread; UINT32_MAX: unknown */
	uint64_t fork;        /* ordinal of that */
	uint64_t done;        /* ordinals that the steps checked so far run */
};

struct binding {
	const struct script *s;
	struct rt_trace *trace;
	struct model *m;
	struct facts facts;     /* of the model, for the question what is certain; the judge has its own */
	uint32_t *by_name;      /* index of the trace's thread of each name */
	struct thread *threads; /* by the trace's index */
	uint32_t thread_count;
	uint32_t *kept;                          /* by step: kept events of its thread up to its end */
	size_t *next;                            /* by step: the thread's next one */
	size_t usable;                           /* steps before this one can be replayed */
	struct goal goal;                        /* events; MODEL_NONE if the model dropped it */
	uint32_t goal_count[ANOMALY_EVENTS_MAX]; /* number of the model's events that the event became; the goal has
	                                            the first, until find_goal chooses one of them */
	struct script_verdict *v;
	struct schedule schedule;
};

static bool fault(struct binding *b, enum verify_fault fault, uint32_t name, uint64_t ordinal)
{
	uint32_t thread = b->by_name[name];
	b->v->fault = fault;
	b->v->at = (struct script_place){.thread = thread, .ordinal = ordinal};
	b->v->name = thread == UINT32_MAX ? b->s->names[name] : NULL;
	return false;
}

static void fault_at_step(struct binding *b, size_t i, enum verify_fault kind, uint64_t ordinal)
{
	b->usable = i;
	fault(b, kind, b->s->steps[i].name, ordinal);
}

/* Checks that each thread's steps follow without a gap; those after the first gap are not checked. */
static void chain_steps(struct binding *b)
{
	const struct script *s = b->s;
	b->usable = s->step_count;
	for (size_t i = 0; i < b->usable; i++) {
		uint32_t thread = b->by_name[s->steps[i].name];
		if (thread == UINT32_MAX) {
			fault_at_step(b, i, VERIFY_NO_EVENT, s->steps[i].from);
			return;
		}
		struct thread *t = &b->threads[thread];
		if (s->steps[i].from != t->done + 1) {
			fault_at_step(b, i, VERIFY_PROGRAM_ORDER, s->steps[i].from);
			return;
		}
		t->done = s->steps[i].to;
		b->next[i] = NO_STEP;
		if (t->step == NO_STEP)
			t->step = i;
		else
			b->next[t->end] = i;
		t->end = i;
	}
}

/* kept: the first of the model's events that the event became, and their number. */
static void see_goal(struct binding *b, const struct rt_event *e, uint32_t first, uint32_t kept)
{
	const struct script *s = b->s;
	for (uint32_t i = 0; kept && i < s->goal_count; i++)
		if (b->by_name[s->goal[i].name] == e->thread && s->goal[i].ordinal == e->ordinal) {
			b->goal.events[i] = first;
			b->goal_count[i] = kept;
		}
}

static void see_event(struct binding *b, const struct rt_event *e, uint32_t *next)
{
	const struct model *m = b->m;
	struct thread *t = &b->threads[e->thread];
	uint32_t first = *next, kept = 0;
	while (*next + kept < m->event_count && m->events[*next + kept].number == e->number)
		kept++;
	while (t->step != NO_STEP && b->s->steps[t->step].to < e->ordinal) {
		b->kept[t->step] = t->kept;
		t->step = b->next[t->step];
	}
	if (t->in_goal)
		see_goal(b, e, first, kept);
	if (kept && e->op == RT_OP_FORK && e->addr < m->thread_count && e->addr < b->thread_count &&
	    m->threads[e->addr].fork == first) {
		b->threads[e->addr].fork_thread = e->thread;
		b->threads[e->addr].fork = e->ordinal;
	}
	t->last = e->ordinal;
	t->kept += kept;
	*next += kept;
}

static enum rt_status pass(struct binding *b, struct rt_error *err)
{
	struct rt_pass pass;
	uint32_t next = 0;
	for (struct rt_event *e = rt_pass_first(&pass, b->trace, err); e; e = rt_pass_next(&pass))
		if (e->thread < b->thread_count)
			see_event(b, e, &next);
	return pass.status;
}

/* A thread's ordinals end with its last event, or with the repeats that were left out after it. */
static uint64_t last_ordinal(const struct binding *b, uint32_t thread)
{
	const struct rt_thread *known = &rt_trace_info(b->trace)->threads[thread];
	uint64_t counted = known->events + known->left_out;
	return counted > b->threads[thread].last ? counted : b->threads[thread].last;
}

static void answer_rest(struct binding *b)
{
	for (uint32_t i = 0; i < b->thread_count; i++) {
		struct thread *t = &b->threads[i];
		uint64_t last = last_ordinal(b, i);
		for (; t->step != NO_STEP && t->step < b->usable; t->step = b->next[t->step]) {
			b->kept[t->step] = t->kept;
			if (b->s->steps[t->step].to > last)
				fault_at_step(b, t->step, VERIFY_NO_EVENT, last + 1);
		}
	}
}

static bool is_access(const struct model *m, uint32_t e)
{
	return rt_op_is_access(model_op(m, e));
}

/* An acquire's look at its lock's memory is no wait; one at a static local's guard is. */
static bool is_wait(const struct model *m, uint32_t e)
{
	return model_op(m, e) == RT_OP_ATOMIC_LOAD ? model_once_passed(m, e) != MODEL_NONE
	                                           : script_is_wait(model_op(m, e));
}

/* The first of the model's events that goal event i became and that is such a one, MODEL_NONE: none is. */
static uint32_t goal_part(const struct binding *b, uint32_t i, bool (*is_such)(const struct model *m, uint32_t e))
{
	for (uint32_t k = 0; k < b->goal_count[i]; k++)
		if (is_such(b->m, b->goal.events[i] + k))
			return b->goal.events[i] + k;
	return MODEL_NONE;
}

/*
 * Determines the kind: two accesses of different threads are a race, acquires or joins a deadlock, anything else a
 * sequence. An acquire that also became an access of its lock's memory counts as an acquire if possible.
 */
static enum goal_kind goal_kind(const struct binding *b)
{
	const struct goal *g = &b->goal;
	bool waits = g->count > 1, accesses = g->count == 2;
	if (b->s->kind_given)
		return b->s->kind;
	for (uint32_t i = 0; i < g->count; i++) {
		waits &= goal_part(b, i, is_wait) != MODEL_NONE;
		accesses &= goal_part(b, i, is_access) != MODEL_NONE;
	}
	if (waits)
		return GOAL_DEADLOCK;
	return accesses && model_thread_of(b->m, g->events[0]) != model_thread_of(b->m, g->events[1]) ? GOAL_RACE
	                                                                                              : GOAL_SEQUENCE;
}

/* The goal's events must exist, and the model must have kept them: dropped events conflict with nothing. */
static bool find_goal(struct binding *b)
{
	const struct script *s = b->s;
	b->goal.count = s->goal_count;
	for (uint32_t i = 0; i < s->goal_count; i++) {
		uint32_t thread = b->by_name[s->goal[i].name];
		if (thread == UINT32_MAX || s->goal[i].ordinal > last_ordinal(b, thread))
			return fault(b, VERIFY_NO_EVENT, s->goal[i].name, s->goal[i].ordinal);
		if (b->goal.events[i] == MODEL_NONE)
			return fault(b, VERIFY_GOAL_NO_CONFLICT, s->goal[i].name, s->goal[i].ordinal);
	}
	b->goal.kind = goal_kind(b);
	for (uint32_t i = 0; i < s->goal_count; i++) {
		uint32_t part = goal_part(b, i, b->goal.kind == GOAL_DEADLOCK ? is_wait : is_access);
		b->goal.events[i] = part == MODEL_NONE ? b->goal.events[i] : part;
	}
	return true;
}

/* Number of kept events of its thread that have run when step i ends. What the model has as several events may end the
 * step as an event of a sequence: parts of it that wait for others are run by the thread's next step. */
static uint32_t kept_at_end(const struct binding *b, size_t i)
{
	const struct script_step *step = &b->s->steps[i];
	for (uint32_t g = 0; b->goal.kind == GOAL_SEQUENCE && g < b->goal.count; g++)
		if (b->s->goal[g].name == step->name && b->s->goal[g].ordinal == step->to)
			return goal_stop(b->m, &b->goal, b->goal.events[g]);
	return b->kept[i];
}

static void add_step(struct binding *b, uint32_t thread, uint32_t *kept, uint32_t end)
{
	if (end <= *kept)
		return;
	b->schedule.steps[b->schedule.count++] = (struct schedule_step){.thread = thread, .from = *kept, .to = end - 1};
	b->schedule.events += end - *kept;
	*kept = end;
}

/* A thread that stands before an event which the model has as several has run those of them that come before the
 * goal's: it has read the lock's memory when it waits for the lock. */
static void add_parts(struct binding *b, uint32_t *kept)
{
	const struct model *m = b->m;
	for (uint32_t i = 0; b->goal.kind != GOAL_SEQUENCE && i < b->goal.count; i++) {
		uint32_t e = b->goal.events[i], thread = model_thread_of(m, e),
		         next = model_next(m, thread, kept[thread]);
		if (next < e && m->events[next].number == m->events[e].number)
			add_step(b, thread, &kept[thread], m->events[e].pos);
	}
}

/* The steps in the judge's form, up to the first that cannot be replayed. False without memory. */
static bool make_schedule(struct binding *b)
{
	b->schedule.steps = malloc((b->usable + b->goal.count + 1) * sizeof *b->schedule.steps);
	uint32_t *kept = calloc((size_t)b->thread_count + 1, sizeof *kept);
	bool ok = b->schedule.steps && kept && b->usable < UINT32_MAX - ANOMALY_EVENTS_MAX;
	for (uint32_t i = 0; i < b->thread_count; i++)
		b->threads[i].done = 0;
	for (size_t i = 0; ok && i < b->usable; i++) {
		uint32_t thread = b->by_name[b->s->steps[i].name];
		struct thread *t = &b->threads[thread];
		if (t->fork_thread != UINT32_MAX && b->threads[t->fork_thread].done < t->fork) {
			fault_at_step(b, i, VERIFY_NOT_BEGUN, b->s->steps[i].from);
			b->v->other = (struct script_place){.thread = t->fork_thread, .ordinal = t->fork};
			break;
		}
		t->done = b->s->steps[i].to;
		add_step(b, thread, &kept[thread], kept_at_end(b, i));
	}
	if (ok && !b->v->fault)
		add_parts(b, kept);
	free(kept);
	return ok;
}

/* Checks that the steps reach the goal exactly, dropped events included. */
static void check_goal(struct binding *b)
{
	const struct script *s = b->s;
	const struct script_event *final = &s->goal[s->goal_count - 1];
	const struct script_step *last = s->step_count ? &s->steps[s->step_count - 1] : NULL;
	if (b->goal.kind == GOAL_SEQUENCE) {
		if (!last || last->name != final->name || last->to != final->ordinal)
			fault(b, VERIFY_GOAL_MISSED, final->name, final->ordinal);
		return;
	}
	for (uint32_t i = 0; i < s->goal_count; i++)
		if (b->threads[b->by_name[s->goal[i].name]].done + 1 != s->goal[i].ordinal) {
			fault(b, VERIFY_GOAL_NOT_NEXT, s->goal[i].name, s->goal[i].ordinal);
			return;
		}
}

static struct script_place place(const struct model *m, uint32_t e)
{
	if (e >= m->event_count)
		return (struct script_place){.thread = UINT32_MAX};
	return (struct script_place){.thread = model_thread_of(m, e), .number = m->events[e].number};
}

static enum rt_status judge(struct binding *b, struct rt_error *err)
{
	struct judge *j = judge_create(b->m);
	struct verdict_of_judge v;
	if (!j)
		return rt_error_set(err, RT_EMEMORY, "no memory to judge a schedule");
	uint32_t without_rule = judge_without_rule(j);
	if (without_rule != MODEL_NONE) {
		judge_free(j);
		return judge_error(b->m, without_rule, err);
	}
	judge_verify(j, &b->schedule, &b->goal, &v);
	if (!v.fault && !judge_tries_fail(j, &b->schedule, &b->goal))
		v = (struct verdict_of_judge){VERIFY_TRY, b->schedule.events, MODEL_NONE, MODEL_NONE, 0, 0, 0, 0};
	else if (!v.fault && !judge_repeats_hold(j, &b->schedule, &b->goal))
		v = (struct verdict_of_judge){VERIFY_REPEAT, b->schedule.events, MODEL_NONE, MODEL_NONE, 0, 0, 0, 0};
	judge_free(j);
	/* A fault in the replayed steps comes before one in the others. */
	bool in_replay = v.fault && v.step < b->schedule.events;
	if (in_replay || (v.fault && !b->v->fault)) {
		b->v->fault = v.fault;
		b->v->at = place(b->m, v.event);
		b->v->other = place(b->m, v.other);
		b->v->name = NULL;
	} else if (!b->v->fault) {
		check_goal(b);
	}
	return RT_OK;
}

static enum rt_status count_uncertain(struct binding *b, struct rt_error *err)
{
	uint32_t first = MODEL_NONE;
	struct certain *c = certain_create(&b->facts, rt_trace_info(b->trace)->exact);
	if (!c)
		return rt_error_set(err, RT_EMEMORY, "no memory to judge a schedule");
	b->v->uncertain = certain_count_uncertain(c, &b->schedule, b->goal.events, b->goal.count, &first);
	if (b->v->uncertain)
		b->v->first_uncertain = place(b->m, first);
	certain_free(c);
	return RT_OK;
}

static bool binding_init(struct binding *b)
{
	const struct script *s = b->s;
	b->thread_count = rt_trace_info(b->trace)->thread_count;
	if (b->thread_count > b->m->thread_count)
		b->thread_count = b->m->thread_count;
	b->threads = calloc((size_t)b->thread_count + 1, sizeof *b->threads);
	b->kept = calloc(s->step_count + 1, sizeof *b->kept);
	b->next = calloc(s->step_count + 1, sizeof *b->next);
	if (!b->by_name || !b->threads || !b->kept || !b->next)
		return false;
	for (uint32_t i = 0; i < s->name_count; i++)
		if (b->by_name[i] >= b->thread_count)
			b->by_name[i] = UINT32_MAX;
	for (uint32_t i = 0; i < b->thread_count; i++) {
		b->threads[i].step = NO_STEP;
		b->threads[i].fork_thread = UINT32_MAX;
	}
	for (uint32_t i = 0; i < s->goal_count; i++) {
		b->goal.events[i] = MODEL_NONE;
		if (b->by_name[s->goal[i].name] != UINT32_MAX)
			b->threads[b->by_name[s->goal[i].name]].in_goal = true;
	}
	return true;
}

static void binding_release(struct binding *b)
{
	facts_release(&b->facts);
	model_free(b->m);
	free(b->by_name);
	free(b->threads);
	free(b->kept);
	free(b->next);
	schedule_release(&b->schedule);
}

enum rt_status script_judge(const struct script *s, struct rt_trace *trace, struct script_verdict *out,
                            struct rt_error *err)
{
	struct binding b = {.s = s, .trace = trace, .v = out};
	struct model_wanted wanted[ANOMALY_EVENTS_MAX];
	/* A schedule may aim at any read of a row. */
	struct model_options options = {.regions = REGIONS_LOCKS, .all_reads = true, .wanted = wanted};
	*out = (struct script_verdict){
	    .at = {.thread = UINT32_MAX}, .other = {.thread = UINT32_MAX}, .first_uncertain = {.thread = UINT32_MAX}};
	b.by_name = script_threads(s, trace);
	if (!b.by_name)
		return rt_error_set(err, RT_EMEMORY, "no memory to judge a schedule");
	for (uint32_t i = 0; i < s->goal_count; i++)
		wanted[options.wanted_count++] = (struct model_wanted){b.by_name[s->goal[i].name], s->goal[i].ordinal};
	enum rt_status status = model_load(trace, &options, &b.m, err);
	b.facts.m = b.m;
	if (!status)
		status = raced_find(b.m, &b.facts, err);
	if (!status && !binding_init(&b))
		status = rt_error_set(err, RT_EMEMORY, "no memory to judge a schedule");
	if (!status) {
		chain_steps(&b);
		status = pass(&b, err);
	}
	if (!status) {
		answer_rest(&b);
		if (find_goal(&b))
			status = make_schedule(&b) ? judge(&b, err)
			                           : rt_error_set(err, RT_EMEMORY, "no memory to judge a schedule");
	}
	if (!status && !out->fault)
		status = count_uncertain(&b, err);
	binding_release(&b);
	return status;
}
