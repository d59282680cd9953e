/*
 * Findings on the HTML page: a list of all, then each error and warning with its places side by side, and its first
 * anomaly folded below. Notes are in a folded list.
 */
#include "lib/report/html.h"
#include "lib/report/merge.h"

#include <inttypes.h>

static void put_text(const struct page *p, void (*make)(const struct report *, const struct finding *, char *),
                     const struct finding *f)
{
	char text[FINDING_TEXT_MAX];
	make(p->r, f, text);
	html_put(p, text);
}

/* True if it has a section of its own. */
static bool is_shown(const struct finding *f)
{
	return f->level > LEVEL_NOTE && !f->known;
}

static void put_cells(const struct page *p, const struct finding *f, bool link)
{
	const char *level = finding_level_name(f->level);
	if (link)
		fprintf(p->out, "<tr><td><a href=\"#%s\">%s</a></td>", f->id, f->id);
	else
		fprintf(p->out, "<tr><td>%s</td>", f->id);
	fprintf(p->out, "<td class=\"%s\">%s</td><td>%s</td><td>", level, level, verdict_name(f->verdict));
	put_text(p, finding_title, f);
	fprintf(p->out, "</td><td>%zu</td>", f->entry_count);
}

static void put_row(const struct page *p, const struct finding *f, bool link)
{
	put_cells(p, f, link);
	fputs("</tr>\n", p->out);
}

static void put_columns(const struct page *p, const char *more)
{
	fprintf(p->out,
	        "<table class=\"list\">\n<tr><th>id</th><th>level</th><th>verdict</th><th>finding</th>"
	        "<th>anomalies</th>%s</tr>\n",
	        more);
}

static void put_list(const struct page *p, bool notes)
{
	const struct findings *f = p->r->findings;
	put_columns(p, "");
	for (size_t i = 0; i < f->count && !ferror(p->out); i++)
		if ((f->items[i].level == LEVEL_NOTE) == notes && !f->items[i].known)
			put_row(p, &f->items[i], !notes);
	fputs("</table>\n", p->out);
}

static void put_place(const struct page *p, const struct finding_place *place)
{
	const struct description *d = report_event(p->r, place->e);
	if (!d)
		return;
	fputs("<div class=\"place\">\n<p><b>", p->out);
	html_put_thread(p, d->event.thread);
	fprintf(p->out, "</b> %s", finding_does(p->r, place));
	fputs(d->lock_count ? ", holding " : ", holding no lock", p->out);
	for (size_t i = 0; i < d->lock_count; i++) {
		fputs(i ? ", " : "", p->out);
		html_put_lock(p, d->locks[i].addr, &d->locks[i].block);
	}
	fputs("</p>\n<p>", p->out);
	if (place->place.frame)
		html_put_position(p, place->place.frame);
	fputs("</p>\n", p->out);
	if (place->place.frame)
		html_put_snippet(p, place->place.frame);
	fputs("</div>\n", p->out);
}

static bool put_finding(const struct page *p, const struct finding *f)
{
	const struct report_entry *first = &p->r->entries[f->entries[0]];
	const char *level = finding_level_name(f->level);
	fprintf(p->out, "<section id=\"%s\">\n<h2>%s <span class=\"%s\">%s</span>, %s: ", f->id, f->id, level, level,
	        verdict_name(f->verdict));
	put_text(p, finding_title, f);
	fputs("</h2>\n<div class=\"places\">\n", p->out);
	for (size_t i = 0; i < f->place_count; i++)
		put_place(p, &f->places[i]);
	fputs("</div>\n", p->out);
	if (f->place_total > f->place_count)
		fprintf(p->out, "<p>and %zu more places</p>\n", f->place_total - f->place_count);
	if (f->guard.lock != MODEL_NONE) {
		fputs("<p>Guard: <b>", p->out);
		html_put(p, f->guard_name[0] ? f->guard_name : "a lock");
		fprintf(p->out, "</b> is held at %" PRIu64 " of %" PRIu64 " accesses.</p>\n", f->guard.held,
		        f->guard.of);
	}
	if (f->follows && !is_shown(f->follows))
		fprintf(p->out, "<p>Follows %s: nothing else orders its events.</p>\n", f->follows->id);
	else if (f->follows)
		fprintf(p->out, "<p>Follows <a href=\"#%s\">%s</a>: nothing else orders its events.</p>\n",
		        f->follows->id, f->follows->id);
	fputs("<p>Fix: ", p->out);
	put_text(p, finding_fix, f);
	fprintf(p->out,
	        "</p>\n<details>\n<summary>%s, the first of its %zu anomal%s: stacks, schedule, evidence</summary>\n",
	        first->id, f->entry_count, f->entry_count == 1 ? "y" : "ies");
	bool ok = html_put_anomaly(p, first);
	fprintf(p->out, "</details>\n<p class=\"dim\">fingerprint %s</p>\n</section>\n", f->fingerprint);
	return ok;
}

