/*
 * The report as SARIF 2.1.0 (OASIS), which code hosts and editors show beside the source: one result for each anomaly,
 * its events as locations, their call stacks, and the schedule as a code flow with one thread flow for each thread.
 */
#include "lib/report/follows.h"
#include "lib/report/formats.h"
#include "lib/report/json_writer.h"
#include "lib/report/pieces.h"
#include "lib/report/subject.h"
#include "lib/report/waiting.h"

#include <ctype.h>
#include <inttypes.h>
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
    [ANOMALY_DEADLOCK] = {"Deadlock", "Threads wait for locks that the others of them hold, or for one another's end."},
    [ANOMALY_HANG] = {"Hang", "Threads wait for what no thread that could still run would give them."},
    [ANOMALY_PATTERN] = {"Pattern", "The events match a pattern of the user's."},
};

struct writing {
	struct json_writer w;
	const struct report *r;
	struct pieces frames; /* elements of stacks */
};

static const char *thread_name(const struct report *r, uint32_t thread)
{
	const struct rt_trace_info *info = rt_trace_info(r->analysis->trace);
	return thread < info->thread_count ? info->threads[thread].name : "unknown";
}

/* {"text": ...} */
static void put_message(struct json_writer *w, const char *key, const char *s)
{
	jw_object(w, key);
	jw_text(w, "text", s);
	jw_object_end(w);
}

/* A path as a URI: absolute ones are of the scheme file, others relative. */
static void put_uri(struct json_writer *w, const char *key, const char *path)
{
	jw_value(w, key);
	fputs(*path == '/' ? "\"file://" : "\"", w->out);
	for (const char *c = path; *c; c++)
		if (isascii(*c) && (isalnum(*c) || strchr("-._~/", *c)))
			putc(*c, w->out);
		else
			fprintf(w->out, "%%%02X", (unsigned char)*c);
	putc('"', w->out);
}

/* Locations */

static void put_physical(struct json_writer *w, const char *key, const struct rt_frame *f)
{
	jw_object(w, key);
	jw_object(w, "artifactLocation");
	put_uri(w, "uri", f->file);
	jw_object_end(w);
	if (f->line) {
		jw_object(w, "region");
		jw_number(w, "startLine", f->line);
		if (f->column)
			jw_number(w, "startColumn", f->column);
		jw_object_end(w);
	}
	jw_object_end(w);
}

/* said: its message, or NULL. */
static void put_location(struct json_writer *w, const char *key, const struct rt_frame *f, const char *said)
{
	char address[24];
	jw_object(w, key);
	if (f->file)
		put_physical(w, "physicalLocation", f);
	snprintf(address, sizeof address, "0x%" PRIx64, f->pc);
	const char *name = f->function ? f->function : f->text ? f->text : f->file ? NULL : address;
	if (name) {
		jw_array(w, "logicalLocations");
		jw_object(w, NULL);
		jw_text(w, "fullyQualifiedName", name);
		if (f->function)
			jw_text(w, "kind", "function");
		jw_object_end(w);
		jw_array_end(w);
	}
	if (said)
		put_message(w, "message", said);
	jw_object_end(w);
}

static void put_location_of_pc(struct writing *s, const char *key, uint64_t pc, const char *said)
{
	const struct rt_frame *f = subject_frame(s->r, pc), nothing = {.pc = pc};
	put_location(&s->w, key, f ? f : &nothing, said);
}

/* The frames of a program counter, inlined ones included, as elements of a stack. */
static void make_frames(FILE *out, uint64_t pc, const void *trace)
{
	struct json_writer w = {.out = out};
	size_t n = 0;
	const struct rt_frame nothing = {.pc = pc}, *known = rt_trace_frames(trace, pc, &n);
	for (size_t k = 0; k < (n ? n : 1); k++) {
		const struct rt_frame *f = n ? &known[k] : &nothing;
		jw_object(&w, NULL);
		put_location(&w, "location", f, NULL);
		if (f->module)
			jw_text(&w, "module", f->module);
		jw_object_end(&w);
	}
}

