/* Anomalies in JSON: evidence, events with their stacks and locks, schedules, replays. */
#include "lib/report/follows.h"
#include "lib/report/json/parts.h"
#include "lib/report/place.h"
#include "lib/report/steps.h"
#include "lib/report/subject.h"
#include "lib/report/waiting.h"

const char *json_thread_name(const struct json_report *j, uint32_t thread)
{
	return thread < j->info->thread_count ? j->info->threads[thread].name : "unknown";
}

/* Positions */

static void put_source(struct json_report *j, const char *key, uint64_t pc)
{
	const struct rt_frame *known = subject_frame(j->r, pc), nothing = {0};
	const struct rt_frame *f = known ? known : &nothing;
	jw_object(&j->w, key);
	jw_text(&j->w, "file", f->file);
	jw_number_or_null(&j->w, "line", f->line);
	jw_number_or_null(&j->w, "column", f->column);
	jw_text(&j->w, "function", f->function);
	if (f->text)
		jw_text(&j->w, "text", f->text);
	jw_object_end(&j->w);
}

static void put_stack_of(struct json_report *j, const char *key, uint64_t event)
{
	json_put_stack(j, key, event ? description_of(j->r->descriptions, event) : NULL);
}

/* Events */

static void put_lock(struct json_report *j, const struct held_lock *lock)
{
	char name[SUBJECT_NAME_MAX];
	struct json_writer *w = &j->w;
	if (!place_depends(j->r, place_taken(j->r, lock), name))
		subject_object_name(j->r, lock->addr, &lock->block, name);
	jw_object(w, NULL);
	jw_text_or_null(w, "name", name);
	jw_hex(w, "address", lock->addr);
	jw_text(w, "mode", lock->shared ? "shared" : "exclusive");
	jw_number(w, "event", lock->acquired);
	put_stack_of(j, "acquired", lock->acquired);
	jw_object_end(w);
}

static void put_locks(struct json_report *j, const char *key, const struct description *d)
{
	jw_array(&j->w, key);
	for (size_t i = 0; i < d->lock_count; i++)
		put_lock(j, &d->locks[i]);
	jw_array_end(&j->w);
}

/* What a stuck thread waits for. */
static void put_waits_for(struct json_report *j, const char *key, const struct description *d)
{
	char text[WAITING_TEXT_MAX];
	struct json_writer *w = &j->w;
	jw_object(w, key);
	jw_text(w, "operation", rt_op_name(waiting_op(d)));
	if (waiting_op(d) == RT_OP_JOIN) {
		jw_text(w, "thread",
		        d->event.addr < j->info->thread_count ? json_thread_name(j, (uint32_t)d->event.addr) : NULL);
	} else if (waiting_op(d) == RT_OP_HB_AFTER) {
		jw_text(w, "call", rt_call_name(rt_call_kind(d->event.value)));
		if (rt_call_descriptor(d->event.value) >= 0)
			jw_number(w, "descriptor", (uint64_t)rt_call_descriptor(d->event.value));
	} else {
		waiting_object(j->r, d, text);
		jw_text_or_null(w, "object", text);
	}
	waiting_text(j->r, d, text);
	jw_text(w, "text", text);
	jw_object_end(w);
}

static void put_details(struct json_report *j, uint32_t e, const struct description *d)
{
	const char *order = rt_op_is_atomic(d->event.op) ? rt_memory_order_name(d->event.order) : NULL;
	char name[SUBJECT_NAME_MAX];
	struct json_writer *w = &j->w;
	if (order)
		jw_text(w, "order", order);
	if (d->event.flags & RT_F_VOLATILE)
		jw_bool(w, "volatile", true);
	if (d->event.flags & RT_F_FREE)
		jw_bool(w, "free", true);
	if (d->event.flags & RT_F_OBJECT && rt_op_is_access(d->event.op))
		jw_bool(w, "object", true);
	if (d->event.flags & RT_F_VALUE && d->event.op != RT_OP_BLOCK)
		jw_hex(w, "value", d->event.value);
	if (waiting_op(d))
		put_waits_for(j, "waits_for", d);
	bool waits =
	    d->event.op == RT_OP_BLOCK && (d->event.arg == RT_OP_ACQUIRE || d->event.arg == RT_OP_ACQUIRE_SHARED);
	bool semaphore = d->event.op == RT_OP_SEM_WAIT && model_lock_taken(j->r->analysis->model, e) != MODEL_NONE;
	if (rt_op_group(d->event.op) == RT_GROUP_LOCK || semaphore || waits) {
		if (!place_depends(j->r, d, name))
			subject_object_name(j->r, d->event.addr, subject_lock_block(d), name);
		jw_text_or_null(w, "lock", name);
	}
}

