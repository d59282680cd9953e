/*
 * The report as one self-contained page: a list, then each finding, its first anomaly folded below it, or each anomaly,
 * with its stacks and source lines, and its schedule as a table with one column for each thread. Nothing is loaded and
 * nothing runs: there are no scripts. All text from the trace is escaped.
 */
#include "lib/report/html.h"
#include "lib/report/follows.h"
#include "lib/report/formats.h"
#include "lib/report/merge.h"
#include "lib/report/steps.h"
#include "lib/report/waiting.h"

#include <inttypes.h>
#include <string.h>

enum {
	ROWS_MAX = 200,   /* last turns of a schedule that are drawn; the JSON report has all */
	COLUMNS_MAX = 64, /* threads that have a column */
};

static const char style[] =
    "body{font:15px/1.45 sans-serif;margin:2em auto;max-width:75em;padding:0 1em;color:#222;background:#fff}"
    "h1{font-size:1.5em}h2{font-size:1.2em;margin-top:2em;border-top:1px solid #ccc;padding-top:1em}"
    "table{border-collapse:collapse;margin:.6em 0}td,th{border:1px solid #ccc;padding:.25em .6em;text-align:left;"
    "vertical-align:top}th{background:#f4f4f4}"
    "ol.stack{margin:.3em 0;padding-left:2.5em;font-family:monospace;font-size:13px}"
    "pre{margin:.1em 0;padding:.2em .5em;background:#f4f4f4;overflow-x:auto}"
    ".observed,.proved{color:#b00020;font-weight:bold}.predicted{color:#9a6700;font-weight:bold}.conditional,.refuted{"
    "color:#777}"
    "td.goal{background:#ffd0d0;font-weight:bold}.dim{color:#666}"
    "a{color:#0645ad}.error{color:#b00020;font-weight:bold}.warning{color:#8a5d00;font-weight:bold}.note{color:#666}"
    ".places{display:flex;flex-wrap:wrap;gap:1em}.place{flex:1 1 22em;border:1px solid #ccc;padding:.2em "
    ".8em;min-width:0}"
    "details{margin:.6em 0}summary{cursor:pointer}"
    "@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}th,pre{background:#282828}"
    "td,th{border-color:#444}td.goal{background:#702020}.observed,.proved{color:#ff7b7b}.predicted{color:#e3b341}"
    "a{color:#8ab4f8}.error{color:#ff7b7b}.warning{color:#e3b341}.note,.dim{color:#aaa}.place{border-color:#444}}";

static const char *kind_title(enum anomaly_kind kind)
{
	static const char *const titles[ANOMALY_KINDS] = {
	    "data race", "atomicity violation", "atomic-set serializability violation", "deadlock", "hang", "pattern"};
	return titles[kind];
}

/* Events */

static void put_operation(const struct page *p, const struct description *d)
{
	fputs(rt_op_name(d->event.op), p->out);
	if (description_has_size(d)) {
		fprintf(p->out, " of %" PRIu64 " bytes", d->event.arg);
		return;
	}
	fputs(" of ", p->out);
	html_put_lock(p, d->event.addr, subject_lock_block(d));
}

static void put_locks(const struct page *p, const struct description *d)
{
	if (!d->lock_count)
		fputs("<p>holding no lock</p>\n", p->out);
	for (size_t i = 0; i < d->lock_count; i++) {
		fputs("<p>holding <b>", p->out);
		html_put_lock(p, d->locks[i].addr, &d->locks[i].block);
		fprintf(p->out, "</b>%s, acquired at event %" PRIu64 "</p>\n", d->locks[i].shared ? " as a reader" : "",
		        d->locks[i].acquired);
		html_put_stack(p, description_of(p->r->descriptions, d->locks[i].acquired), false);
	}
}