static void put_stack(struct writing *s, const char *key, const struct description *d, const char *said)
{
	struct json_writer *w = &s->w;
	jw_object(w, key);
	put_message(w, "message", said);
	jw_array(w, "frames");
	for (size_t i = 0; i < d->stack_count; i++) {
		jw_value(w, NULL);
		if (!pieces_write(&s->frames, d->stack[i], make_frames, s->r->analysis->trace, w->out))
			w->failed = true;
	}
	jw_array_end(w);
	jw_object_end(w);
}

/* An event in words: "write of 4 bytes by main.1 (event 7)". */
static void say_event(const struct report *r, const struct description *d, char *out, size_t size)
{
	char name[SUBJECT_NAME_MAX] = "";
	const char *thread = thread_name(r, d->event.thread);
	if (description_has_size(d)) {
		snprintf(out, size, "%s of %" PRIu64 " bytes by thread %.100s, event %" PRIu64, rt_op_name(d->event.op),
		         d->event.arg, thread, d->event.number);
		return;
	}
	if (d->event.op == RT_OP_BLOCK) {
		char waits[WAITING_TEXT_MAX];
		waiting_text(r, d, waits);
		snprintf(out, size, "thread %.100s %.200s, event %" PRIu64, thread, waits, d->event.number);
		return;
	}
	subject_object_name(r, d->event.addr, subject_lock_block(d), name);
	snprintf(out, size, "%s of %.200s by thread %.100s, event %" PRIu64, rt_op_name(d->event.op),
	         *name ? name : "a lock", thread, d->event.number);
}

/* Schedules */

/* The part of a schedule that is shown, in its order: where turns of threads end, and the anomaly's events. */
struct flow_step {
	uint32_t event, thread;
	bool goal;
};

struct flows {
	const struct model *m;
	const struct anomaly *anomaly;
	struct flow_step steps[STEPS_MAX + ANOMALY_EVENTS_MAX];
	size_t count;
};

static void add_step(struct flows *f, uint32_t e, bool goal)
{
	if (f->count < sizeof f->steps / sizeof *f->steps)
		f->steps[f->count++] = (struct flow_step){.event = e, .thread = model_thread_of(f->m, e), .goal = goal};
}

/* The end of a step, and before that the anomaly's events that it runs. */
static void add_turn(struct flows *f, const struct schedule_step *step, bool *run)
{
	uint32_t end = f->m->threads[step->thread].events[step->to];
	bool at_end = false;
	for (uint32_t i = 0; i < f->anomaly->event_count; i++) {
		uint32_t e = f->anomaly->events[i], pos = f->m->events[e].pos;
		if (model_thread_of(f->m, e) != step->thread || pos < step->from || pos > step->to)
			continue;
		run[i] = true;
		at_end |= e == end;
		add_step(f, e, true);
	}
	if (!at_end)
		add_step(f, end, false);
}

static void flows_init(struct flows *f, const struct model *m, const struct anomaly *anomaly)
{
	const struct schedule *s = anomaly->schedule;
	bool run[ANOMALY_EVENTS_MAX] = {false};
	*f = (struct flows){.m = m, .anomaly = anomaly};
	for (uint32_t i = s->count > STEPS_MAX ? s->count - STEPS_MAX : 0; i < s->count; i++)
		add_turn(f, &s->steps[i], run);
	for (uint32_t i = 0; i < anomaly->event_count; i++)
		if (!run[i])
			add_step(f, anomaly->events[i], true);
}