static void put_event(struct json_report *j, uint32_t e)
{
	const struct description *d = report_event(j->r, e);
	struct json_writer *w = &j->w;
	char signal[DESCRIPTION_SIGNAL_MAX];
	if (!d) { /* the trace changed between two passes */
		w->failed = true;
		return;
	}
	jw_object(w, NULL);
	jw_number(w, "event", d->event.number);
	jw_text(w, "thread", json_thread_name(j, d->event.thread));
	jw_number(w, "ordinal", d->event.ordinal);
	jw_text(w, "op", rt_op_name(d->event.op));
	description_signal(d, signal);
	if (signal[0])
		jw_text(w, "handler_of", signal);
	jw_hex(w, "address", d->event.addr);
	if (description_has_size(d))
		jw_number(w, "size", d->event.arg);
	else
		jw_null(w, "size");
	put_details(j, e, d);
	put_locks(j, "locks", d);
	put_source(j, "source", d->event.pc);
	json_put_stack(j, "stack", d);
	jw_object_end(w);
}

/* Anomalies */

static void put_block_event(struct json_report *j, const char *key, uint64_t event)
{
	const struct description *d = description_of(j->r->descriptions, event);
	struct json_writer *w = &j->w;
	jw_object(w, key);
	jw_number(w, "event", event);
	jw_text(w, "thread", d ? json_thread_name(j, d->event.thread) : NULL);
	json_put_stack(j, "stack", d);
	jw_object_end(w);
}

static void put_declared(struct json_writer *w, const char *key, const struct subject *s)
{
	if (!s->file) {
		jw_null(w, key);
		return;
	}
	jw_object(w, key);
	jw_text(w, "file", s->file);
	jw_number_or_null(w, "line", s->line);
	jw_object_end(w);
}

static void put_variable(struct json_report *j, const char *key, const struct anomaly *anomaly)
{
	struct subject s;
	struct json_writer *w = &j->w;
	if (!subject_of(j->r, anomaly, &s)) {
		jw_null(w, key);
		return;
	}
	jw_object(w, key);
	jw_text_or_null(w, "name", s.name);
	jw_text(w, "kind", s.kind);
	jw_hex(w, "address", s.address);
	jw_number_or_null(w, "size", s.size);
	put_stack_of(j, "allocated", s.block.alloc);
	if (s.block.alloc)
		put_block_event(j, "allocation", s.block.alloc);
	if (s.block.freed)
		put_block_event(j, "freed", s.block.freed);
	put_declared(w, "declared", &s);
	jw_object_end(w);
}

/* Reads that the value of a schedule depends on: their number, and the first one. */
static void put_reads(struct json_report *j, const char *key, uint32_t count, uint32_t first)
{
	const struct model *m = j->r->analysis->model;
	struct json_writer *w = &j->w;
	jw_object(w, key);
	jw_number(w, "reads", count);
	jw_number(w, "event", m->events[first].number);
	put_source(j, "source", m->sites[m->events[first].site].pc);
	jw_object_end(w);
}

static void put_evidence(struct json_report *j, const char *key, const struct anomaly *anomaly)
{
	struct json_writer *w = &j->w;
	jw_object(w, key);
	for (int i = 0; i < 32 && orders[i].name; i++)
		if (anomaly->orders_run >> i & 1)
			jw_bool(w, orders[i].name, anomaly->orders_unordered >> i & 1);
	if (report_is_hidden(anomaly))
		jw_bool(w, "hidden", true);
	if (anomaly->first_of) {
		jw_array(w, "first");
		for (int i = 0; orders[i].name; i++)
			if (anomaly->first_of >> i & 1)
				jw_text(w, NULL, orders[i].name);
		jw_array_end(w);
	}
	jw_text(w, "witness", witness_name(anomaly->witness));
	if (anomaly->uncertain) /* only time stamps tell their writers, so the schedule proves nothing */
		put_reads(j, "leans", anomaly->uncertain, anomaly->first_uncertain);
	if (anomaly->guess)
		jw_text(w, "guess", anomaly->guess);
	if (anomaly->substitutes) /* they see another write of the value that they saw */
		put_reads(j, "values", anomaly->substitutes, anomaly->substitute);
	jw_object_end(w);
}

