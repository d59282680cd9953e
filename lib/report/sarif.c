/*
 * The report as SARIF 2.1.0 (OASIS), which code hosts and editors show beside the source: one result an anomaly, its
 * events as locations, their call stacks, and the schedule as a code flow with a thread flow a thread.
 */
#include "lib/report/formats.h"
#include "lib/report/json_value.h"
#include "lib/report/subject.h"

#include <ctype.h>
#include <string.h>

enum { STEPS_MAX = 100 }; /* last steps of a schedule that are written; the JSON report has all */

static const struct {
	const char *name, *text;
} rules[ANOMALY_KINDS] = {
    [ANOMALY_RACE] = {"DataRace", "Two threads access the same memory, one of them writes, and nothing orders them."},
    [ANOMALY_ATOMICITY] = {"AtomicityViolation", "Another thread's access comes between two of one atomic region, and "
                                                 "no serial execution of the region has the same outcome."},
    [ANOMALY_ASV] = {"AtomicSetSerializabilityViolation",
                     "Accesses of several variables of one atomic region interleave with another thread's as in no "
                     "serial execution."},
    [ANOMALY_DEADLOCK] = {"Deadlock", "Threads wait for locks that the others of them hold."},
    [ANOMALY_PATTERN] = {"Pattern", "The events match a pattern of the user's."},
};

static const char *thread_name(const struct report *r, uint32_t thread)
{
	const struct rt_trace_info *info = rt_trace_info(r->analysis->trace);
	return thread < info->thread_count ? info->threads[thread].name : "unknown";
}

/* {"text": ...} */
static json_t *message(const char *s)
{
	json_t *o = json_object();
	set(&o, "text", text(s));
	return o;
}

/* A path as a URI: absolute ones are of the scheme file, others relative. */
static json_t *uri(const char *path)
{
	static const char digits[] = "0123456789ABCDEF";
	size_t length = strlen(path), at = 0;
	char *out = malloc(length * 3 + 8);
	if (!out)
		return NULL;
	if (*path == '/')
		at = (size_t)sprintf(out, "file://");
	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)path[i];
		if (c < 0x80 && (isalnum(c) || strchr("-._~/", c))) {
			out[at++] = (char)c;
			continue;
		}
		out[at++] = '%';
		out[at++] = digits[c >> 4];
		out[at++] = digits[c & 15];
	}
	json_t *result = json_stringn(out, at);
	free(out);
	return result;
}

/* Locations */

static json_t *location(const struct rt_frame *f, json_t *said)
{
	json_t *o = json_object();
	if (f->file) {
		json_t *physical = json_object(), *artifact = json_object(), *region = json_object();
		set(&artifact, "uri", uri(f->file));
		set(&physical, "artifactLocation", artifact);
		if (f->line) {
			set(&region, "startLine", number(f->line));
			if (f->column)
				set(&region, "startColumn", number(f->column));
			set(&physical, "region", region);
		} else {
			json_decref(region);
		}
		set(&o, "physicalLocation", physical);
	}
	char address[24];
	snprintf(address, sizeof address, "0x%" PRIx64, f->pc);
	const char *name = f->function ? f->function : f->text ? f->text : f->file ? NULL : address;
	if (name) {
		json_t *logical = json_object(), *list = json_array();
		set(&logical, "fullyQualifiedName", text(name));
		if (f->function)
			set(&logical, "kind", json_string("function"));
		push(&list, logical);
		set(&o, "logicalLocations", list);
	}
	if (said)
		set(&o, "message", said);
	return o;
}

static json_t *location_of_pc(const struct report *r, uint64_t pc, json_t *said)
{
	const struct rt_frame *f = subject_frame(r, pc), nothing = {.pc = pc};
	return location(f ? f : &nothing, said);
}