static void put_step(struct writing *s, const struct flow_step *step, size_t order)
{
	char said[400];
	const struct model *m = s->r->analysis->model;
	const struct description *d = step->goal ? report_event(s->r, step->event) : NULL;
	if (d)
		say_event(s->r, d, said, sizeof said);
	else
		snprintf(said, sizeof said, "thread %.100s runs up to its event %" PRIu64,
		         thread_name(s->r, step->thread),
		         description_ordinal(s->r->descriptions, m->events[step->event].number));
	jw_object(&s->w, NULL);
	put_location_of_pc(s, "location", d ? d->event.pc : m->sites[m->events[step->event].site].pc, said);
	jw_number(&s->w, "executionOrder", order);
	jw_text(&s->w, "importance", step->goal ? "essential" : "important");
	jw_object_end(&s->w);
}

/* The steps of the first one's thread. */
static void put_thread_flow(struct writing *s, const struct flows *f, size_t first)
{
	uint32_t thread = f->steps[first].thread;
	jw_object(&s->w, NULL);
	jw_text(&s->w, "id", thread_name(s->r, thread));
	jw_array(&s->w, "locations");
	for (size_t i = first; i < f->count; i++)
		if (f->steps[i].thread == thread)
			put_step(s, &f->steps[i], i + 1);
	jw_array_end(&s->w);
	jw_object_end(&s->w);
}

static bool has_step(const struct flows *f, size_t n, uint32_t thread)
{
	for (size_t i = 0; i < n; i++)
		if (f->steps[i].thread == thread)
			return true;
	return false;
}

/* The schedule as a code flow: how far each thread runs, in turns, and the anomaly's own events. Thread flows are in
 * the order in which the threads first run. */
static void put_code_flow(struct writing *s, const struct anomaly *anomaly)
{
	struct flows f;
	flows_init(&f, s->r->analysis->model, anomaly);
	jw_object(&s->w, NULL);
	put_message(&s->w, "message",
	            anomaly->schedule->count > STEPS_MAX ? "a schedule that shows it; its first steps are left out"
	            : anomaly->guess                     ? "a guess at a schedule that shows it, and no proof"
	            : anomaly->need_count                ? "what shows it if reads see other writes than they saw"
	            : anomaly->uncertain ? "a schedule that shows it, if time stamps tell which writes were seen"
	                                 : "a schedule that shows it");
	jw_array(&s->w, "threadFlows");
	for (size_t i = 0; i < f.count; i++)
		if (!has_step(&f, i, f.steps[i].thread))
			put_thread_flow(s, &f, i);
	jw_array_end(&s->w);
	jw_object_end(&s->w);
}

/* Results */

static const char *level(enum verdict verdict)
{
	static const char *const levels[VERDICTS] = {
	    [VERDICT_REFUTED] = "none", [VERDICT_CONDITIONAL] = "none", [VERDICT_PREDICTED] = "warning",
	    [VERDICT_PROVED] = "error", [VERDICT_OBSERVED] = "error",   [VERDICT_CONFIRMED] = "error"};
	return levels[verdict];
}

/* A level other than "none" is allowed with "fail" only. */
static const char *kind(enum verdict verdict)
{
	return verdict == VERDICT_REFUTED ? "pass" : verdict == VERDICT_CONDITIONAL ? "review" : "fail";
}

static void put_result_message(struct writing *s, const char *key, const struct anomaly *anomaly)
{
	char said[1024];
	struct subject subject;
	int at = snprintf(said, sizeof said, "%s %s (%s)", verdict_name(anomaly->verdict),
	                  anomaly_kind_name(anomaly->kind), anomaly->pattern);
	if (subject_of(s->r, anomaly, &subject) && *subject.name && at > 0)
		at += snprintf(said + at, sizeof said - (size_t)at, " on %.500s", subject.name);
	if (*follows_under(s->r, anomaly) && at > 0)
		snprintf(said + at, sizeof said - (size_t)at, ", follows %s", follows_under(s->r, anomaly));
	put_message(&s->w, key, said);
}

