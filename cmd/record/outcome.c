/* The outcome of a controlled run: see docs/racetrace-record.1, --outcome. */
#include "cmd/record/outcome.h"

#include "cmd/base/common.h"
#include "cmd/base/output.h"
#include "cmd/record/relations.h"
#include "lib/base/json_memory.h"
#include "recorder/collector/tree.h"
#include "recorder/control.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* ---- What a thread holds and is in, at the end of the trace ---- */

enum { DEPTH = 256, LOCKS = 64 }; /* further ones are left out */
struct place {
	uint64_t calls[DEPTH], locks[LOCKS], pc;
	size_t depth, lock_count;
};

static void take(struct place *p, uint64_t lock)
{
	if (p->lock_count < LOCKS)
		p->locks[p->lock_count++] = lock;
}

static void drop(struct place *p, uint64_t lock)
{
	for (size_t i = p->lock_count; i-- > 0;)
		if (p->locks[i] == lock) {
			memmove(p->locks + i, p->locks + i + 1, (--p->lock_count - i) * sizeof *p->locks);
			return;
		}
}

static void follow(struct place *p, const struct rt_event *e)
{
	if (e->op == RT_OP_ENTER) {
		if (p->depth < DEPTH)
			p->calls[p->depth] = e->pc;
		p->depth++;
	} else if (e->op == RT_OP_LEAVE) {
		p->depth -= p->depth > 0;
	} else if (e->op == RT_OP_ACQUIRE || e->op == RT_OP_ACQUIRE_SHARED) {
		take(p, e->addr);
	} else if (e->op == RT_OP_RELEASE) {
		drop(p, e->addr);
	} else if (e->op == RT_OP_WAIT_BEGIN) {
		drop(p, e->arg);
	} else if (e->op == RT_OP_WAIT_END) {
		take(p, e->arg);
	}
	p->pc = e->pc ? e->pc : p->pc;
}

static enum rt_status read_places(struct rt_trace *trace, struct place *places, struct rt_error *err)
{
	struct rt_pass pass;
	for (struct rt_event *e = rt_pass_first(&pass, trace, err); e; e = rt_pass_next(&pass))
		if (e->thread < rt_trace_info(trace)->thread_count)
			follow(&places[e->thread], e);
	return pass.status;
}

/* ---- JSON ---- */

/* Innermost first. */
static json_t *stack_json(const struct rt_trace *trace, const struct place *p)
{
	json_t *list = json_array();
	json_array_append_new(list, json_string(cmd_position(trace, p->pc).text));
	for (size_t i = p->depth < DEPTH ? p->depth : DEPTH; i-- > 0;)
		if (p->calls[i])
			json_array_append_new(list, json_string(cmd_position(trace, p->calls[i]).text));
	return list;
}

static json_t *locks_json(const struct rt_trace *trace, const struct place *p)
{
	json_t *list = json_array();
	for (size_t i = 0; i < p->lock_count; i++)
		json_array_append_new(list, json_string(cmd_address(trace, p->locks[i]).text));
	return list;
}

static const char *thread_name(const struct rt_trace *trace, uint64_t thread)
{
	const struct rt_trace_info *info = rt_trace_info(trace);
	return thread < info->thread_count ? info->threads[thread].name : "?";
}

static const char *state_name(unsigned state)
{
	switch ((enum rt_state)state) {
	case RT_READY:
		return "ready";
	case RT_RUNNING:
		return "running";
	case RT_BLOCKED:
		return "blocked";
	case RT_OUTSIDE:
		return "outside";
	case RT_ENDED:
		break;
	}
	return "ended";
}

static json_t *thread_json(const struct rt_trace *trace, const struct place *places, const struct rt_standing *s)
{
	bool named = s->op != RT_OP_NONE && s->object;
	json_t *t = json_pack("{s:s, s:s, s:I}", "thread", thread_name(trace, s->thread), "state", state_name(s->state),
	                      "step", (json_int_t)s->count);
	if (s->op != RT_OP_NONE)
		json_object_set_new(t, "operation", json_string(rt_op_name(s->op)));
	if (s->op == RT_OP_JOIN)
		json_object_set_new(t, "object", json_string(thread_name(trace, s->object)));
	else if (named)
		json_object_set_new(t, "object", json_string(cmd_address(trace, s->object).text));
	if (s->thread < rt_trace_info(trace)->thread_count) {
		json_object_set_new(t, "locks", locks_json(trace, &places[s->thread]));
		json_object_set_new(t, "stack", stack_json(trace, &places[s->thread]));
	}
	return t;
}

/* A process that ends itself without the C library's exit does not say so. */
static const char *end_name(const struct rt_control *control, bool signal)
{
	switch ((enum rt_end)atomic_load(&control->end)) {
	case RT_END_EXIT:
		return "exit";
	case RT_END_EXEC:
		return "exec";
	case RT_END_DEADLOCK:
		return "deadlock";
	case RT_END_RUNNING:
		break;
	}
	return signal ? "died" : "exit";
}

