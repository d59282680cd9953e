/*
 * The report as one self-contained page. It has what was found in numbers, a list, then each finding with its places
 * side by side and its schedule as a picture. A finding's anomalies are folded below it. Or the page has each anomaly
 * with its stacks. Nothing is loaded; one small script filters. All text from the trace is escaped.
 */
#include "lib/report/html/html.h"
#include "lib/report/formats.h"
#include "lib/report/merge.h"

#include <inttypes.h>

enum { ANOMALIES_MAX = 50 }; /* of each kind, which are shown in full: the JSON report has all */

void html_put_subject_name(const struct page *p, const struct anomaly *anomaly)
{
	struct subject subject;
	bool about = subject_of(p->r, anomaly, &subject);
	if (about && *subject.name)
		html_put(p, subject.name);
	else if (about)
		fprintf(p->out, "memory at 0x%" PRIx64, subject.address);
}

/* The anomalies */

static void put_row(const struct page *p, const struct report_entry *entry, bool link)
{
	const char *verdict = verdict_name(entry->anomaly->verdict);
	fputs("<tr", p->out);
	html_put_choice(p, verdict, UINT32_C(1) << entry->anomaly->kind);
	fprintf(p->out, link ? "><td><a href=\"#%s\">%s</a>" : "><td>%.0s%s", entry->id, entry->id);
	fprintf(p->out, "</td><td>%s</td><td>", anomaly_kind_title(entry->anomaly->kind));
	html_put(p, entry->anomaly->pattern);
	fprintf(p->out, "</td><td class=\"%s\">%s</td><td>", verdict, verdict);
	html_put_subject_name(p, entry->anomaly);
	fprintf(p->out, "</td><td>%" PRIu64 "</td><td>%.2f</td></tr>\n", entry->count, entry->rank.value);
}

static void put_list(const struct page *p)
{
	size_t shown[ANOMALY_KINDS] = {0};
	fputs("<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"anomalies\">\n<table "
	      "class=\"list\">\n<thead><tr><th scope=\"col\">id</th><th scope=\"col\">kind</th><th "
	      "scope=\"col\">pattern</th><th scope=\"col\">verdict</th><th scope=\"col\">on</th>"
	      "<th scope=\"col\">count</th><th scope=\"col\">rank</th></tr></thead>\n<tbody>\n",
	      p->out);
	for (size_t i = 0; i < p->r->count; i++)
		put_row(p, &p->r->entries[i], shown[p->r->entries[i].anomaly->kind]++ < ANOMALIES_MAX);
	fputs("</tbody>\n</table>\n</div>\n", p->out);
}

/* The list of anomalies, and the first of each kind one by one. False without memory. */
static bool put_anomalies(const struct page *p)
{
	size_t shown[ANOMALY_KINDS] = {0}, left_out = 0;
	uint32_t verdicts = 0, kinds = 0;
	bool ok = true;
	if (!p->r->count) {
		fputs("<p>Nothing was found.</p>\n", p->out);
		return true;
	}
	for (size_t i = 0; i < p->r->count; i++) {
		kinds |= UINT32_C(1) << p->r->entries[i].anomaly->kind;
		verdicts |= UINT32_C(1) << p->r->entries[i].anomaly->verdict;
	}
	if (p->r->count > 1)
		html_put_filter(p, verdicts, kinds, false);
	put_list(p);
	for (size_t i = 0; ok && i < p->r->count && !ferror(p->out); i++)
		if (shown[p->r->entries[i].anomaly->kind]++ < ANOMALIES_MAX)
			ok = html_put_anomaly(p, &p->r->entries[i]) && !*p->no_memory;
		else
			left_out++;
	if (left_out)
		fprintf(p->out, "<p>%zu more anomalies are only listed: %sthe JSON report has all.</p>\n", left_out,
		        p->r->unkept ? "" : "<code>--anomaly ID</code> shows one in full, ");
	return ok;
}

/* The summary */

static void put_count(const struct page *p, size_t n, const char *name, const char *class)
{
	fprintf(p->out, "<li><b class=\"%s\">%zu</b> %s%s</li>\n", n ? class : "dim", n, name, n == 1 ? "" : "s");
}

void html_put_counts(const struct page *p, const size_t levels[LEVELS], size_t under, size_t known, size_t suppressed)
{
	fputs("<ul class=\"counts\">\n", p->out);
	put_count(p, levels[LEVEL_ERROR], "error", "error");
	put_count(p, levels[LEVEL_WARNING], "warning", "warning");
	put_count(p, levels[LEVEL_NOTE], "note", "dim");
	if (under)
		fprintf(p->out, "<li><b class=\"dim\">%zu</b> that follow%s</li>\n", under,
		        under == 1 ? "s from another" : " from others");
	if (known)
		put_count(p, known, "known finding", "dim");
	if (suppressed)
		put_count(p, suppressed, "suppressed finding", "dim");
	fputs("</ul>\n", p->out);
}

