/*
 * The report as SARIF 2.1.0 (OASIS), which code hosts and editors show beside the source. It has one result for each
 * finding, with its places as locations. Or it has one for each anomaly, with its events as locations, their call
 * stacks, and the schedule as a code flow with one thread flow for each thread.
 */
#include "lib/report/sarif/sarif.h"
#include "lib/report/follows.h"
#include "lib/report/formats.h"
#include "lib/report/merge.h"

#include <string.h>

/* What a build without a homepage names as the place to learn about the tool. */
#define MANUAL "man:racetrace(1)"
#ifndef RT_HOMEPAGE
#define RT_HOMEPAGE ""
#endif

/* uri: of the class of weaknesses that it belongs to. */
static const struct {
	const char *name, *text, *more, *help, *uri;
} rules[ANOMALY_KINDS] = {
    [ANOMALY_RACE] =
        {"DataRace", "Two threads access the same memory, one of them writes, and nothing orders them.",
         "The program's behavior is undefined then: values may be torn or stale, and compilers assume that it does not "
         "happen.",
         "Hold one lock at both places, make both accesses atomic, or order them by a join or another hand-over.",
         "https://cwe.mitre.org/data/definitions/362.html"},
    [ANOMALY_ATOMICITY] = {"AtomicityViolation",
                           "Another thread's access comes between two of one atomic region, and "
                           "no serial execution of the region has the same outcome.",
                           "What the region read first no longer holds when it acts on it, though each access is "
                           "ordered by a lock.",
                           "Keep the accesses that belong together in one critical section of a lock that every other "
                           "access holds, too.",
                           "https://cwe.mitre.org/data/definitions/366.html"},
    [ANOMALY_ASV] = {"AtomicSetSerializabilityViolation",
                     "Accesses of several variables of one atomic region interleave with another thread's as in no "
                     "serial execution.",
                     "Variables that belong together are seen in a state that no thread has left them in.",
                     "Access the variables that belong together under one lock everywhere.",
                     "https://cwe.mitre.org/data/definitions/366.html"},
    [ANOMALY_DEADLOCK] = {"DeadlockedThreads",
                          "Threads wait for locks that the others of them hold, or for one another's end.",
                          "None of them can go on.", "Acquire the locks in the same order everywhere.",
                          "https://cwe.mitre.org/data/definitions/833.html"},
    [ANOMALY_HANG] = {"HangingThreads", "Threads wait for what no thread that could still run would give them.",
                      "A signal was lost, or nothing is left that would send it.",
                      "Wait only while a condition says so, and signal, post or release after each change of it.",
                      "https://cwe.mitre.org/data/definitions/833.html"},
    [ANOMALY_PATTERN] = {"UserPattern", "The events match a pattern of the user's.",
                         "The pattern's file says what it means.", "See racetrace-patterns(5).", NULL},
};

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

static void put_result_message(struct sarif *s, const char *key, const struct anomaly *anomaly)
{
	char said[1024];
	struct subject subject;
	int at = snprintf(said, sizeof said, "%s %s (%s)", verdict_name(anomaly->verdict),
	                  anomaly_kind_name(anomaly->kind), anomaly->pattern);
	if (subject_of(s->r, anomaly, &subject) && *subject.name && at > 0)
		at += snprintf(said + at, sizeof said - (size_t)at, " on %.500s", subject.name);
	if (*follows_under(s->r, anomaly) && at > 0)
		snprintf(said + at, sizeof said - (size_t)at, ", follows %s", follows_under(s->r, anomaly));
	sarif_message(&s->w, key, said);
}

/* The causes that it follows: ids of races, sentences on relaxed atomics. */
static void put_follows(struct sarif *s, const char *key, const struct anomaly *anomaly)
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

