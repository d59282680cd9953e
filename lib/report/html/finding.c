/*
 * Findings on the HTML page: a list of all, then each error and warning with its places side by side and its schedule;
 * its anomalies are folded below. Notes are in a folded list.
 */
#include "lib/base/memory_file.h"
#include "lib/report/declaration.h"
#include "lib/report/deed.h"
#include "lib/report/follows.h"
#include "lib/report/html/html.h"
#include "lib/report/merge.h"
#include "lib/report/waiting.h"

#include <inttypes.h>
#include <string.h>

enum { VARIANTS_MAX = 50 };

static void put_text(const struct page *p, void (*make)(const struct report *, const struct finding *, char *),
                     const struct finding *f)
{
	char text[FINDING_TEXT_MAX];
	make(p->r, f, text);
	html_put_marked(p, text);
}

bool html_is_shown(const struct finding *f)
{
	return f->level > LEVEL_NOTE && !f->known;
}

void html_put_cells(const struct page *p, const struct finding *f)
{
	const char *level = finding_level_name(f->level);
	fputs("<tr", p->out);
	html_put_choice(p, level, merge_kinds(f, p->of));
	fprintf(p->out, html_is_shown(f) ? "><td><a href=\"#%s\">%s</a>" : "><td>%.0s%s", f->id, f->id);
	fprintf(p->out, "</td><td class=\"%s\">%s</td><td>%s</td><td>", level, level, verdict_name(f->verdict));
	put_text(p, finding_title, f);
	fprintf(p->out, "</td><td>%zu</td>", merge_entry_count(f, p->of));
}

void html_put_columns(const struct page *p, const char *label, const char *more)
{
	fprintf(p->out,
	        "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"%s\">\n<table "
	        "class=\"list\">\n<thead><tr><th scope=\"col\">id</th><th scope=\"col\">level</th><th "
	        "scope=\"col\">verdict</th><th scope=\"col\">finding</th><th "
	        "scope=\"col\">anomalies</th>%s</tr></thead>\n<tbody>\n",
	        label, more);
}

static void put_list(const struct page *p, bool notes)
{
	const struct findings *f = p->r->findings;
	html_put_columns(p, notes ? "notes" : "findings", "");
	for (size_t i = 0; i < f->count && !ferror(p->out); i++) {
		if ((f->items[i].level == LEVEL_NOTE) != notes || f->items[i].known)
			continue;
		html_put_cells(p, &f->items[i]);
		fputs("</tr>\n", p->out);
	}
	fputs("</tbody>\n</table>\n</div>\n", p->out);
}

/* waits: as in text. */
static void put_locks(const struct page *p, const struct description *d, bool waits)
{
	char name[SUBJECT_NAME_MAX];
	fputs(d->lock_count ? ", holding " : ", holding no lock", p->out);
	for (size_t i = 0; i < d->lock_count; i++) {
		fputs(i ? ", " : "", p->out);
		if (!waits && declaration_at_place(p->r, &d->locks[i], name))
			html_put(p, name);
		else
			html_put_lock(p, d->locks[i].addr, &d->locks[i].block, place_taken(p->r, &d->locks[i]));
		fputs(d->locks[i].shared ? " as a reader" : "", p->out);
	}
}

static void put_place(const struct page *p, const struct finding_place *place)
{
	const struct description *d = report_event(p->r, place->e);
	char text[WAITING_TEXT_MAX], function[PLACE_FUNCTION_MAX];
	if (!d)
		return;
	fputs("<div class=\"place\">\n<p><b>", p->out);
	html_put_thread(p, d->event.thread);
	fputs("</b> ", p->out);
	description_signal(d, text);
	if (text[0])
		fprintf(p->out, "in a handler of %s ", text);
	if (waiting_op(d)) {
		waiting_text(p->r, d, text);
		html_put(p, text);
	} else if (rt_op_is_access(place->op) || place->op == RT_OP_ALLOC) {
		fputs(finding_does(p->r, place), p->out);
	} else {
		bool again = d->event.op == RT_OP_WAIT_END; /* its mutex is the second operand */
		fputs("acquires ", p->out);
		html_put_lock(p, again ? d->event.arg : d->event.addr, again ? NULL : subject_lock_block(d), d);
	}
	put_locks(p, d, !rt_op_is_access(place->op));
	fputs("</p>\n<p>", p->out);
	if (place->place.frame && place->place.frame->function && place->place.frame->file) {
		place_function(&place->place, function);
		html_put(p, function);
		struct rt_frame position = *place->place.frame;
		position.function = NULL;
		fputs(" at ", p->out);
		html_put_position(p, &position);
	} else if (place->place.frame)
		html_put_position(p, place->place.frame);
	else
		fprintf(p->out, "0x%" PRIx64, place->place.pc);
	fputs("</p>\n", p->out);
	if (place->place.frame)
		html_put_source(p, place->place.frame);
	fputs("</div>\n", p->out);
}