/* What each kind has of each verdict, in a line. */
static void put_kinds(const struct page *p)
{
	for (int kind = 0; kind < ANOMALY_KINDS; kind++) {
		const char *between = ": ";
		uint64_t sum = 0;
		for (int v = 0; v < VERDICTS; v++)
			sum += p->r->summary[kind][v];
		if (!sum)
			continue;
		fprintf(p->out, "<p>%s%s", anomaly_kind_title((enum anomaly_kind)kind), sum == 1 ? "" : "s");
		for (int v = VERDICTS - 1; v >= 0; v--) {
			if (!p->r->summary[kind][v])
				continue;
			fprintf(p->out, "%s%" PRIu64 " %s", between, p->r->summary[kind][v],
			        verdict_name((enum verdict)v));
			between = ", ";
		}
		fputs("</p>\n", p->out);
	}
}

static void put_trace(const struct page *p)
{
	fputs("<p class=\"dim\">", p->out);
	html_put(p, p->r->unkept ? "the trace, which is not kept" : p->info->path);
	fprintf(p->out, ": %" PRIu64 " events of %" PRIu32 " threads, order %s", p->info->events, p->info->thread_count,
	        p->info->exact ? "exact" : "by time stamp");
	if (p->info->command) {
		fputs(", of <code>", p->out);
		for (const char *const *word = p->info->command; *word; word++) {
			fputs(word == p->info->command ? "" : " ", p->out);
			html_put(p, *word);
		}
		fputs("</code>", p->out);
	}
	fputs("</p>\n", p->out);
}

static void put_end(const struct page *p)
{
	fputs("</main>\n<footer>racetrace " RT_VERSION "</footer>\n", p->out);
	html_put_end(p);
}

static void put_incomplete(const struct page *p, const char *what, const char *why)
{
	fprintf(p->out, "<p class=\"predicted\">%s", what);
	html_put(p, why);
	fputs("</p>\n", p->out);
}

static bool put_page(struct page *p)
{
	html_put_head(p);
	fputs("<header>\n", p->out);
	if (p->r->incomplete)
		put_incomplete(p, "the trace is incomplete: ", p->r->incomplete);
	fputs("<h1>racetrace report</h1>\n", p->out);
	put_trace(p);
	fputs("</header>\n<main>\n", p->out);
	if (!p->r->alone) {
		size_t levels[LEVELS], under = findings_count(p->r->findings, levels);
		html_put_counts(p, levels, under, p->r->findings->known, p->r->findings->suppressed);
		put_kinds(p);
	}
	bool ok = p->r->by_anomaly ? put_anomalies(p) : html_put_findings(p);
	put_end(p);
	return ok;
}

/* The page of one report or, if m is not NULL, of several. */
static enum rt_status write_page(const struct report *r, const struct merge *m, FILE *out, struct rt_error *err)
{
	struct html_stacks stacks = {0};
	bool no_memory = false;
	struct page p = {.r = r,
	                 .info = rt_trace_info(r->analysis->trace),
	                 .stacks = &stacks,
	                 .no_memory = &no_memory,
	                 .out = out,
	                 .merged = m,
	                 .heading = r->by_anomaly && !m ? 2 : 3};
	bool ok = true;
	if (m) {
		html_put_head(&p);
		char lacking[4096];
		fputs("<header>\n", out);
		if (merge_incomplete_text(m, lacking, sizeof lacking))
			put_incomplete(&p, "", lacking);
		fputs("<h1>racetrace report</h1>\n", out);
		html_put_runs(&p, m);
		fputs("</header>\n<main>\n", out);
		ok = html_put_merged(&p, m);
		put_end(&p);
	} else {
		ok = put_page(&p);
	}
	html_forget(&p);
	return ok && !no_memory ? RT_OK : rt_error_set(err, RT_EMEMORY, "no memory for the report");
}

enum rt_status report_html(const struct report *r, bool color, FILE *out, struct rt_error *err)
{
	(void)color;
	return write_page(r, NULL, out, err);
}

enum rt_status report_html_merged(const struct merge *m, bool color, FILE *out, struct rt_error *err)
{
	(void)color;
	return write_page(merge_any_report(m), m, out, err);
}