/* The causes that it follows: ids of races, sentences on relaxed atomics. */
static void put_follows(struct writing *s, const char *key, const struct anomaly *anomaly)
{
	char text[FOLLOWS_TEXT_MAX];
	jw_array(&s->w, key);
	for (uint32_t i = 0; i < anomaly->cause_count; i++) {
		const struct cause *cause = follows_cause(s->r, anomaly, i);
		if (*follows_id(s->r, anomaly, i))
			jw_text(&s->w, NULL, follows_id(s->r, anomaly, i));
		if (cause->anomaly != MODEL_NONE)
			continue;
		follows_text(s->r, cause, text);
		jw_text(&s->w, NULL, text);
	}
	jw_array_end(&s->w);
}

static void put_properties(struct writing *s, const char *key, const struct report_entry *entry)
{
	struct json_writer *w = &s->w;
	const struct anomaly *anomaly = entry->anomaly;
	jw_object(w, key);
	jw_text(w, "id", entry->id);
	jw_text(w, "verdict", verdict_name(anomaly->verdict));
	jw_text(w, "pattern", anomaly->pattern);
	if (anomaly->verdict == VERDICT_PREDICTED) {
		char text[REASON_TEXT_MAX];
		jw_array(w, "reasons");
		for (int i = 0; i < REASONS; i++)
			if (reasons_has(&anomaly->reasons, (enum reason)i)) {
				reason_text(&anomaly->reasons, (enum reason)i, text);
				jw_text(w, NULL, text);
			}
		jw_array_end(w);
	}
	if (anomaly->follows)
		put_follows(s, "follows", anomaly);
	jw_array(w, "unorderedBy");
	for (int i = 0; i < 32 && orders[i].name; i++)
		if (anomaly->orders_run >> i & anomaly->orders_unordered >> i & 1)
			jw_text(w, NULL, orders[i].name);
	jw_array_end(w);
	jw_text(w, "witness", witness_name(anomaly->witness));
	jw_object_end(w);
}

/* Where the memory was allocated, and where the threads were created. */
static void put_related(struct writing *s, const char *key, const struct anomaly *anomaly)
{
	char said[300];
	struct subject subject;
	jw_array(&s->w, key);
	if (subject_of(s->r, anomaly, &subject) && subject.block.alloc) {
		const struct description *d = description_of(s->r->descriptions, subject.block.alloc);
		if (d)
			put_location_of_pc(s, NULL, d->event.pc, "the memory was allocated here");
	}
	for (uint32_t i = 0; i < anomaly->event_count; i++) {
		const struct description *d = report_event(s->r, anomaly->events[i]),
		                         *fork = d && d->fork ? description_of(s->r->descriptions, d->fork) : NULL;
		if (!fork)
			continue;
		snprintf(said, sizeof said, "thread %.200s was created here", thread_name(s->r, d->event.thread));
		put_location_of_pc(s, NULL, fork->event.pc, said);
	}
	jw_array_end(&s->w);
}

/* Where the anomaly's events are, alone or with their stacks. */
static void put_events(struct writing *s, const char *key, const struct anomaly *anomaly, bool stacks)
{
	char said[400];
	jw_array(&s->w, key);
	for (uint32_t i = 0; i < anomaly->event_count + anomaly->wait_count; i++) {
		uint32_t e = i < anomaly->event_count ? anomaly->events[i] : anomaly->waits[i - anomaly->event_count];
		const struct description *d = report_event(s->r, e);
		if (!d)
			continue;
		say_event(s->r, d, said, sizeof said);
		if (stacks)
			put_stack(s, NULL, d, said);
		else
			put_location_of_pc(s, NULL, d->event.pc, said);
	}
	jw_array_end(&s->w);
}

static void put_fingerprint(struct json_writer *w, const char *key, const struct report_entry *entry)
{
	jw_object(w, key);
	jw_text(w, "racetrace/v1", entry->fingerprint);
	jw_object_end(w);
}