static json_t *stack(const struct report *r, const struct description *d, const char *said)
{
	json_t *o = json_object(), *frames = json_array();
	for (size_t i = 0; i < d->stack_count; i++) {
		size_t n = 0;
		const struct rt_frame nothing = {.pc = d->stack[i]},
		                      *known = rt_trace_frames(r->analysis->trace, d->stack[i], &n);
		for (size_t k = 0; k < (n ? n : 1); k++) {
			const struct rt_frame *f = n ? &known[k] : &nothing;
			json_t *frame = json_object();
			set(&frame, "location", location(f, NULL));
			if (f->module)
				set(&frame, "module", text(f->module));
			push(&frames, frame);
		}
	}
	set(&o, "message", message(said));
	set(&o, "frames", frames);
	return o;
}

/* What an event does, in words: "write of 4 bytes by main.1 (event 7)". */
static void say_event(const struct report *r, const struct description *d, char *out, size_t size)
{
	char name[SUBJECT_NAME_MAX] = "";
	const char *thread = thread_name(r, d->event.thread);
	if (description_has_size(d)) {
		snprintf(out, size, "%s of %" PRIu64 " bytes by thread %.100s, event %" PRIu64, rt_op_name(d->event.op),
		         d->event.arg, thread, d->event.number);
		return;
	}
	subject_object_name(r, d->event.addr, subject_lock_block(d), name);
	snprintf(out, size, "%s of %.200s by thread %.100s, event %" PRIu64, rt_op_name(d->event.op),
	         *name ? name : "a lock", thread, d->event.number);
}

/* Schedules */

/* Thread flows by thread, in the order in which the threads come up. */
struct flows {
	const struct report *r;
	json_t *list; /* of threadFlow */
	uint32_t threads[STEPS_MAX + ANOMALY_EVENTS_MAX];
	uint64_t order;
};

static void add_step(struct flows *f, uint32_t thread, json_t *where, bool goal)
{
	json_t *step = json_object(), *flow = NULL;
	set(&step, "location", where);
	set(&step, "executionOrder", number(++f->order));
	set(&step, "importance", json_string(goal ? "essential" : "important"));
	size_t n = json_array_size(f->list);
	for (size_t i = 0; i < n && !flow; i++)
		if (f->threads[i] == thread)
			flow = json_array_get(f->list, i);
	if (!flow && f->list && n < sizeof f->threads / sizeof *f->threads) {
		json_t *fresh = json_object();
		set(&fresh, "id", text(thread_name(f->r, thread)));
		set(&fresh, "locations", json_array());
		push(&f->list, fresh);
		f->threads[n] = thread;
		flow = f->list ? json_array_get(f->list, n) : NULL;
	}
	if (!step || !flow || json_array_append_new(json_object_get(flow, "locations"), step) != 0) {
		json_decref(f->list);
		f->list = NULL;
	}
}

static void add_goal(struct flows *f, uint32_t e)
{
	char said[400];
	const struct description *d = report_event(f->r, e);
	if (!d)
		return;
	say_event(f->r, d, said, sizeof said);
	add_step(f, d->event.thread, location_of_pc(f->r, d->event.pc, message(said)), true);
}

/* Where a step ends, and before that the anomaly's events that it runs. */
static void add_turn(struct flows *f, const struct anomaly *anomaly, const struct schedule_step *step, bool *run)
{
	char said[400];
	const struct model *m = f->r->analysis->model;
	uint32_t end = m->threads[step->thread].events[step->to];
	bool at_end = false;
	for (uint32_t i = 0; i < anomaly->event_count && f->list; i++) {
		uint32_t e = anomaly->events[i], pos = m->events[e].pos;
		if (model_thread_of(m, e) != step->thread || pos < step->from || pos > step->to)
			continue;
		run[i] = true;
		at_end |= e == end;
		add_goal(f, e);
	}
	if (at_end || !f->list)
		return;
	snprintf(said, sizeof said, "thread %.100s runs up to its event %" PRIu64, thread_name(f->r, step->thread),
	         description_ordinal(f->r->descriptions, m->events[end].number));
	add_step(f, step->thread, location_of_pc(f->r, m->sites[m->events[end].site].pc, message(said)), false);
}