static void put_places(const struct page *p, const struct finding *f)
{
	const struct anomaly *a = p->r->entries[f->entries[0]].anomaly;
	fputs("<div class=\"places\">\n", p->out);
	if (anomaly_is_of_waits(a)) /* each thread, though they may wait at one line */
		for (uint32_t i = 0; i < a->event_count; i++)
			put_place(p, &(struct finding_place){.place = place_of(p->r, a->events[i]),
			                                     .op = model_op(p->r->analysis->model, a->events[i]),
			                                     .e = a->events[i]});
	else
		for (size_t i = 0; i < f->place_count; i++)
			put_place(p, &f->places[i]);
	struct finding_place other;
	for (uint32_t i = 0; i < a->event_count && !anomaly_is_of_waits(a); i++)
		if (finding_other_at_place(p->r, f, i, &other))
			put_place(p, &other);
	fputs("</div>\n", p->out);
	if (f->place_total > f->place_count)
		fprintf(p->out, "<p>and %zu more places</p>\n", f->place_total - f->place_count);
}

static void put_guard(const struct page *p, const struct finding *f)
{
	char text[FINDING_TEXT_MAX];
	if (!finding_guard_text(f, text))
		return;
	fputs("<p>Guard: ", p->out);
	html_put_marked(p, text);
	fputs(".</p>\n", p->out);
}

static void put_follows(const struct page *p, const struct finding *f)
{
	if (f->follows && !html_is_shown(f->follows))
		fprintf(p->out, "<p>Follows %s: %s.</p>\n", f->follows->id, follows_beside(f->verdict));
	else if (f->follows)
		fprintf(p->out, "<p>Follows <a href=\"#%s\">%s</a>: %s.</p>\n", f->follows->id, f->follows->id,
		        follows_beside(f->verdict));
}

static void put_fix(const struct page *p, const struct finding *f)
{
	char text[FINDING_TEXT_MAX];
	finding_fix(p->r, f, text);
	if (text[0]) {
		fputs("<p>Fix: ", p->out);
		html_put_marked(p, text);
		fputs(".</p>\n", p->out);
	}
	finding_replay(p->r, f, text);
	if (!text[0] || p->merged)
		return;
	fputs("<p>Replay: <code>", p->out);
	html_put(p, text);
	fputs("</code></p>\n", p->out);
}

/* What became of an anomaly's replay: in a line, then of each run. False without memory. */
static bool put_outcome(const struct page *p, struct merge_entry e)
{
	const struct report_entry *entry = &e.report->entries[e.entry];
	struct rt_bytes bytes = {0};
	FILE *f = rt_memory_file(&bytes);
	if (!f)
		return false;
	report_replay_lines(e.report, entry->anomaly, entry->anomaly->replay, "", f);
	putc('\0', f);
	bool ok = fclose(f) == 0;
	char *rest, *line = ok ? strtok_r((char *)bytes.data, "\n", &rest) : NULL;
	if (line) {
		fprintf(p->out, "<h3>Replay of %s</h3>\n<p>", entry->id);
		html_put(p, line);
		fputs("</p>\n<pre>", p->out);
		while ((line = strtok_r(NULL, "\n", &rest))) {
			html_put(p, line);
			fputc('\n', p->out);
		}
		fputs("</pre>\n", p->out);
	}
	rt_bytes_release(&bytes);
	return ok;
}

static bool put_outcomes(const struct page *p, const struct finding *f)
{
	size_t count = merge_entry_count(f, p->of);
	bool ok = true;
	for (size_t i = 0; ok && i < count && i < VARIANTS_MAX; i++) {
		struct merge_entry e = merge_entry_at(p->r, f, p->of, i);
		if (e.report->entries[e.entry].anomaly->replay)
			ok = put_outcome(p, e);
	}
	return ok;
}