static void put_event(const struct page *p, uint32_t e)
{
	const struct description *d = report_event(p->r, e);
	if (!d)
		return;
	fputs("<h3>", p->out);
	if (d->event.op == RT_OP_BLOCK) {
		char text[WAITING_TEXT_MAX];
		waiting_text(p->r, d, text);
		fputs("thread ", p->out);
		html_put_thread(p, d->event.thread);
		putc(' ', p->out);
		html_put(p, text);
	} else {
		put_operation(p, d);
		fputs(" by thread ", p->out);
		html_put_thread(p, d->event.thread);
	}
	fprintf(p->out, ", event %" PRIu64 "</h3>\n", d->event.number);
	html_put_stack(p, d, true);
	put_locks(p, d);
	const struct description *fork = d->fork ? description_of(p->r->descriptions, d->fork) : NULL;
	if (!fork)
		return;
	fputs("<p>the thread was created by ", p->out);
	html_put_thread(p, fork->event.thread);
	fprintf(p->out, ", event %" PRIu64 "</p>\n", d->fork);
	html_put_stack(p, fork, false);
}

static void put_subject(const struct page *p, const struct subject *s)
{
	fprintf(p->out, "<p>%s, ", s->kind);
	if (s->size)
		fprintf(p->out, "%" PRIu64 " bytes ", s->size);
	fprintf(p->out, "at 0x%" PRIx64, s->address);
	if (s->file) {
		fputs(", declared at ", p->out);
		html_put(p, s->file);
		fprintf(p->out, ":%" PRIu32, s->line);
	}
	fputs("</p>\n", p->out);
	if (s->block.alloc) {
		fprintf(p->out, "<p>allocated at event %" PRIu64 "</p>\n", s->block.alloc);
		html_put_stack(p, description_of(p->r->descriptions, s->block.alloc), false);
	}
	if (s->block.freed) {
		fprintf(p->out, "<p>freed at event %" PRIu64 "</p>\n", s->block.freed);
		html_put_stack(p, description_of(p->r->descriptions, s->block.freed), false);
	}
}

/* Schedules */

struct columns {
	uint32_t threads[COLUMNS_MAX]; /* sorted */
	uint32_t count;
};

static void column_add(struct columns *c, uint32_t thread)
{
	uint32_t i = c->count;
	for (uint32_t k = 0; k < c->count; k++)
		if (c->threads[k] == thread)
			return;
	if (c->count == COLUMNS_MAX)
		return;
	for (c->count++; i && c->threads[i - 1] > thread; i--)
		c->threads[i] = c->threads[i - 1];
	c->threads[i] = thread;
}

static void put_goal_event(const struct page *p, const struct description *d)
{
	const struct rt_frame *f = subject_frame(p->r, d->event.pc);
	fprintf(p->out, "%" PRIu64 ": ", d->event.ordinal);
	put_operation(p, d);
	fputs("<br/>", p->out);
	if (f)
		html_put_position(p, f);
}

static bool runs(const struct step *step, const struct description *d)
{
	return d && step->thread == d->event.thread && step->from <= d->event.ordinal && d->event.ordinal <= step->to;
}

/* The events that one thread executes in its turn, with the anomaly's among them. */
static void put_step(const struct page *p, const struct anomaly *anomaly, const struct step *step)
{
	bool goal = false;
	for (uint32_t i = 0; i < anomaly->event_count; i++)
		goal |= runs(step, report_event(p->r, anomaly->events[i]));
	fprintf(p->out, "<td%s>%" PRIu64 "\xe2\x80\x93%" PRIu64, goal ? " class=\"goal\"" : "", step->from, step->to);
	for (uint32_t i = 0; i < anomaly->event_count; i++) {
		const struct description *d = report_event(p->r, anomaly->events[i]);
		if (!runs(step, d))
			continue;
		fputs("<br/>", p->out);
		put_goal_event(p, d);
	}
	fputs("</td>", p->out);
}

static void put_turn(const struct page *p, const struct columns *c, const struct anomaly *anomaly,
                     const struct step *step)
{
	fputs("<tr>", p->out);
	for (uint32_t i = 0; i < c->count; i++)
		if (c->threads[i] == step->thread)
			put_step(p, anomaly, step);
		else
			fputs("<td></td>", p->out);
	fputs("</tr>\n", p->out);
}