static void put_properties(struct sarif *s, const char *key, const struct report_entry *entry)
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
		for (int next = 0; reasons_next(&anomaly->reasons, &next, text);)
			jw_text(w, NULL, text);
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
static void put_related(struct sarif *s, const char *key, const struct anomaly *anomaly)
{
	char said[300];
	struct subject subject;
	uint64_t forks[ANOMALY_EVENTS_MAX];
	size_t n = 0;
	jw_array(&s->w, key);
	if (subject_of(s->r, anomaly, &subject) && subject.block.alloc) {
		const struct description *d = description_of(s->r->descriptions, subject.block.alloc);
		if (d)
			sarif_location_of_pc(s, NULL, d->event.pc, "the memory was allocated here");
	}
	for (uint32_t i = 0; i < anomaly->event_count; i++) {
		const struct description *d = report_event(s->r, anomaly->events[i]),
		                         *fork = d && d->fork ? description_of(s->r->descriptions, d->fork) : NULL;
		bool seen = !fork;
		for (size_t k = 0; k < n && !seen; k++)
			seen = forks[k] == d->fork;
		if (seen)
			continue;
		forks[n++] = d->fork;
		snprintf(said, sizeof said, "thread %.200s was created here", sarif_thread_name(s->r, d->event.thread));
		sarif_location_of_pc(s, NULL, fork->event.pc, said);
	}
	jw_array_end(&s->w);
}

/* Where the anomaly's events are, alone or with their stacks. */
static void put_events(struct sarif *s, const char *key, const struct anomaly *anomaly, bool stacks)
{
	char said[400];
	jw_array(&s->w, key);
	for (uint32_t i = 0; i < anomaly->event_count + anomaly->wait_count; i++) {
		uint32_t e = i < anomaly->event_count ? anomaly->events[i] : anomaly->waits[i - anomaly->event_count];
		const struct description *d = report_event(s->r, e);
		if (!d)
			continue;
		sarif_say_event(s->r, d, said, sizeof said);
		if (stacks)
			sarif_stack(s, NULL, d, said);
		else
			sarif_location_of_pc(s, NULL, d->event.pc, said);
	}
	jw_array_end(&s->w);
}

static void put_fingerprint(struct json_writer *w, const char *key, const struct report_entry *entry)
{
	jw_object(w, key);
	jw_text(w, "racetrace/v1", entry->fingerprint);
	jw_object_end(w);
}

static void put_result(struct sarif *s, const struct report_entry *entry)
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
		sarif_code_flow(s, anomaly);
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
	jw_text(w, "semanticVersion", RT_VERSION);
	jw_text(w, "informationUri", *RT_HOMEPAGE ? RT_HOMEPAGE : MANUAL);
	jw_array(w, "rules");
	for (int i = 0; i < ANOMALY_KINDS; i++) {
		jw_object(w, NULL);
		jw_text(w, "id", anomaly_kind_name((enum anomaly_kind)i));
		jw_text(w, "name", rules[i].name);
		sarif_message(w, "shortDescription", rules[i].text);
		char full[512];
		snprintf(full, sizeof full, "%s %s", rules[i].text, rules[i].more);
		sarif_message(w, "fullDescription", full);
		sarif_message(w, "help", rules[i].help);
		if (rules[i].uri)
			jw_text(w, "helpUri", rules[i].uri);
		jw_object_end(w);
	}
	jw_array_end(w);
	jw_object_end(w);
	jw_object_end(w);
}

/* Number of results of a run that code hosts accept. */
enum { RESULTS_MAX = 25000 };

static void put_notification(struct json_writer *w, const char *level, const char *text)
{
	jw_object(w, NULL);
	jw_text(w, "level", level);
	sarif_message(w, "message", text);
	jw_object_end(w);
}

/* What the runs of a merged report were. */
static void put_runs(struct json_writer *w, const struct merge *m)
{
	char text[512];
	size_t unlisted = merge_runs_text(m, text, sizeof text);
	put_notification(w, "note", text);
	if (merge_search_text(m, text, sizeof text))
		put_notification(w, "note", text);
	if (!unlisted)
		return;
	snprintf(text, sizeof text, "further anomalies of these findings in %zu %s are not listed", unlisted,
	         merge_units(m, unlisted));
	put_notification(w, "note", text);
}

/* One invocation, that of the analysis; an incomplete trace and left-out results get a notification each. */
static void put_invocations(struct sarif *s, const char *incomplete, size_t results)
{
	struct json_writer *w = &s->w;
	jw_array(w, NULL);
	jw_object(w, NULL);
	jw_bool(w, "executionSuccessful", !incomplete);
	jw_array(w, "toolExecutionNotifications");
	if (incomplete)
		put_notification(w, "warning", incomplete);
	if (results > RESULTS_MAX) {
		char text[128];
		snprintf(text, sizeof text, "%zu of %zu results are left out: as many as code hosts take are listed",
		         results - RESULTS_MAX, results);
		put_notification(w, "warning", text);
	}
	if (s->merged)
		put_runs(w, s->merged);
	jw_array_end(w);
	jw_object_end(w);
	jw_array_end(w);
}