/* Each decision: the thread that had the turn, at which of its steps, and the thread that got it. */
static json_t *decisions_json(const struct rt_trace *trace, const struct rt_control *control)
{
	uint64_t n = atomic_load(&control->log_count);
	json_t *list = json_array();
	for (uint64_t i = 0; i < n && i < RT_LOG_ROOM; i++)
		json_array_append_new(list, json_pack("[s, I, s]", thread_name(trace, control->log[i].from),
		                                      (json_int_t)control->log[i].count,
		                                      thread_name(trace, control->log[i].to)));
	return list;
}

/* Where the strategy created its pattern. */
static json_t *creations_json(const struct rt_trace *trace, const struct rt_control *control)
{
	json_t *list = json_array();
	for (uint64_t i = 0; i < control->created && i < RT_CREATIONS_MAX; i++) {
		const struct rt_creation *c = &control->creations[i];
		json_array_append_new(
		    list, json_pack("{s:[s, s], s:[s, s], s:[o?, o?], s:s, s:i}", "threads",
		                    thread_name(trace, c->threads[0]), thread_name(trace, c->threads[1]), "positions",
		                    cmd_position(trace, c->pcs[0]).text, cmd_position(trace, c->pcs[1]).text, "offsets",
		                    relations_offset(trace, c->pcs[0]), relations_offset(trace, c->pcs[1]), "object",
		                    cmd_address(trace, c->object).text, "first", (int)c->first));
	}
	return list;
}

/* What the strategy did. */
static void add_strategy(json_t *outcome, const struct rt_trace *trace, const struct rt_control *control)
{
	if (*control->report)
		json_object_set_new(outcome, "report", json_string(control->report));
	json_object_set_new(outcome, "threads_created", json_integer((json_int_t)control->threads));
	json_object_set_new(outcome, "postponed", json_integer((json_int_t)control->postponed));
	json_object_set_new(outcome, "thrashed", json_integer((json_int_t)control->thrashed));
	json_object_set_new(outcome, "livelocks", json_integer((json_int_t)control->livelocks));
	json_object_set_new(outcome, "created", json_integer((json_int_t)control->created));
	json_object_set_new(outcome, "creations", creations_json(trace, control));
	json_object_set_new(outcome, "relations", relations_json(trace, control));
}

static json_t *outcome_json(const struct rt_trace *trace, const struct place *places, const struct rt_control *control,
                            const struct rt_writer_result *result)
{
	bool signal = result->exit_kind == RT_EXIT_SIGNAL;
	bool controlled = control->threads > 0 && atomic_load(&control->degraded) == RT_DEGRADED_NOT;
	bool killed = atomic_load(&control->end) == RT_END_DEADLOCK;
	uint32_t n = atomic_load(&control->standing_count);
	json_t *threads = json_array();
	for (uint32_t i = 0; i < n && i < RT_STANDING_MAX; i++)
		json_array_append_new(threads, thread_json(trace, places, &control->standing[i]));
	json_t *outcome =
	    json_pack("{s:s, s:s, s:o, s:o, s:s, s:I, s:I, s:I, s:b, s:o, s:o}", "schema", "racetrace.outcome/1", "end",
	              end_name(control, signal), "status", signal ? json_null() : json_integer(result->exit_value),
	              "signal", signal && !killed ? json_integer(result->exit_value) : json_null(), "strategy",
	              control->strategy, "seed", (json_int_t)control->seed, "steps",
	              (json_int_t)atomic_load(&control->steps), "switches", (json_int_t)atomic_load(&control->switches),
	              "controlled", controlled, "threads", threads, "decisions", decisions_json(trace, control));
	if (outcome)
		add_strategy(outcome, trace, control);
	return outcome;
}

static enum rt_status write_json(const json_t *json, const char *path, struct rt_error *err)
{
	struct cmd_output output;
	enum rt_status status = cmd_output_open(&output, path, err);
	if (status)
		return status;
	if (json_dumpf(json, output.file, JSON_INDENT(1) | JSON_PRESERVE_ORDER | JSON_ENSURE_ASCII) != 0)
		status = rt_error_set(err, RT_ESYSTEM, "cannot write '%s'", path);
	return cmd_output_close(&output, status, err);
}

enum rt_status outcome_write(const char *path, const struct rt_control *control, const struct rt_writer_result *result,
                             const char *trace_path, struct rt_error *err)
{
	struct rt_trace *trace;
	enum rt_status status = rt_trace_open(trace_path, &trace, err);
	if (status)
		return status;
	struct place *places = calloc(rt_trace_info(trace)->thread_count + 1, sizeof *places);
	json_t *json = NULL;
	if (!places)
		status = rt_error_set(err, RT_EMEMORY, "no memory for the outcome");
	else
		status = read_places(trace, places, err);
	if (!status) {
		rt_json_memory_watch();
		json = outcome_json(trace, places, control, result);
		if (!json || rt_json_memory_failed())
			status = rt_error_set(err, RT_EMEMORY, "no memory for the outcome");
	}
	if (!status)
		status = write_json(json, path, err);
	json_decref(json);
	free(places);
	rt_trace_free(trace);
	return status;
}