/* The anomaly's events that no step runs: they come next. */
static void put_goal(const struct page *p, const struct columns *c, const struct anomaly *anomaly,
                     const struct steps *steps)
{
	for (uint32_t i = 0; i < anomaly->event_count; i++) {
		const struct description *d = report_event(p->r, anomaly->events[i]);
		bool run = !d;
		for (size_t k = 0; k < steps->count && !run; k++)
			run = runs(&steps->items[k], d);
		if (run)
			continue;
		fputs("<tr>", p->out);
		for (uint32_t k = 0; k < c->count; k++) {
			fputs(c->threads[k] == d->event.thread ? "<td class=\"goal\">" : "<td>", p->out);
			if (c->threads[k] == d->event.thread)
				put_goal_event(p, d);
			fputs("</td>", p->out);
		}
		fputs("</tr>\n", p->out);
	}
}

static bool put_schedule(const struct page *p, const struct anomaly *anomaly)
{
	struct steps steps;
	struct columns columns = {.count = 0};
	if (!anomaly->schedule)
		return true;
	if (!steps_init(&steps, p->r->analysis->model, p->r->descriptions, anomaly))
		return false;
	size_t first = steps.count > ROWS_MAX ? steps.count - ROWS_MAX : 0;
	for (uint32_t i = 0; i < anomaly->event_count; i++)
		column_add(&columns, model_thread_of(p->r->analysis->model, anomaly->events[i]));
	for (size_t i = first; i < steps.count; i++)
		column_add(&columns, steps.items[i].thread);
	fputs("<h3>A schedule that shows it</h3>\n<p>From top to bottom, which of its events each thread runs in its "
	      "turn; the anomaly's own stand out.",
	      p->out);
	if (first)
		fprintf(p->out, " The first %zu turns are left out.", first);
	if (anomaly->guess)
		fprintf(p->out, " It is a guess (PECAN's) and no proof: %s.", anomaly->guess);
	if (anomaly->uncertain)
		fprintf(p->out, " It is no proof: of %" PRIu32 " reads only time stamps tell which write they saw.",
		        anomaly->uncertain);
	if (anomaly->substitutes)
		fprintf(p->out, " In it %" PRIu32 " %s another write of the value that was seen.", anomaly->substitutes,
		        anomaly->substitutes == 1 ? "read sees" : "reads see");
	fputs("</p>\n<table class=\"schedule\">\n<tr>", p->out);
	for (uint32_t i = 0; i < columns.count; i++) {
		fputs("<th>", p->out);
		html_put_thread(p, columns.threads[i]);
		fputs("</th>", p->out);
	}
	fputs("</tr>\n", p->out);
	for (size_t i = first; i < steps.count; i++)
		put_turn(p, &columns, anomaly, &steps.items[i]);
	put_goal(p, &columns, anomaly, &steps);
	fputs("</table>\n", p->out);
	steps_release(&steps);
	return true;
}

/* The page */

static void put_name(const struct page *p, const struct anomaly *anomaly, struct subject *subject, bool *about)
{
	*about = subject_of(p->r, anomaly, subject);
	if (*about && *subject->name)
		html_put(p, subject->name);
	else if (*about)
		fprintf(p->out, "memory at 0x%" PRIx64, subject->address);
}

/* Why it is only predicted. */
static void put_reasons(const struct page *p, const struct anomaly *anomaly)
{
	char text[REASON_TEXT_MAX];
	if (anomaly->verdict != VERDICT_PREDICTED || !anomaly->reasons.set)
		return;
	const char *between = "<p>Only predicted: ";
	for (int next = 0; reasons_next(&anomaly->reasons, &next, text);) {
		fputs(between, p->out);
		html_put(p, text);
		between = "; ";
	}
	fputs(".</p>\n", p->out);
}