bool html_put_findings(const struct page *p)
{
	const struct findings *f = p->r->findings;
	bool ok = true;
	fprintf(p->out, "<p>%zu errors, %zu warnings, %zu notes, %zu known</p>\n", f->levels[LEVEL_ERROR],
	        f->levels[LEVEL_WARNING], f->levels[LEVEL_NOTE], f->known);
	if (f->levels[LEVEL_ERROR] + f->levels[LEVEL_WARNING])
		put_list(p, false);
	for (size_t i = 0; ok && i < f->count && !ferror(p->out); i++)
		if (is_shown(&f->items[i]))
			ok = put_finding(p, &f->items[i]) && !*p->no_memory;
	if (!f->levels[LEVEL_NOTE])
		return ok;
	fprintf(p->out, "<details>\n<summary>%zu notes</summary>\n", f->levels[LEVEL_NOTE]);
	put_list(p, true);
	fputs("</details>\n", p->out);
	return ok;
}

/* Several runs */

/* What belongs to the report that the finding is of. */
static void turn_to(struct page *p, const struct merged_finding *f)
{
	if (!f->report || f->report == p->r)
		return;
	html_forget(p);
	p->r = f->report;
	p->info = rt_trace_info(p->r->analysis->trace);
	*p->snippets = (struct snippets){.trace = p->r->analysis->trace, .root = p->r->source_root};
}

static void put_merged_row(const struct page *p, const struct merge *m, const struct merged_finding *f)
{
	if (f->finding) {
		put_cells(p, f->finding, is_shown(f->finding));
	} else {
		fprintf(p->out, "<tr><td>%s</td><td class=\"error\">%s</td><td>%s</td><td>", f->id,
		        finding_level_name(f->level), verdict_name(f->verdict));
		html_put(p, f->incident->title);
		fputs("</td><td>0</td>", p->out);
	}
	fprintf(p->out, "<td>%zu of %zu, first in ", f->run_count, m->run_count);
	html_put(p, merge_first_run(m, f)->name);
	if (merge_first_run(m, f)->repeat) {
		fputs(": <code>", p->out);
		html_put(p, merge_first_run(m, f)->repeat);
		fputs("</code>", p->out);
	}
	fputs("</td></tr>\n", p->out);
}

bool html_put_merged(struct page *p, const struct merge *m)
{
	bool ok = true;
	fprintf(p->out, "<p>%zu runs: %zu errors, %zu warnings, %zu notes, %zu known</p>\n", m->run_count,
	        m->levels[LEVEL_ERROR], m->levels[LEVEL_WARNING], m->levels[LEVEL_NOTE], m->known);
	put_columns(p, "<th>runs</th>");
	for (size_t i = 0; i < m->count && !ferror(p->out); i++) {
		turn_to(p, &m->items[i]);
		if (!m->items[i].known)
			put_merged_row(p, m, &m->items[i]);
	}
	fputs("</table>\n", p->out);
	for (size_t i = 0; ok && i < m->count && !ferror(p->out); i++) {
		turn_to(p, &m->items[i]);
		if (m->items[i].finding && is_shown(m->items[i].finding))
			ok = put_finding(p, m->items[i].finding) && !*p->no_memory;
	}
	return ok;
}
