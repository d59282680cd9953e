/*
 * The JSON report, schema racetrace.report/1 (docs/report.schema.json). Written member by member and anomaly by
 * anomaly, one a line, so that a report of a million pairs needs the memory of one.
 */
#include "lib/report/formats.h"
#include "lib/report/json_value.h"
#include "lib/report/modules.h"
#include "lib/report/steps.h"
#include "lib/report/subject.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>

static const char *thread_name(const struct report *r, uint32_t thread)
{
	const struct rt_trace_info *info = rt_trace_info(r->analysis->trace);
	return thread < info->thread_count ? info->threads[thread].name : "unknown";
}

/* Positions */

static json_t *frame_json(const struct rt_frame *f, bool with_pc)
{
	json_t *o = json_object();
	set(&o, "function", text(f->function));
	set(&o, "file", text(f->file));
	set(&o, "line", number_or_null(f->line));
	set(&o, "column", number_or_null(f->column));
	if (f->text)
		set(&o, "text", text(f->text));
	if (f->module)
		set(&o, "module", text(f->module));
	if (with_pc)
		set(&o, "pc", hex(f->pc));
	return o;
}

static json_t *source_json(const struct report *r, uint64_t pc)
{
	const struct rt_frame *known = subject_frame(r, pc), nothing = {0};
	const struct rt_frame *f = known ? known : &nothing;
	json_t *o = json_object();
	set(&o, "file", text(f->file));
	set(&o, "line", number_or_null(f->line));
	set(&o, "column", number_or_null(f->column));
	set(&o, "function", text(f->function));
	if (f->text)
		set(&o, "text", text(f->text));
	return o;
}

/* A stack, inlined frames included; of an event that was not described, an empty one. */
static json_t *stack_json(const struct report *r, const struct description *d)
{
	json_t *array = json_array();
	for (size_t i = 0; d && i < d->stack_count; i++) {
		size_t n = 0;
		const struct rt_frame *frames = rt_trace_frames(r->analysis->trace, d->stack[i], &n);
		for (size_t k = 0; k < n; k++)
			push(&array, frame_json(&frames[k], !frames[k].text));
		if (!n)
			push(&array, frame_json(&(struct rt_frame){.pc = d->stack[i]}, true));
	}
	return array;
}

static json_t *stack_of(const struct report *r, uint64_t event)
{
	return stack_json(r, event ? description_of(r->descriptions, event) : NULL);
}

/* Events */

static json_t *lock_json(const struct report *r, const struct held_lock *lock)
{
	char name[SUBJECT_NAME_MAX];
	json_t *o = json_object();
	subject_object_name(r, lock->addr, &lock->block, name);
	set(&o, "name", text_or_null(name));
	set(&o, "address", hex(lock->addr));
	set(&o, "mode", json_string(lock->shared ? "shared" : "exclusive"));
	set(&o, "event", number(lock->acquired));
	set(&o, "acquired", stack_of(r, lock->acquired));
	return o;
}

static json_t *locks_json(const struct report *r, const struct description *d)
{
	json_t *array = json_array();
	for (size_t i = 0; i < d->lock_count; i++)
		push(&array, lock_json(r, &d->locks[i]));
	return array;
}

static void set_details(const struct report *r, const struct description *d, json_t **o)
{
	static const char *const orders_of_memory[] = {"relaxed", "consume", "acquire",
	                                               "release", "acq_rel", "seq_cst"};
	char name[SUBJECT_NAME_MAX];
	if (rt_op_is_atomic(d->event.op) && d->event.order < sizeof orders_of_memory / sizeof *orders_of_memory)
		set(o, "order", json_string(orders_of_memory[d->event.order]));
	if (d->event.flags & RT_F_VOLATILE)
		set(o, "volatile", json_true());
	if (d->event.flags & RT_F_FREE)
		set(o, "free", json_true());
	if (d->event.flags & RT_F_OBJECT && rt_op_is_access(d->event.op))
		set(o, "object", json_true());
	if (d->event.flags & RT_F_VALUE)
		set(o, "value", hex(d->event.value));
	if (rt_op_group(d->event.op) == RT_GROUP_LOCK) {
		subject_object_name(r, d->event.addr, subject_lock_block(d), name);
		set(o, "lock", text_or_null(name));
	}
}