/* The schedule as a code flow: what each thread runs up to, in turns, and the anomaly's own events. */
static json_t *code_flow(const struct report *r, const struct anomaly *anomaly)
{
	const struct schedule *s = anomaly->schedule;
	struct flows f = {.r = r, .list = json_array()};
	bool run[ANOMALY_EVENTS_MAX] = {false};
	uint32_t first = s->count > STEPS_MAX ? s->count - STEPS_MAX : 0;
	for (uint32_t i = first; i < s->count && f.list; i++)
		add_turn(&f, anomaly, &s->steps[i], run);
	for (uint32_t i = 0; i < anomaly->event_count && f.list; i++)
		if (!run[i])
			add_goal(&f, anomaly->events[i]);
	json_t *o = json_object();
	set(&o, "message",
	    message(first            ? "a schedule that shows it; its first steps are left out"
	            : anomaly->guess ? "a guess at a schedule that shows it, and no proof"
	            : anomaly->leans ? "a schedule that shows it, if time stamps tell which writes were seen"
	                             : "a schedule that shows it"));
	set(&o, "threadFlows", f.list);
	return o;
}

/* Results */

static const char *level(enum verdict verdict)
{
	static const char *const levels[VERDICTS] = {[VERDICT_REFUTED] = "none",
	                                             [VERDICT_PREDICTED] = "warning",
	                                             [VERDICT_PROVED] = "error",
	                                             [VERDICT_OBSERVED] = "error"};
	return levels[verdict];
}

static json_t *result_message(const struct report *r, const struct anomaly *anomaly)
{
	char said[1024];
	struct subject subject;
	int at = snprintf(said, sizeof said, "%s %s (%s)", verdict_name(anomaly->verdict),
	                  anomaly_kind_name(anomaly->kind), anomaly->pattern);
	if (subject_of(r, anomaly, &subject) && *subject.name && at > 0)
		snprintf(said + at, sizeof said - (size_t)at, " on %.500s", subject.name);
	return message(said);
}

static json_t *properties(const struct report_entry *entry)
{
	const struct anomaly *anomaly = entry->anomaly;
	json_t *o = json_object(), *unordered = json_array();
	for (int i = 0; i < 32 && orders[i].name; i++)
		if (anomaly->orders_run >> i & anomaly->orders_unordered >> i & 1)
			push(&unordered, json_string(orders[i].name));
	set(&o, "id", json_string(entry->id));
	set(&o, "verdict", json_string(verdict_name(anomaly->verdict)));
	set(&o, "pattern", text(anomaly->pattern));
	set(&o, "unorderedBy", unordered);
	set(&o, "witness", text(witness_name(anomaly->witness)));
	return o;
}

/* Where the memory was asked for, and where the threads were created. */
static json_t *related(const struct report *r, const struct anomaly *anomaly)
{
	char said[300];
	struct subject subject;
	json_t *list = json_array();
	if (subject_of(r, anomaly, &subject) && subject.block.alloc) {
		const struct description *d = description_of(r->descriptions, subject.block.alloc);
		if (d)
			push(&list, location_of_pc(r, d->event.pc, message("the memory was allocated here")));
	}
	for (uint32_t i = 0; i < anomaly->event_count; i++) {
		const struct description *d = report_event(r, anomaly->events[i]),
		                         *fork = d && d->fork ? description_of(r->descriptions, d->fork) : NULL;
		if (!fork)
			continue;
		snprintf(said, sizeof said, "thread %.200s was created here", thread_name(r, d->event.thread));
		push(&list, location_of_pc(r, fork->event.pc, message(said)));
	}
	return list;
}

