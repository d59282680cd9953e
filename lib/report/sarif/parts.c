/* Locations, events in words and schedules of the SARIF report; see sarif.h. */
#include "lib/report/deed.h"
#include "lib/report/sarif/sarif.h"

#include "lib/report/place.h"
#include "lib/report/waiting.h"

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#define BASE "SRCROOT" /* what paths below --source-root are relative to */

enum { STEPS_MAX = 100 }; /* last steps of a schedule that are written; the JSON report has all */

const char *sarif_thread_name(const struct report *r, uint32_t thread)
{
	const struct rt_trace_info *info = rt_trace_info(r->analysis->trace);
	return thread < info->thread_count ? info->threads[thread].name : "unknown";
}

/* {"text": ...} */
void sarif_message(struct json_writer *w, const char *key, const char *s)
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

void sarif_base(struct json_writer *w, const char *root)
{
	char folder[PATH_MAX + 2];
	snprintf(folder, sizeof folder, "%s/", root);
	jw_object(w, NULL);
	jw_object(w, BASE);
	put_uri(w, "uri", folder);
	jw_object_end(w);
	jw_object_end(w);
}

/* Locations */

static void put_physical(struct json_writer *w, const struct report *r, const char *key, const struct rt_frame *f)
{
	jw_object(w, key);
	jw_object(w, "artifactLocation");
	size_t root = r->base ? strlen(r->base) : 0;
	bool below = root && !strncmp(f->file, r->base, root) && f->file[root] == '/';
	put_uri(w, "uri", below ? f->file + root + 1 : f->file);
	/* What is relative is so to the base. */
	if (below || *f->file != '/')
		jw_text(w, "uriBaseId", BASE);
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
void sarif_location(struct json_writer *w, const struct report *r, const char *key, const struct rt_frame *f,
                    const char *said)
{
	char address[SUBJECT_NAME_MAX];
	jw_object(w, key);
	if (f->file)
		put_physical(w, r, "physicalLocation", f);
	subject_address(r, f->pc, address);
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
		sarif_message(w, "message", said);
	jw_object_end(w);
}

void sarif_result_location(struct sarif *s, const struct rt_frame *f, uint64_t event, const char *said)
{
	struct rt_frame known = *f;
	const struct rt_trace_info *info = rt_trace_info(s->r->analysis->trace);
	if (!known.file) {
		bool is_text = !f->module && !strcmp(info->format, "std") && event <= UINT32_MAX;
		known.file = f->module ? f->module : strcmp(info->path, "-") != 0 ? info->path : "standard-input";
		known.line = is_text ? (uint32_t)event : 1;
	}
	sarif_location(&s->w, s->r, NULL, &known, said);
}

void sarif_location_of_pc(struct sarif *s, const char *key, uint64_t pc, const char *said)
{
	const struct rt_frame f = subject_frame_or_pc(s->r, pc);
	sarif_location(&s->w, s->r, key, &f, said);
}

/* The frames of a program counter, inlined ones included, as elements of a stack. */
static void make_frames(FILE *out, uint64_t pc, const void *report)
{
	const struct report *r = report;
	struct json_writer w = {.out = out};
	size_t n = 0;
	const struct rt_frame nothing = {.pc = pc}, *known = rt_trace_frames(r->analysis->trace, pc, &n);
	for (size_t k = 0; k < (n ? n : 1); k++) {
		const struct rt_frame *f = n ? &known[k] : &nothing;
		jw_object(&w, NULL);
		sarif_location(&w, r, "location", f, NULL);
		if (f->module)
			jw_text(&w, "module", f->module);
		jw_object_end(&w);
	}
}

void sarif_stack(struct sarif *s, const char *key, const struct description *d, const char *said)
{
	struct json_writer *w = &s->w;
	jw_object(w, key);
	sarif_message(w, "message", said);
	jw_array(w, "frames");
	for (size_t i = 0; i < d->stack_count; i++) {
		jw_value(w, NULL);
		if (!pieces_write(&s->frames, d->stack[i], make_frames, s->r, w->out))
			w->failed = true;
	}
	jw_array_end(w);
	jw_object_end(w);
}

/* An event in words: "write of 4 bytes by main.1 (event 7)". */
void sarif_say_event(const struct report *r, const struct description *d, char *out, size_t size)
{
	char name[SUBJECT_NAME_MAX] = "";
	const char *thread = sarif_thread_name(r, d->event.thread);
	if (description_has_size(d)) {
		snprintf(out, size, "%s of %" PRIu64 " bytes by thread %.100s, event %" PRIu64,
		         deed_operation(d->event.op), d->event.arg, thread, d->event.number);
		return;
	}
	if (waiting_op(d)) {
		char waits[WAITING_TEXT_MAX];
		waiting_text(r, d, waits);
		snprintf(out, size, "thread %.100s %.200s, event %" PRIu64, thread, waits, d->event.number);
		return;
	}
	place_lock_name(r, d->event.addr, subject_lock_block(d), d, name);
	snprintf(out, size, "%s of %.200s by thread %.100s, event %" PRIu64, deed_operation(d->event.op),
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

static void put_step(struct sarif *s, const struct flow_step *step, size_t order)
{
	char said[400];
	const struct model *m = s->r->analysis->model;
	const struct description *d = step->goal ? report_event(s->r, step->event) : NULL;
	if (d)
		sarif_say_event(s->r, d, said, sizeof said);
	else
		snprintf(said, sizeof said, "thread %.100s runs up to its event %" PRIu64,
		         sarif_thread_name(s->r, step->thread),
		         description_ordinal(s->r->descriptions, m->events[step->event].number));
	jw_object(&s->w, NULL);
	uint64_t pc = m->sites[m->events[step->event].site].pc;
	struct place place = d ? place_of(s->r, step->event) : place_of_stack(s->r, &pc, 1);
	if (place.frame)
		sarif_location(&s->w, s->r, "location", place.frame, said);
	else
		sarif_location_of_pc(s, "location", pc, said);
	jw_number(&s->w, "executionOrder", order);
	jw_text(&s->w, "importance", step->goal ? "essential" : "important");
	jw_object_end(&s->w);
}

/* The steps of the first one's thread. */
static void put_thread_flow(struct sarif *s, const struct flows *f, size_t first)
{
	uint32_t thread = f->steps[first].thread;
	jw_object(&s->w, NULL);
	jw_text(&s->w, "id", sarif_thread_name(s->r, thread));
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

/* What the code flow is. The schedule of a later window goes on where the events before it end. */
static void say_flow(const struct model *m, const struct anomaly *anomaly, char *said, size_t size)
{
	const char *what = anomaly->schedule->count > STEPS_MAX
	                       ? "a schedule that shows it; its first steps are left out"
	                   : anomaly->guess      ? "a guess at a schedule that shows it, and no proof"
	                   : anomaly->need_count ? "what shows it if reads see other writes than they saw"
	                   : anomaly->uncertain ? "a schedule that shows it, if time stamps tell which writes were seen"
	                                        : "a schedule that shows it";
	if (m->recorded)
		snprintf(said, size, "after events 1-%" PRIu64 " as recorded: %s", m->recorded, what);
	else
		snprintf(said, size, "%s", what);
}

/* The schedule as a code flow: how far each thread runs, in turns, and the anomaly's own events. Thread flows are in
 * the order in which the threads first run. */
void sarif_code_flow(struct sarif *s, const struct anomaly *anomaly)
{
	struct flows f;
	char said[200];
	flows_init(&f, s->r->analysis->model, anomaly);
	say_flow(s->r->analysis->model, anomaly, said, sizeof said);
	jw_object(&s->w, NULL);
	sarif_message(&s->w, "message", said);
	jw_array(&s->w, "threadFlows");
	for (size_t i = 0; i < f.count; i++)
		if (!has_step(&f, i, f.steps[i].thread))
			put_thread_flow(s, &f, i);
	jw_array_end(&s->w);
	jw_object_end(&s->w);
}