static json_t *event_json(const struct report *r, uint32_t e)
{
	const struct description *d = report_event(r, e);
	json_t *o = json_object();
	if (!d) { /* the trace changed between two passes */
		json_decref(o);
		return NULL;
	}
	set(&o, "event", number(d->event.number));
	set(&o, "thread", text(thread_name(r, d->event.thread)));
	set(&o, "ordinal", number(d->event.ordinal));
	set(&o, "op", json_string(rt_op_name(d->event.op)));
	set(&o, "address", hex(d->event.addr));
	set(&o, "size", description_has_size(d) ? number(d->event.arg) : json_null());
	set_details(r, d, &o);
	set(&o, "locks", locks_json(r, d));
	set(&o, "source", source_json(r, d->event.pc));
	set(&o, "stack", stack_json(r, d));
	return o;
}

/* Anomalies */

static json_t *block_event_json(const struct report *r, uint64_t event)
{
	const struct description *d = description_of(r->descriptions, event);
	json_t *o = json_object();
	set(&o, "event", number(event));
	set(&o, "thread", text(d ? thread_name(r, d->event.thread) : NULL));
	set(&o, "stack", stack_json(r, d));
	return o;
}

static json_t *variable_json(const struct report *r, const struct anomaly *anomaly)
{
	struct subject s;
	if (!subject_of(r, anomaly, &s))
		return json_null();
	json_t *o = json_object();
	set(&o, "name", text_or_null(s.name));
	set(&o, "kind", json_string(s.kind));
	set(&o, "address", hex(s.address));
	set(&o, "size", number_or_null(s.size));
	set(&o, "allocated", stack_of(r, s.block.alloc));
	if (s.block.alloc)
		set(&o, "allocation", block_event_json(r, s.block.alloc));
	if (s.block.freed)
		set(&o, "freed", block_event_json(r, s.block.freed));
	json_t *declared = json_null();
	if (s.file) {
		declared = json_object();
		set(&declared, "file", text(s.file));
		set(&declared, "line", number_or_null(s.line));
	}
	set(&o, "declared", declared);
	return o;
}

/* The reads whose writers only time stamps tell, in a schedule that is no proof for that reason. */
static json_t *leans_json(const struct report *r, const struct anomaly *anomaly)
{
	const struct model *m = r->analysis->model;
	json_t *o = json_object();
	set(&o, "reads", number(anomaly->leans));
	set(&o, "event", number(m->events[anomaly->lean].number));
	set(&o, "source", source_json(r, m->sites[m->events[anomaly->lean].site].pc));
	return o;
}

/* The reads that see another write of the value that they saw. */
static json_t *values_json(const struct report *r, const struct anomaly *anomaly)
{
	const struct model *m = r->analysis->model;
	json_t *o = json_object();
	set(&o, "reads", number(anomaly->substitutes));
	set(&o, "event", number(m->events[anomaly->substitute].number));
	set(&o, "source", source_json(r, m->sites[m->events[anomaly->substitute].site].pc));
	return o;
}

static json_t *evidence_json(const struct report *r, const struct anomaly *anomaly)
{
	json_t *o = json_object();
	for (int i = 0; i < 32 && orders[i].name; i++)
		if (anomaly->orders_run >> i & 1)
			set(&o, orders[i].name, json_boolean(anomaly->orders_unordered >> i & 1));
	set(&o, "witness", text(witness_name(anomaly->witness)));
	if (anomaly->leans)
		set(&o, "leans", leans_json(r, anomaly));
	if (anomaly->guess)
		set(&o, "guess", json_string(anomaly->guess));
	if (anomaly->substitutes)
		set(&o, "values", values_json(r, anomaly));
	return o;
}

static json_t *goal_json(const struct report *r, const struct anomaly *anomaly)
{
	json_t *goal = json_array();
	for (uint32_t i = 0; i < anomaly->event_count; i++) {
		const struct description *d = report_event(r, anomaly->events[i]);
		json_t *o = d ? json_object() : NULL;
		set(&o, "thread", text(d ? thread_name(r, d->event.thread) : NULL));
		set(&o, "ordinal", number(d ? d->event.ordinal : 0));
		push(&goal, o);
	}
	return goal;
}