static json_t *result(const struct report *r, const struct report_entry *entry)
{
	char said[400];
	const struct anomaly *anomaly = entry->anomaly;
	json_t *o = json_object(), *locations = json_array(), *stacks = json_array(), *prints = json_object();
	for (uint32_t i = 0; i < anomaly->event_count; i++) {
		const struct description *d = report_event(r, anomaly->events[i]);
		if (!d)
			continue;
		say_event(r, d, said, sizeof said);
		push(&locations, location_of_pc(r, d->event.pc, message(said)));
		push(&stacks, stack(r, d, said));
	}
	set(&prints, "racetrace/v1", json_string(entry->fingerprint));
	set(&o, "ruleId", json_string(anomaly_kind_name(anomaly->kind)));
	set(&o, "ruleIndex", json_integer(anomaly->kind));
	set(&o, "kind", json_string(anomaly->verdict == VERDICT_REFUTED ? "pass" : "fail"));
	set(&o, "level", json_string(level(anomaly->verdict)));
	set(&o, "message", result_message(r, anomaly));
	set(&o, "locations", locations);
	set(&o, "relatedLocations", related(r, anomaly));
	set(&o, "stacks", stacks);
	if (anomaly->schedule) {
		json_t *flows = json_array();
		push(&flows, code_flow(r, anomaly));
		set(&o, "codeFlows", flows);
	}
	set(&o, "partialFingerprints", json_incref(prints));
	set(&o, "fingerprints", prints);
	set(&o, "occurrenceCount", number(entry->count));
	set(&o, "rank", json_real(entry->rank.value * 100));
	set(&o, "properties", properties(entry));
	return o;
}

/* The run */

static json_t *tool(void)
{
	json_t *o = json_object(), *driver = json_object(), *list = json_array();
	for (int i = 0; i < ANOMALY_KINDS; i++) {
		json_t *rule = json_object();
		set(&rule, "id", json_string(anomaly_kind_name((enum anomaly_kind)i)));
		set(&rule, "name", json_string(rules[i].name));
		set(&rule, "shortDescription", message(rules[i].text));
		push(&list, rule);
	}
	set(&driver, "name", json_string("racetrace"));
	set(&driver, "version", json_string(RT_VERSION));
	set(&driver, "rules", list);
	set(&o, "driver", driver);
	return o;
}

/* One invocation, that of the analysis; a trace that was cut short is worth a notification. */
static json_t *invocations(const struct report *r)
{
	const struct rt_trace_info *info = rt_trace_info(r->analysis->trace);
	json_t *list = json_array(), *o = json_object(), *notes = json_array();
	if (!info->complete) {
		json_t *note = json_object();
		set(&note, "level", json_string("warning"));
		set(&note, "message", message(info->incomplete_why ? info->incomplete_why : "the trace is incomplete"));
		push(&notes, note);
	}
	set(&o, "executionSuccessful", json_true());
	set(&o, "toolExecutionNotifications", notes);
	push(&list, o);
	return list;
}

enum rt_status report_sarif(const struct report *r, bool color, FILE *out, struct rt_error *err)
{
	(void)color;
	fputs("{\n\"$schema\": \"https://json.schemastore.org/sarif-2.1.0.json\",\n\"version\": \"2.1.0\",\n\"runs\": "
	      "[{\n",
	      out);
	bool ok = member(out, "tool", tool(), ",\n") && member(out, "invocations", invocations(r), ",\n") &&
	          member(out, "columnKind", json_string("unicodeCodePoints"), ",\n");
	fputs("\"results\": [", out);
	for (size_t i = 0; ok && i < r->count && !ferror(out); i++) {
		fputs(i ? ",\n" : "\n", out);
		ok = member(out, NULL, result(r, &r->entries[i]), "");
	}
	fputs(r->count ? "\n]\n}]\n}\n" : "]\n}]\n}\n", out);
	return ok ? RT_OK
	          : rt_error_set(err, RT_EMEMORY, "no memory for the report, or the trace changed while it was read");
}