/* A row, of several runs with the run whose verdict it has. */
static void put_variant(const struct page *p, struct merge_entry e)
{
	const struct report_entry *entry = &e.report->entries[e.entry];
	fprintf(p->out, "<tr><td>%s</td><td>%s</td><td>", entry->id, anomaly_kind_title(entry->anomaly->kind));
	html_put(p, entry->anomaly->pattern);
	fprintf(p->out, "</td><td>%s</td><td>%" PRIu64 "</td>", verdict_name(entry->anomaly->verdict), entry->count);
	if (p->of)
		fprintf(p->out, "<td>%" PRIu32 "</td>", merge_run_of(p->merged, e.report));
	fputs("</tr>\n", p->out);
}

static void put_variants(const struct page *p, const struct finding *f)
{
	size_t count = merge_entry_count(f, p->of);
	fprintf(p->out,
	        "<h3>Variants</h3>\n<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"variants of "
	        "%s\">\n<table>\n<thead><tr><th scope=\"col\">id</th><th scope=\"col\">kind</th><th "
	        "scope=\"col\">pattern</th><th scope=\"col\">verdict</th><th "
	        "scope=\"col\">count</th>",
	        f->id);
	if (p->of)
		fprintf(p->out, "<th scope=\"col\">%s</th>", merge_units(p->merged, 1));
	fputs("</tr></thead>\n<tbody>\n", p->out);
	for (size_t i = 0; i < count && i < VARIANTS_MAX; i++)
		put_variant(p, merge_entry_at(p->r, f, p->of, i));
	fputs("</tbody>\n</table>\n</div>\n", p->out);
	if (count > VARIANTS_MAX)
		fprintf(p->out, "<p>and %zu more</p>\n", count - VARIANTS_MAX);
}

bool html_put_finding(const struct page *p, const struct finding *f)
{
	const struct report_entry *first = &p->r->entries[f->entries[0]];
	const char *level = finding_level_name(f->level);
	struct page inside = *p;
	fputs("<section class=\"finding\"", p->out);
	html_put_choice(p, level, merge_kinds(f, p->of));
	fprintf(p->out,
	        " id=\"%s\" aria-labelledby=\"%s-title\">\n<h2 id=\"%s-title\">%s <span class=\"%s\">%s</span>, %s: ",
	        f->id, f->id, f->id, f->id, level, level, verdict_name(f->verdict));
	put_text(p, finding_title, f);
	fputs("</h2>\n", p->out);
	put_places(p, f);
	put_guard(p, f);
	put_follows(p, f);
	put_fix(p, f);
	bool ok = put_outcomes(p, f);
	inside.heading = 2;
	ok = html_put_schedule(&inside, first) && ok;
	size_t count = merge_entry_count(f, p->of);
	fprintf(p->out, "<details>\n<summary>%zu anomal%s, stacks and evidence</summary>\n", count,
	        count == 1 ? "y" : "ies");
	if (count > 1)
		put_variants(p, f);
	ok = html_put_anomaly(p, first) && ok;
	fprintf(p->out, "<p class=\"dim\">finding's fingerprint %s</p>\n</details>\n</section>\n", f->fingerprint);
	return ok;
}

bool html_put_findings(const struct page *p)
{
	const struct findings *f = p->r->findings;
	bool ok = true;
	uint32_t kinds = 0;
	if (!f->count)
		fputs("<p>Nothing was found.</p>\n", p->out);
	for (size_t i = 0; i < f->count; i++)
		kinds |= f->items[i].kinds;
	if (f->count > 1)
		html_put_filter(p, 0, kinds, false);
	if (f->levels[LEVEL_ERROR] + f->levels[LEVEL_WARNING])
		put_list(p, false);
	for (size_t i = 0; ok && i < f->count && !ferror(p->out); i++)
		if (html_is_shown(&f->items[i]))
			ok = html_put_finding(p, &f->items[i]) && !*p->no_memory;
	if (!f->levels[LEVEL_NOTE])
		return ok;
	fprintf(p->out, "<details>\n<summary>%zu note%s</summary>\n", f->levels[LEVEL_NOTE],
	        f->levels[LEVEL_NOTE] == 1 ? "" : "s");
	put_list(p, true);
	fputs("</details>\n", p->out);
	return ok;
}