/* The reads that would have to see another write. */
static void put_needs(const struct page *p, const struct anomaly *anomaly)
{
	const struct model *m = p->r->analysis->model;
	if (!anomaly->need_count)
		return;
	fprintf(p->out, "<p>Needs %" PRIu32 " %s to see another write than %s saw.</p>\n<ul>\n", anomaly->need_total,
	        anomaly->need_total == 1 ? "read" : "reads", anomaly->need_total == 1 ? "it" : "they");
	for (uint32_t i = 0; i < anomaly->need_count; i++) {
		const struct model_event *e = &m->events[anomaly->needs[i]];
		const struct rt_frame *f = subject_frame(p->r, m->sites[e->site].pc);
		fputs("<li>", p->out);
		html_put_position(p, f ? f : &(struct rt_frame){.pc = m->sites[e->site].pc});
		fputs(", thread ", p->out);
		html_put_thread(p, model_thread_of(m, anomaly->needs[i]));
		fprintf(p->out, ", event %" PRIu32 "</li>\n", e->number);
	}
	fputs("</ul>\n", p->out);
}

/* The causes that it follows. */
static void put_follows(const struct page *p, const struct anomaly *anomaly)
{
	char text[FOLLOWS_TEXT_MAX];
	for (uint32_t i = 0; i < anomaly->cause_count; i++) {
		const struct cause *cause = follows_cause(p->r, anomaly, i);
		const char *id = follows_id(p->r, anomaly, i);
		if (*id && p->r->by_anomaly)
			fprintf(p->out, "<p>Follows <a href=\"#%s\">%s</a>: nothing else orders its events.</p>\n", id,
			        id);
		else if (*id)
			fprintf(p->out, "<p>Follows %s: nothing else orders its events.</p>\n", id);
		if (cause->anomaly != MODEL_NONE)
			continue;
		follows_text(p->r, cause, text);
		fputs("<p>Follows: ", p->out);
		html_put(p, text);
		fputs(".</p>\n", p->out);
	}
}

bool html_put_anomaly(const struct page *p, const struct report_entry *entry)
{
	struct subject subject;
	bool about;
	const struct anomaly *anomaly = entry->anomaly;
	const char *verdict = verdict_name(anomaly->verdict);
	fprintf(p->out, "<section id=\"%s\">\n<h2>%s %s (", entry->id, entry->id, kind_title(anomaly->kind));
	html_put(p, anomaly->pattern);
	fprintf(p->out, "), <span class=\"%s\">%s</span>: ", verdict, verdict);
	put_name(p, anomaly, &subject, &about);
	fputs("</h2>\n", p->out);
	if (about)
		put_subject(p, &subject);
	for (uint32_t i = 0; i < anomaly->event_count; i++)
		put_event(p, anomaly->events[i]);
	for (uint32_t i = 0; i < anomaly->wait_count; i++)
		put_event(p, anomaly->waits[i]);
	put_reasons(p, anomaly);
	put_follows(p, anomaly);
	put_needs(p, anomaly);
	bool ok = put_schedule(p, anomaly);
	fprintf(p->out, "<p>rank %.2f:", entry->rank.value);
	for (size_t i = 0; i < entry->rank.why_count; i++)
		fprintf(p->out, "%s %s", i ? ";" : "", entry->rank.why[i]);
	fputs("</p>\n<p>unordered by:", p->out);
	for (int i = 0; i < 32 && orders[i].name; i++)
		if (anomaly->orders_run >> i & anomaly->orders_unordered >> i & 1)
			fprintf(p->out, " %s", orders[i].name);
	fprintf(p->out, "</p>\n<p class=\"dim\">fingerprint %s</p>\n</section>\n", entry->fingerprint);
	return ok;
}

