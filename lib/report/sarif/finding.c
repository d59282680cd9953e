/* A finding as a SARIF result: its first place is where code hosts show it, the others are related locations. */
#include "lib/report/declaration.h"
#include "lib/report/deed.h"
#include "lib/report/merge.h"
#include "lib/report/sarif/sarif.h"

#include <stdio.h>
#include <string.h>

static void say_place(const struct report *r, const struct finding_place *p, char *said, size_t size)
{
	const struct description *d = report_event(r, p->e);
	char name[SUBJECT_NAME_MAX] = "";
	if (d && d->lock_count && !declaration_at_place(r, &d->locks[0], name))
		place_held_name(r, &d->locks[0], name);
	snprintf(said, size, "thread %.100s %s here, holding %.200s%s",
	         d ? sarif_thread_name(r, d->event.thread) : "unknown", finding_does(r, p),
	         !d || !d->lock_count ? "no lock"
	         : name[0]            ? name
	                              : "a lock",
	         d && d->lock_count > 1 ? " and others" : "");
}

static void put_place(struct sarif *s, const struct finding_place *p)
{
	char said[400];
	const struct rt_frame nothing = {.pc = p->place.pc};
	say_place(s->r, p, said, sizeof said);
	sarif_location(&s->w, s->r, NULL, p->place.frame ? p->place.frame : &nothing, said);
}

/* The other places, what other threads do at one of them, where the block was allocated, where the threads were
 * created: each once. */
static void put_related(struct sarif *s, const struct finding *f, size_t first)
{
	const struct anomaly *a = s->r->entries[f->entries[0]].anomaly;
	uint64_t forks[ANOMALY_EVENTS_MAX];
	struct finding_place other;
	struct subject subject;
	char said[300];
	size_t n = 0;
	for (size_t i = 0; i < f->place_count; i++)
		if (i != first)
			put_place(s, &f->places[i]);
	for (uint32_t i = 0; i < a->event_count; i++)
		if (finding_other_at_place(s->r, f, i, &other))
			put_place(s, &other);
	const struct description *alloc =
	    subject_of(s->r, a, &subject) ? description_of(s->r->descriptions, subject.block.alloc) : NULL;
	if (alloc) {
		struct place place = place_of_allocation(s->r, alloc);
		if (place.frame && place.frame->file)
			sarif_location(&s->w, s->r, NULL, place.frame, "the memory was allocated here");
	}
	for (uint32_t i = 0; i < a->event_count; i++) {
		const struct description *d = report_event(s->r, a->events[i]);
		const struct description *fork = d && d->fork ? description_of(s->r->descriptions, d->fork) : NULL;
		bool known = !fork;
		for (size_t k = 0; k < n && !known; k++)
			known = forks[k] == d->fork;
		if (known)
			continue;
		forks[n++] = d->fork;
		struct place place = place_of_stack(s->r, fork->stack, fork->stack_count);
		snprintf(said, sizeof said, "thread %.200s was created here", sarif_thread_name(s->r, d->event.thread));
		if (place.frame && place.frame->file)
			sarif_location(&s->w, s->r, NULL, place.frame, said);
	}
}

static void put_message(struct sarif *s, const struct finding *f, const struct merged_finding *in)
{
	char text[FINDING_TEXT_MAX], guard[FINDING_TEXT_MAX], fix[FINDING_TEXT_MAX], seen[4096] = "";
	char said[3 * FINDING_TEXT_MAX + sizeof seen + 64];
	finding_title(s->r, f, text);
	finding_fix(s->r, f, fix);
	bool guarded = finding_guard_text(f, guard);
	if (in) {
		merge_repeat_text(s->merged, in, seen, sizeof seen);
		seen[0] = 'S'; /* a sentence of its own */
	}
	snprintf(said, sizeof said, "%s (%s).%s%s%s%s%s%s%s%s", text, verdict_name(f->verdict),
	         guarded ? " Guard: " : "", guard, guarded ? "." : "", fix[0] ? " Fix: " : "", fix, fix[0] ? "." : "",
	         in ? " " : "", seen);
	sarif_message(&s->w, "message", said);
}

static void put_properties(struct sarif *s, const struct finding *f, const struct merged_finding *in)
{
	struct json_writer *w = &s->w;
	jw_object(w, "properties");
	jw_text(w, "id", f->id);
	jw_text(w, "verdict", verdict_name(f->verdict));
	jw_array(w, "anomalies");
	for (size_t i = 0; i < merge_entry_count(f, in); i++) {
		struct merge_entry e = merge_entry_at(s->r, f, in, i);
		jw_text(w, NULL, e.report->entries[e.entry].id);
	}
	jw_array_end(w);
	if (f->follows)
		jw_text(w, "follows", f->follows->id);
	jw_object_end(w);
}

/* The place to change or, if no file is known of it, another one. */
static size_t place_to_show(const struct report *r, const struct finding *f)
{
	size_t first = finding_main_place(r, f);
	for (size_t i = 0; i <= f->place_count; i++) {
		size_t at = i ? i - 1 : first;
		if (at < f->place_count && f->places[at].place.frame && f->places[at].place.frame->file)
			return at;
	}
	return first;
}

void sarif_known(struct sarif *s, bool known, bool suppressed)
{
	struct json_writer *w = &s->w;
	if (s->r->baseline)
		jw_text(w, "baselineState", known && !suppressed ? "unchanged" : "new");
	if (!suppressed)
		return;
	jw_array(w, "suppressions");
	jw_object(w, NULL);
	jw_text(w, "kind", "external");
	jw_object_end(w);
	jw_array_end(w);
}

void sarif_finding(struct sarif *s, const struct finding *f, const struct merged_finding *in)
{
	const struct report_entry *entry = &s->r->entries[f->entries[0]];
	const struct anomaly *a = entry->anomaly;
	struct json_writer *w = &s->w;
	size_t first = place_to_show(s->r, f);
	char said[400];
	jw_object(w, NULL);
	jw_text(w, "ruleId", anomaly_kind_name(a->kind));
	jw_number(w, "ruleIndex", a->kind);
	jw_text(w, "kind", "fail");
	jw_text(w, "level", finding_level_name(f->level));
	sarif_known(s, f->known, f->suppressed);
	put_message(s, f, in);
	jw_array(w, "locations");
	if (f->place_count) {
		const struct finding_place *p = &f->places[first];
		const struct rt_frame nothing = {.pc = p->place.pc};
		say_place(s->r, p, said, sizeof said);
		sarif_result_location(s, p->place.frame ? p->place.frame : &nothing,
		                      s->r->analysis->model->events[p->e].number, said);
	}
	jw_array_end(w);
	jw_array(w, "relatedLocations");
	put_related(s, f, first);
	jw_array_end(w);
	jw_array(w, "stacks");
	for (uint32_t i = 0; i < a->event_count + a->wait_count; i++) {
		const struct description *d =
		    report_event(s->r, i < a->event_count ? a->events[i] : a->waits[i - a->event_count]);
		if (!d)
			continue;
		sarif_say_event(s->r, d, said, sizeof said);
		sarif_stack(s, NULL, d, said);
	}
	jw_array_end(w);
	if (a->schedule) {
		jw_array(w, "codeFlows");
		sarif_code_flow(s, a);
		jw_array_end(w);
	}
	jw_object(w, "partialFingerprints");
	jw_text(w, "racetraceFinding/v1", f->fingerprint);
	jw_object_end(w);
	jw_real(w, "rank", entry->rank.value * 100);
	if (in)
		jw_number(w, "occurrenceCount", in->run_count);
	put_properties(s, f, in);
	jw_object_end(w);
}