/* Why it is only predicted. */
static void put_reasons(struct json_report *j, const char *key, const struct reasons *reasons)
{
	char text[REASON_TEXT_MAX];
	struct json_writer *w = &j->w;
	jw_array(w, key);
	for (int i = 0; i < REASONS; i++) {
		if (!reasons_has(reasons, (enum reason)i))
			continue;
		jw_object(w, NULL);
		jw_text(w, "reason", reason_name((enum reason)i));
		if (reasons->details[i])
			jw_text(w, "detail", reasons->details[i]);
		if (i == REASON_INSTANCES) {
			jw_number(w, "looked_at", reasons->looked);
			jw_number(w, "instances", reasons->instances);
		}
		reason_text(reasons, (enum reason)i, text);
		jw_text(w, "text", text);
		jw_object_end(w);
	}
	jw_array_end(w);
}

/* The reads that would have to see another write than they saw. */
static void put_needs(struct json_report *j, const char *key, const struct anomaly *anomaly)
{
	const struct model *m = j->r->analysis->model;
	struct json_writer *w = &j->w;
	jw_array(w, key);
	for (uint32_t i = 0; i < anomaly->need_count; i++) {
		const struct model_event *e = &m->events[anomaly->needs[i]];
		jw_object(w, NULL);
		jw_number(w, "event", e->number);
		jw_text(w, "thread", json_thread_name(j, model_thread_of(m, anomaly->needs[i])));
		put_source(j, "source", m->sites[e->site].pc);
		jw_object_end(w);
	}
	jw_array_end(w);
}

static void put_goal(struct json_report *j, const char *key, const struct anomaly *anomaly)
{
	struct json_writer *w = &j->w;
	jw_array(w, key);
	for (uint32_t i = 0; i < anomaly->event_count; i++) {
		const struct description *d = report_event(j->r, anomaly->events[i]);
		if (!d) {
			w->failed = true;
			return;
		}
		jw_object(w, NULL);
		jw_text(w, "thread", json_thread_name(j, d->event.thread));
		jw_number(w, "ordinal", d->event.ordinal);
		jw_object_end(w);
	}
	jw_array_end(w);
}

static void put_steps(struct json_report *j, const char *key, const struct steps *steps)
{
	struct json_writer *w = &j->w;
	jw_array(w, key);
	for (size_t i = 0; i < steps->count; i++) {
		jw_object(w, NULL);
		jw_text(w, "thread", json_thread_name(j, steps->items[i].thread));
		jw_number(w, "from", steps->items[i].from);
		jw_number(w, "to", steps->items[i].to);
		jw_object_end(w);
	}
	jw_array_end(w);
}

static void put_schedule(struct json_report *j, const char *key, const struct anomaly *anomaly)
{
	struct steps steps;
	struct json_writer *w = &j->w;
	if (!anomaly->schedule) {
		jw_null(w, key);
		return;
	}
	if (!steps_init(&steps, j->r->analysis->model, j->r->descriptions, anomaly)) {
		w->failed = true;
		return;
	}
	jw_object(w, key);
	jw_text(w, "schema", "racetrace.schedule/1");
	if (j->r->analysis->model->recorded)
		jw_number(w, "recorded", j->r->analysis->model->recorded);
	put_steps(j, "steps", &steps);
	put_goal(j, "goal", anomaly);
	jw_object_end(w);
	steps_release(&steps);
}

/* The causes that it follows: races by id, relaxed atomics with their write and read. */
static void put_follows(struct json_report *j, const char *key, const struct anomaly *anomaly)
{
	char text[FOLLOWS_TEXT_MAX];
	struct json_writer *w = &j->w;
	jw_object(w, key);
	jw_array(w, "races");
	for (uint32_t i = 0; i < anomaly->cause_count; i++)
		if (*follows_id(j->r, anomaly, i))
			jw_text(w, NULL, follows_id(j->r, anomaly, i));
	jw_array_end(w);
	jw_array(w, "atomics");
	for (uint32_t i = 0; i < anomaly->cause_count; i++) {
		const struct cause *cause = follows_cause(j->r, anomaly, i);
		const struct anomaly pair = follows_pair(cause);
		if (cause->anomaly != MODEL_NONE)
			continue;
		jw_object(w, NULL);
		follows_text(j->r, cause, text);
		jw_text(w, "text", text);
		put_variable(j, "variable", &pair);
		jw_array(w, "events");
		put_event(j, cause->write);
		put_event(j, cause->read);
		jw_array_end(w);
		jw_object_end(w);
	}
	jw_array_end(w);
	jw_object_end(w);
}

