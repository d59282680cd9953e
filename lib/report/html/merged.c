/* Findings of several runs on the HTML page: as finding.c does, with the runs that show each. */
#include "lib/report/html/html.h"
#include "lib/report/merge.h"

/* What belongs to the report that the finding is of. */
static void turn_to(struct page *p, const struct merged_finding *f)
{
	p->of = f;
	if (!f->report || f->report == p->r)
		return;
	html_forget(p);
	p->r = f->report;
	p->info = rt_trace_info(p->r->analysis->trace);
}

static void put_row(const struct page *p, const struct merge *m, const struct merged_finding *f)
{
	if (f->finding) {
		html_put_cells(p, f->finding);
	} else {
		const char *level = finding_level_name(f->level);
		fprintf(p->out,
		        "<tr data-a=\"%s\" data-k=\"incident\"><td>%s</td><td class=\"%s\">%s</td><td>%s</td><td>",
		        level, f->id, level, level, verdict_name(f->verdict));
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

static void put_list(struct page *p, const struct merge *m)
{
	html_put_columns(p, "findings", "<th scope=\"col\">runs</th>");
	for (size_t i = 0; i < m->count && !ferror(p->out); i++) {
		turn_to(p, &m->items[i]);
		if (!m->items[i].known)
			put_row(p, m, &m->items[i]);
	}
	fputs("</tbody>\n</table>\n</div>\n", p->out);
}

static void put_line(const struct page *p, const char *element, const char *text)
{
	fprintf(p->out, "<%s>", element);
	html_put(p, text);
	fprintf(p->out, "</%s>\n", element);
}

void html_put_runs(const struct page *p, const struct merge *m)
{
	char text[2048];
	size_t unlisted = merge_runs_text(m, text, sizeof text);
	fprintf(p->out, "<p class=\"dim\">%s</p>\n", text);
	if (unlisted)
		fprintf(p->out, "<p class=\"dim\">not listed: further anomalies of these findings in %zu %s</p>\n",
		        unlisted, merge_units(m, unlisted));
	if (merge_search_text(m, text, sizeof text))
		put_line(p, "p", text);
	if (!m->trial_count)
		return;
	fprintf(p->out,
	        "<details>\n<summary>%zu pattern%s, and in how many of the runs that aimed at them they were "
	        "created</summary>\n<ul>\n",
	        m->trial_count, m->trial_count == 1 ? "" : "s");
	for (size_t i = 0; i < m->trial_count; i++) {
		merge_trial_text(&m->trials[i], text, sizeof text);
		put_line(p, "li", text);
	}
	merge_plain_text(m, text, sizeof text);
	put_line(p, "li", text);
	fputs("</ul>\n</details>\n", p->out);
}

bool html_put_merged(struct page *p, const struct merge *m)
{
	bool ok = true, incidents = false;
	uint32_t kinds = 0;
	size_t levels[LEVELS], under = merge_count(m, levels);
	html_put_counts(p, levels, under, m->known, m->suppressed);
	for (size_t i = 0; i < m->count; i++) {
		kinds |= m->items[i].finding ? merge_kinds(m->items[i].finding, &m->items[i]) : 0;
		incidents |= !m->items[i].finding;
	}
	if (m->count > 1)
		html_put_filter(p, 0, kinds, incidents);
	put_list(p, m);
	for (size_t i = 0; ok && i < m->count && !ferror(p->out); i++) {
		turn_to(p, &m->items[i]);
		if (m->items[i].finding && html_is_shown(m->items[i].finding))
			ok = html_put_finding(p, m->items[i].finding) && !*p->no_memory;
	}
	return ok;
}