static json_t *schedule_json(const struct report *r, const struct anomaly *anomaly)
{
	struct steps steps;
	if (!anomaly->schedule)
		return json_null();
	if (!steps_init(&steps, r->analysis->model, r->descriptions, anomaly))
		return NULL;
	json_t *array = json_array();
	for (size_t i = 0; i < steps.count; i++) {
		json_t *step = json_object();
		set(&step, "thread", text(thread_name(r, steps.items[i].thread)));
		set(&step, "from", number(steps.items[i].from));
		set(&step, "to", number(steps.items[i].to));
		push(&array, step);
	}
	steps_release(&steps);
	json_t *o = json_object();
	set(&o, "schema", json_string("racetrace.schedule/1"));
	set(&o, "steps", array);
	set(&o, "goal", goal_json(r, anomaly));
	return o;
}

static json_t *anomaly_json(const struct report *r, const struct report_entry *entry)
{
	const struct anomaly *anomaly = entry->anomaly;
	json_t *o = json_object(), *why = json_array(), *events = json_array();
	for (size_t i = 0; i < entry->rank.why_count; i++)
		push(&why, json_string(entry->rank.why[i]));
	for (uint32_t i = 0; i < anomaly->event_count; i++)
		push(&events, event_json(r, anomaly->events[i]));
	set(&o, "id", json_string(entry->id));
	set(&o, "fingerprint", json_string(entry->fingerprint));
	set(&o, "kind", json_string(anomaly_kind_name(anomaly->kind)));
	set(&o, "pattern", text(anomaly->pattern));
	set(&o, "verdict", json_string(verdict_name(anomaly->verdict)));
	set(&o, "evidence", evidence_json(r, anomaly));
	set(&o, "rank", json_real(entry->rank.value));
	set(&o, "why", why);
	set(&o, "count", number(entry->count));
	set(&o, "variable", variable_json(r, anomaly));
	set(&o, "events", events);
	set(&o, "schedule", schedule_json(r, anomaly));
	if (anomaly->left_out)
		set(&o, "schedule_left_out", number(anomaly->left_out));
	return o;
}

/* The head */

static json_t *creation_json(const struct report *r, const struct description *fork)
{
	json_t *o = json_object();
	set(&o, "by", text(thread_name(r, fork->event.thread)));
	set(&o, "event", number(fork->event.number));
	set(&o, "stack", stack_json(r, fork));
	return o;
}

/* Descriptions of the forks of threads that listed anomalies involve, by thread; NULL without memory. */
static const struct description **forks_create(const struct report *r, uint32_t thread_count)
{
	const struct description **forks = calloc((size_t)thread_count + 1, sizeof *forks);
	for (size_t i = 0; forks && i < r->count; i++) {
		const struct anomaly *anomaly = r->entries[i].anomaly;
		for (uint32_t k = 0; k < anomaly->event_count; k++) {
			const struct description *d = report_event(r, anomaly->events[k]);
			if (d && d->fork && d->event.thread < thread_count)
				forks[d->event.thread] = description_of(r->descriptions, d->fork);
		}
	}
	return forks;
}

static json_t *threads_json(const struct report *r, const struct rt_trace_info *info)
{
	const struct description **forks = forks_create(r, info->thread_count);
	json_t *array = forks ? json_array() : NULL;
	for (uint32_t i = 0; array && i < info->thread_count; i++) {
		const struct rt_thread *t = &info->threads[i];
		json_t *o = json_object();
		set(&o, "name", text(t->name));
		if (t->label)
			set(&o, "label", text(t->label));
		set(&o, "events", number(t->events));
		if (forks[i])
			set(&o, "created", creation_json(r, forks[i]));
		push(&array, o);
	}
	free(forks);
	return array;
}

static json_t *command_json(const struct rt_trace_info *info)
{
	if (!info->command)
		return json_null();
	json_t *array = json_array();
	for (const char *const *word = info->command; *word; word++)
		push(&array, text(*word));
	return array;
}

static json_t *exit_json(const struct rt_trace_info *info)
{
	if (info->exit_kind == RT_EXIT_UNKNOWN)
		return json_null();
	json_t *o = json_object();
	set(&o, "kind", json_string(info->exit_kind == RT_EXIT_SIGNAL ? "signal" : "status"));
	set(&o, "value", json_integer(info->exit_value));
	return o;
}

