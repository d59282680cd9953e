/* Findings in JSON; see findings.h. Their anomalies say the rest, by id. */
#include "lib/report/json/findings.h"
#include "lib/report/deed.h"

#include <string.h>

bool json_lists(const struct json_report *j, const struct report *r, const struct finding *f, size_t k)
{
	if (k >= f->entry_count) /* of another run */
		return !j->cut;
	enum anomaly_kind kind = r->entries[f->entries[k]].anomaly->kind;
	return k < j->each || (kind != ANOMALY_ATOMICITY && kind != ANOMALY_ASV);
}

/* Number of anomalies that are listed of each finding with `each`, and of other runs those if nothing is cut. */
static uint64_t listed_with(struct json_report *j, const struct merge *m, size_t each, bool cut)
{
	uint64_t n = 0;
	size_t count = m ? m->count : j->r->findings->count;
	j->each = each;
	j->cut = cut;
	for (size_t i = 0; i < count; i++) {
		const struct report *r = m ? m->items[i].report : j->r;
		const struct finding *f = m ? m->items[i].finding : &j->r->findings->items[i];
		size_t entries = m ? m->items[i].entry_count : f->entry_count;
		for (size_t k = 0; f && k < entries; k++)
			n += json_lists(j, r, f, k);
	}
	return n;
}

/* The first of each finding is listed in any case. */
void json_choose_listed(struct json_report *j, const struct merge *m)
{
	uint64_t most = j->r->analysis->limits.of[LIMIT_LISTED_ANOMALIES], all = listed_with(j, m, SIZE_MAX, false);
	size_t each = 1;
	if (j->r->by_anomaly || j->r->finding || all <= most)
		return;
	while (each <= all && listed_with(j, m, 2 * each, true) <= most)
		each *= 2;
	j->cut = listed_with(j, m, each, true) < all;
}

static void put_place(struct json_writer *w, const struct report *r, const struct finding_place *p)
{
	char function[PLACE_FUNCTION_MAX];
	const struct rt_frame *f = p->place.frame;
	struct place callee = {.frame = p->place.callee};
	jw_object(w, NULL);
	jw_text(w, "file", f ? f->file : NULL);
	jw_number_or_null(w, "line", f ? f->line : 0);
	if (f && f->text)
		jw_text(w, "text", f->text);
	if (f && f->function)
		place_function(&p->place, function);
	jw_text(w, "function", f && f->function ? function : NULL);
	const char *what = deed_kind(r, p), *does = finding_does(r, p);
	jw_text(w, "what", what);
	if (strcmp(what, does) != 0)
		jw_text(w, "does", does);
	if (callee.frame) {
		place_function(&callee, function);
		jw_text(w, "calls", function);
	}
	jw_number(w, "event", r->analysis->model->events[p->e].number);
	jw_object_end(w);
}

static void put_variable(struct json_writer *w, const struct report *r, const struct finding *f)
{
	struct subject s;
	if (!subject_of(r, r->entries[f->entries[0]].anomaly, &s)) {
		jw_null(w, "variable");
		return;
	}
	jw_object(w, "variable");
	jw_text_or_null(w, "name", s.name);
	jw_text(w, "kind", s.kind);
	if (f->written[0])
		jw_text(w, "written", f->written);
	if (f->member[0])
		jw_text(w, "member", f->member);
	jw_number_or_null(w, "size", s.size);
	jw_object_end(w);
}

static void put_guard(struct json_writer *w, const struct report *r, const struct finding *f)
{
	if (f->guard.lock == MODEL_NONE) {
		jw_null(w, "guard");
		return;
	}
	jw_object(w, "guard");
	jw_text_or_null(w, "lock", f->guard_name);
	if (strcmp(f->guard_written, f->guard_name) != 0)
		jw_text(w, "written", f->guard_written);
	if (strcmp(f->guard_words, f->guard_written) != 0)
		jw_text(w, "member", f->guard_words);
	jw_number(w, "held", f->guard.held);
	jw_number(w, "of", f->guard.of);
	jw_array(w, "without");
	for (size_t i = 0; i < f->place_count; i++)
		if (!f->places[i].guarded)
			put_place(w, r, &f->places[i]);
	jw_array_end(w);
	jw_object_end(w);
}

/* RacerX's questions as counts. */
static void put_uses(struct json_writer *w, const struct finding *f)
{
	if (!f->uses.accesses)
		return;
	jw_object(w, "uses");
	jw_number(w, "accesses", f->uses.accesses);
	jw_number(w, "writes", f->uses.writes);
	jw_number(w, "threads", f->uses.threads);
	jw_array(w, "reached");
	for (int i = 0; i < 2; i++)
		jw_number(w, NULL, f->uses.reached[i]);
	jw_array_end(w);
	jw_object_end(w);
}

void json_finding(struct json_report *j, const struct report *r, const struct finding *f)
{
	json_finding_open(j, r, f, NULL);
	jw_object_end(&j->w);
}

static void put_ids(struct json_report *j, const struct report *r, const struct finding *f,
                    const struct merged_finding *in)
{
	struct json_writer *w = &j->w;
	size_t listed = 0, count = merge_entry_count(f, in);
	jw_array(w, "anomalies");
	for (size_t i = 0; i < count; i++) {
		struct merge_entry e = merge_entry_at(r, f, in, i);
		if (!json_lists(j, r, f, i))
			continue;
		jw_text(w, NULL, e.report->entries[e.entry].id);
		listed++;
	}
	jw_array_end(w);
	if (listed < count)
		jw_number(w, "anomalies_count", count);
}

void json_finding_open(struct json_report *j, const struct report *r, const struct finding *f,
                       const struct merged_finding *in)
{
	struct json_writer *w = &j->w;
	char text[FINDING_TEXT_MAX];
	uint32_t kinds = merge_kinds(f, in);
	jw_object(w, NULL);
	jw_text(w, "id", f->id);
	jw_text(w, "level", finding_level_name(in ? in->level : f->level));
	finding_title(r, f, text);
	jw_text(w, "title", text);
	jw_text(w, "verdict", verdict_name(in ? in->verdict : f->verdict));
	jw_array(w, "kinds");
	for (int i = 0; i < ANOMALY_KINDS; i++)
		if (kinds >> i & 1)
			jw_text(w, NULL, anomaly_kind_name((enum anomaly_kind)i));
	jw_array_end(w);
	put_variable(w, r, f);
	jw_array(w, "places");
	for (size_t i = 0; i < f->place_count; i++)
		put_place(w, r, &f->places[i]);
	jw_array_end(w);
	if (f->place_total > f->place_count)
		jw_number(w, "places_count", f->place_total);
	put_ids(j, r, f, in);
	jw_text(w, "follows", f->follows ? f->follows->id : NULL);
	put_guard(w, r, f);
	put_uses(w, f);
	finding_fix(r, f, text);
	jw_text_or_null(w, "fix", text);
	jw_text(w, "fingerprint", f->fingerprint);
	if (f->suppressed)
		jw_bool(w, "suppressed", true);
	else if (f->known)
		jw_bool(w, "known", true);
}