static const char *end_name(enum outcome_end end)
{
	static const char *const names[] = {[OUTCOME_END_UNKNOWN] = NULL,
	                                    [OUTCOME_STATUS] = "status",
	                                    [OUTCOME_SIGNAL] = "signal",
	                                    [OUTCOME_DEADLOCK] = "deadlock",
	                                    [OUTCOME_HANG] = "hang"};
	return names[end];
}

static void put_run(struct json_writer *w, const struct replay_run *run)
{
	jw_object(w, NULL);
	jw_text(w, "outcome", outcome_name(run->kind));
	jw_text(w, "way", outcome_way_name(run->way));
	if (run->order)
		jw_text(w, "resolve", outcome_order_name(run->order));
	jw_number(w, "runs", run->runs);
	jw_number(w, "same", run->same);
	if (run->end) {
		jw_object(w, "end");
		jw_text(w, "kind", end_name(run->end));
		if (run->end == OUTCOME_STATUS || run->end == OUTCOME_SIGNAL)
			jw_integer(w, "value", run->value);
		jw_bool(w, "differs", run->end_differs);
		jw_object_end(w);
	}
	jw_bool(w, "output_differs", run->output_differs);
	if (run->output)
		jw_text(w, "output", run->output);
	if (run->why)
		jw_text(w, "why", run->why);
	if (run->thread)
		jw_text(w, "thread", run->thread);
	if (run->kind == OUTCOME_DIVERGED && run->expected) {
		jw_text(w, "expected", run->expected);
		jw_text(w, "actual", run->actual);
	}
	if (run->kind == OUTCOME_STUCK) {
		jw_array(w, "waits");
		for (size_t i = 0; i < run->wait_count; i++) {
			jw_object(w, NULL);
			jw_text(w, "thread", run->waits[i].thread);
			jw_text(w, "text", run->waits[i].text);
			jw_object_end(w);
		}
		jw_array_end(w);
	}
	jw_object_end(w);
}

static void put_outcome(struct json_writer *w, const char *key, const struct replay_result *o)
{
	jw_object(w, key);
	jw_text(w, "outcome", outcome_name(o->kind));
	if (o->was >= 0)
		jw_text(w, "was", verdict_name((enum verdict)o->was));
	jw_number(w, "runs", o->runs);
	jw_number(w, "confirmed", o->confirmed);
	jw_array(w, "results");
	for (size_t i = 0; i < o->count; i++)
		put_run(w, &o->items[i]);
	jw_array_end(w);
	jw_object_end(w);
}

void report_replay_json(const struct replay_result *result, FILE *out)
{
	struct json_writer w = {.out = out};
	put_outcome(&w, NULL, result);
	fputc('\n', out);
}

void json_put_anomaly(struct json_report *j, const struct report_entry *entry)
{
	const struct anomaly *anomaly = entry->anomaly;
	struct json_writer *w = &j->w;
	json_stacks_place(j, entry);
	jw_object(w, NULL);
	jw_text(w, "id", entry->id);
	jw_text(w, "fingerprint", entry->fingerprint);
	jw_text(w, "kind", anomaly_kind_name(anomaly->kind));
	jw_text(w, "pattern", anomaly->pattern);
	jw_text(w, "verdict", verdict_name(anomaly->verdict));
	if (anomaly->verdict == VERDICT_PREDICTED)
		put_reasons(j, "reasons", &anomaly->reasons);
	if (anomaly->need_count) {
		put_needs(j, "needs", anomaly);
		jw_number(w, "needs_count", anomaly->need_total);
	}
	if (anomaly->follows)
		put_follows(j, "follows", anomaly);
	put_evidence(j, "evidence", anomaly);
	jw_real(w, "rank", entry->rank.value);
	jw_array(w, "why");
	for (size_t i = 0; i < entry->rank.why_count; i++)
		jw_text(w, NULL, entry->rank.why[i]);
	jw_array_end(w);
	jw_number(w, "count", entry->count);
	if (j->run)
		jw_number(w, "run", j->run);
	put_variable(j, "variable", anomaly);
	jw_array(w, "events");
	for (uint32_t i = 0; i < anomaly->event_count; i++)
		put_event(j, anomaly->events[i]);
	jw_array_end(w);
	if (anomaly->wait_count) {
		jw_array(w, "stuck");
		for (uint32_t i = 0; i < anomaly->wait_count; i++)
			put_event(j, anomaly->waits[i]);
		jw_array_end(w);
	}
	put_schedule(j, "schedule", anomaly);
	if (anomaly->left_out)
		jw_number(w, "schedule_left_out", anomaly->left_out);
	if (anomaly->replay)
		put_outcome(w, "replay", anomaly->replay);
	jw_object_end(w);
}