static json_t *plain_modules_json(const struct rt_trace *trace)
{
	struct plain_modules plain;
	size_t n;
	rt_trace_modules(trace, &n);
	if (!n || !plain_modules_find(trace, &plain))
		return n ? NULL : json_null();
	json_t *o = json_object(), *modules = json_array();
	for (size_t i = 0; i < plain.count; i++)
		push(&modules, text(plain.paths[i]));
	set(&o, "modules", modules);
	set(&o, "system", number(plain.system));
	plain_modules_release(&plain);
	return o;
}

static json_t *trace_json(const struct report *r)
{
	const struct rt_trace_info *info = rt_trace_info(r->analysis->trace);
	json_t *o = json_object();
	set(&o, "path", text(info->path));
	set(&o, "format", text(info->format));
	set(&o, "events", number(info->events));
	set(&o, "left_out", number(info->left_out));
	set(&o, "lost", number(info->lost));
	set(&o, "threads", threads_json(r, info));
	set(&o, "order", json_string(info->exact ? "exact" : "stamped"));
	set(&o, "complete", json_boolean(info->complete));
	if (!info->complete)
		set(&o, "incomplete_why", text(info->incomplete_why));
	if (info->sync_only)
		set(&o, "sync_only", json_true());
	set(&o, "not_instrumented", plain_modules_json(r->analysis->trace));
	set(&o, "command", command_json(info));
	set(&o, "exit", exit_json(info));
	return o;
}

static json_t *tool_json(void)
{
	json_t *o = json_object();
	set(&o, "name", json_string("racetrace"));
	set(&o, "version", json_string(RT_VERSION));
	return o;
}

static json_t *limit_json(uint64_t bound, bool hit)
{
	json_t *o = json_object();
	set(&o, "bound", number(bound));
	set(&o, "hit", json_boolean(hit));
	return o;
}

static json_t *limits_json(const struct report *r)
{
	const struct prove_counts *proofs = &r->analysis->proofs;
	json_t *o = json_object();
	set(&o, "stack_frames", limit_json(DESCRIBE_STACK_MAX, descriptions_cut(r->descriptions)));
	set(&o, "region_accesses", limit_json(SEARCH_REGION, r->analysis->limits.regions));
	set(&o, "combinations", limit_json(SEARCH_COMBINATIONS, r->analysis->limits.combinations));
	if (proofs->budget) {
		set(&o, "search_events", limit_json(proofs->budget, proofs->cut));
		set(&o, "search_events_total",
		    limit_json(proofs->total_budget, proofs->exhausted || proofs->precede_exhausted));
	}
	if (proofs->visited) {
		json_t *states = limit_json(proofs->state_limit, !proofs->all);
		set(&states, "visited", number(proofs->states));
		set(&o, "search_states", states);
	}
	if (r->analysis->schedule_bound)
		set(&o, "schedule_steps", limit_json(r->analysis->schedule_bound, r->analysis->schedules_cut));
	return o;
}

/* By kind that was searched for, then verdict. */
static json_t *summary_json(const struct report *r)
{
	json_t *o = json_object();
	for (int kind = 0; kind < ANOMALY_KINDS; kind++) {
		if (!(r->analysis->kinds >> kind & 1))
			continue;
		json_t *verdicts = json_object();
		for (int v = VERDICTS; v-- > 0;)
			set(&verdicts, verdict_name((enum verdict)v), number(r->summary[kind][v]));
		set(&o, anomaly_kind_name((enum anomaly_kind)kind), verdicts);
	}
	return o;
}

enum rt_status report_json(const struct report *r, bool color, FILE *out, struct rt_error *err)
{
	(void)color;
	fputs("{\n", out);
	bool ok = member(out, "schema", json_string("racetrace.report/1"), ",\n") &&
	          member(out, "tool", tool_json(), ",\n") && member(out, "trace", trace_json(r), ",\n") &&
	          member(out, "limits", limits_json(r), ",\n") && member(out, "summary", summary_json(r), ",\n");
	fputs("\"anomalies\": [", out);
	for (size_t i = 0; ok && i < r->count && !ferror(out); i++) {
		fputs(i ? ",\n" : "\n", out);
		ok = member(out, NULL, anomaly_json(r, &r->entries[i]), "");
	}
	fputs(r->count ? "\n]\n}\n" : "]\n}\n", out);
	return ok ? RT_OK
	          : rt_error_set(err, RT_EMEMORY, "no memory for the report, or the trace changed while it was read");
}