/* Each member of the log and of its run is on a line of its own, as each result is. */
static void next_line(struct sarif *s, const char *text)
{
	fputs(text, s->w.out);
	s->w.more = false;
}

static size_t results(const struct report *r)
{
	return r->by_anomaly ? r->count : r->findings->count;
}

static void put_head(struct sarif *s, const char *incomplete, size_t count)
{
	next_line(s, "{\n\"$schema\": \"https://json.schemastore.org/sarif-2.1.0.json\",\n\"version\": "
	             "\"2.1.0\",\n\"runs\": [{\n\"tool\": ");
	put_tool(&s->w);
	next_line(s, ",\n\"invocations\": ");
	put_invocations(s, incomplete, count);
	if (s->r->base) {
		next_line(s, ",\n\"originalUriBaseIds\": ");
		sarif_base(&s->w, s->r->base);
	}
	next_line(s, ",\n\"columnKind\": \"unicodeCodePoints\",\n\"results\": [");
}

enum rt_status report_sarif(const struct report *r, bool color, FILE *out, struct rt_error *err)
{
	struct sarif s = {.w = {.out = out}, .r = r};
	(void)color;
	put_head(&s, r->incomplete, results(r));
	for (size_t i = 0; i < results(r) && i < RESULTS_MAX && !s.w.failed && !ferror(out); i++) {
		next_line(&s, i ? ",\n" : "\n");
		if (r->by_anomaly)
			put_result(&s, &r->entries[i]);
		else
			sarif_finding(&s, &r->findings->items[i], NULL);
	}
	fputs(results(r) ? "\n]\n}]\n}\n" : "]\n}]\n}\n", out);
	pieces_release(&s.frames);
	return s.w.failed ? rt_error_set(err, RT_EMEMORY, "no memory for the report") : RT_OK;
}

/* How a run ended has no place in the source: the program is what it is about. */
static void put_incident(struct sarif *s, const struct merge *m, const struct merged_finding *f)
{
	const char *const *command = rt_trace_info(s->r->analysis->trace)->command;
	const struct rt_frame program = {.file = command ? command[0] : NULL};
	char seen[4096], text[FINDING_TEXT_MAX + sizeof seen];
	struct json_writer *w = &s->w;
	merge_repeat_text(m, f, seen, sizeof seen);
	snprintf(text, sizeof text, "%s, %s", f->incident->title, seen);
	jw_object(w, NULL);
	jw_text(w, "ruleId", incident_kind_name(f->incident->kind));
	jw_text(w, "level", finding_level_name(f->level));
	sarif_known(s, f->known, f->suppressed);
	sarif_message(w, "message", text);
	jw_array(w, "locations");
	sarif_location(w, s->r, NULL, &program, NULL);
	jw_array_end(w);
	jw_object(w, "partialFingerprints");
	jw_text(w, "racetrace/v1", f->fingerprint);
	jw_object_end(w);
	jw_number(w, "occurrenceCount", f->run_count);
	jw_object_end(w);
}

enum rt_status report_sarif_merged(const struct merge *m, bool color, FILE *out, struct rt_error *err)
{
	struct sarif s = {.w = {.out = out}, .r = merge_any_report(m), .merged = m};
	(void)color;
	char lacking[4096];
	bool incomplete = merge_incomplete_text(m, lacking, sizeof lacking);
	put_head(&s, incomplete ? lacking : NULL, m->count);
	for (size_t i = 0; i < m->count && i < RESULTS_MAX && !s.w.failed && !ferror(out); i++) {
		const struct merged_finding *f = &m->items[i];
		next_line(&s, i ? ",\n" : "\n");
		if (f->finding && f->report != s.r) {
			pieces_release(&s.frames); /* they are of the other trace */
			s.r = f->report;
		}
		if (f->finding)
			sarif_finding(&s, f->finding, f);
		else
			put_incident(&s, m, f);
	}
	fputs(m->count ? "\n]\n}]\n}\n" : "]\n}]\n}\n", out);
	pieces_release(&s.frames);
	return s.w.failed ? rt_error_set(err, RT_EMEMORY, "no memory for the report") : RT_OK;
}