static void put_result(struct writing *s, const struct report_entry *entry)
{
	const struct anomaly *anomaly = entry->anomaly;
	struct json_writer *w = &s->w;
	jw_object(w, NULL);
	jw_text(w, "ruleId", anomaly_kind_name(anomaly->kind));
	jw_number(w, "ruleIndex", anomaly->kind);
	jw_text(w, "kind", kind(anomaly->verdict));
	jw_text(w, "level", level(anomaly->verdict));
	put_result_message(s, "message", anomaly);
	put_events(s, "locations", anomaly, false);
	put_related(s, "relatedLocations", anomaly);
	put_events(s, "stacks", anomaly, true);
	if (anomaly->schedule) {
		jw_array(w, "codeFlows");
		put_code_flow(s, anomaly);
		jw_array_end(w);
	}
	put_fingerprint(w, "partialFingerprints", entry);
	put_fingerprint(w, "fingerprints", entry);
	jw_number(w, "occurrenceCount", entry->count);
	jw_real(w, "rank", entry->rank.value * 100);
	put_properties(s, "properties", entry);
	jw_object_end(w);
}

/* The run */

static void put_tool(struct json_writer *w)
{
	jw_object(w, NULL);
	jw_object(w, "driver");
	jw_text(w, "name", "racetrace");
	jw_text(w, "version", RT_VERSION);
	jw_array(w, "rules");
	for (int i = 0; i < ANOMALY_KINDS; i++) {
		jw_object(w, NULL);
		jw_text(w, "id", anomaly_kind_name((enum anomaly_kind)i));
		jw_text(w, "name", rules[i].name);
		put_message(w, "shortDescription", rules[i].text);
		jw_object_end(w);
	}
	jw_array_end(w);
	jw_object_end(w);
	jw_object_end(w);
}

/* Number of results of a run that code hosts accept. */
enum { RESULTS_MAX = 25000 };

static void put_notification(struct json_writer *w, const char *text)
{
	jw_object(w, NULL);
	jw_text(w, "level", "warning");
	put_message(w, "message", text);
	jw_object_end(w);
}

/* One invocation, that of the analysis; an incomplete trace and left-out results get a notification each. */
static void put_invocations(struct json_writer *w, const char *incomplete, size_t results)
{
	jw_array(w, NULL);
	jw_object(w, NULL);
	jw_bool(w, "executionSuccessful", !incomplete);
	jw_array(w, "toolExecutionNotifications");
	if (incomplete)
		put_notification(w, incomplete);
	if (results > RESULTS_MAX) {
		char text[128];
		snprintf(text, sizeof text, "%zu of %zu results are left out: as many as code hosts take are listed",
		         results - RESULTS_MAX, results);
		put_notification(w, text);
	}
	jw_array_end(w);
	jw_object_end(w);
	jw_array_end(w);
}

/* Each member of the log and of its run is on a line of its own, as each result is. */
static void next_line(struct writing *s, const char *text)
{
	fputs(text, s->w.out);
	s->w.more = false;
}

static void put_head(struct writing *s)
{
	next_line(s, "{\n\"$schema\": \"https://json.schemastore.org/sarif-2.1.0.json\",\n\"version\": "
	             "\"2.1.0\",\n\"runs\": [{\n\"tool\": ");
	put_tool(&s->w);
	next_line(s, ",\n\"invocations\": ");
	put_invocations(&s->w, s->r->incomplete, s->r->count);
	next_line(s, ",\n\"columnKind\": \"unicodeCodePoints\",\n\"results\": [");
}

enum rt_status report_sarif(const struct report *r, bool color, FILE *out, struct rt_error *err)
{
	struct writing s = {.w = {.out = out}, .r = r};
	(void)color;
	put_head(&s);
	for (size_t i = 0; i < r->count && i < RESULTS_MAX && !s.w.failed && !ferror(out); i++) {
		next_line(&s, i ? ",\n" : "\n");
		put_result(&s, &r->entries[i]);
	}
	fputs(r->count ? "\n]\n}]\n}\n" : "]\n}]\n}\n", out);
	pieces_release(&s.frames);
	return s.w.failed ? rt_error_set(err, RT_EMEMORY, "no memory for the report") : RT_OK;
}