static void put_list(const struct page *p)
{
	fputs("<table class=\"list\">\n<tr><th>id</th><th>kind</th><th>pattern</th><th>verdict</th><th>on</th>"
	      "<th>count</th><th>rank</th></tr>\n",
	      p->out);
	for (size_t i = 0; i < p->r->count; i++) {
		struct subject subject;
		bool about;
		const struct report_entry *entry = &p->r->entries[i];
		const char *verdict = verdict_name(entry->anomaly->verdict);
		fprintf(p->out, "<tr><td><a href=\"#%s\">%s</a></td><td>%s</td><td>", entry->id, entry->id,
		        kind_title(entry->anomaly->kind));
		html_put(p, entry->anomaly->pattern);
		fprintf(p->out, "</td><td class=\"%s\">%s</td><td>", verdict, verdict);
		put_name(p, entry->anomaly, &subject, &about);
		fprintf(p->out, "</td><td>%" PRIu64 "</td><td>%.2f</td></tr>\n", entry->count, entry->rank.value);
	}
	fputs("</table>\n", p->out);
}

static void put_head(const struct page *p)
{
	/* A second barrier behind the escapes: the page may not load or run anything. */
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
	      "'unsafe-inline'\"/>\n<meta name=\"viewport\" content=\"width=device-width, "
	      "initial-scale=1\"/>\n<title>racetrace: ",
	      p->out);
	html_put(p, p->info->path);
	fprintf(p->out, "</title>\n<style>%s</style>\n</head>\n<body>\n", style);
	if (p->r->incomplete) {
		fputs("<p class=\"predicted\">the trace is incomplete: ", p->out);
		html_put(p, p->r->incomplete);
		fputs("</p>\n", p->out);
	}
	fputs("<h1>racetrace: ", p->out);
	html_put(p, p->info->path);
	fprintf(p->out, "</h1>\n<p>%" PRIu64 " events of %" PRIu32 " threads, order %s", p->info->events,
	        p->info->thread_count, p->info->exact ? "exact" : "by time stamp");
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

static bool put_page(const struct page *p)
{
	bool ok = true;
	put_head(p);
	if (!p->r->by_anomaly)
		ok = html_put_findings(p);
	else if (p->r->count)
		put_list(p);
	else
		fputs("<p>nothing was found</p>\n", p->out);
	for (size_t i = 0; ok && p->r->by_anomaly && i < p->r->count && !ferror(p->out); i++)
		ok = html_put_anomaly(p, &p->r->entries[i]) && !*p->no_memory;
	fputs("</body>\n</html>\n", p->out);
	return ok;
}

void html_forget(const struct page *p)
{
	*p->no_memory |= p->snippets->no_memory;
	snippets_release(p->snippets);
	pieces_release(p->frames);
	pieces_release(p->sources);
	*p->frames = *p->sources = (struct pieces){0};
}

enum rt_status report_html_merged(const struct merge *m, bool color, FILE *out, struct rt_error *err)
{
	const struct report *r = merge_any_report(m);
	struct snippets snippets = {.trace = r->analysis->trace, .root = r->source_root};
	struct pieces frames = {0}, sources = {0};
	bool no_memory = false;
	struct page p = {.r = r,
	                 .info = rt_trace_info(r->analysis->trace),
	                 .snippets = &snippets,
	                 .frames = &frames,
	                 .sources = &sources,
	                 .no_memory = &no_memory,
	                 .out = out};
	(void)color;
	put_head(&p);
	bool ok = html_put_merged(&p, m);
	fputs("</body>\n</html>\n", out);
	html_forget(&p);
	return ok && !no_memory ? RT_OK : rt_error_set(err, RT_EMEMORY, "no memory for the report");
}

enum rt_status report_html(const struct report *r, bool color, FILE *out, struct rt_error *err)
{
	struct snippets snippets = {.trace = r->analysis->trace, .root = r->source_root};
	struct pieces frames = {0}, sources = {0};
	bool no_memory = false;
	const struct page p = {.r = r,
	                       .info = rt_trace_info(r->analysis->trace),
	                       .snippets = &snippets,
	                       .frames = &frames,
	                       .sources = &sources,
	                       .no_memory = &no_memory,
	                       .out = out};
	(void)color;
	bool ok = put_page(&p) && !snippets.no_memory;
	snippets_release(&snippets);
	pieces_release(&frames);
	pieces_release(&sources);
	return ok ? RT_OK : rt_error_set(err, RT_EMEMORY, "no memory for the report");
}
