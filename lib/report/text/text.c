/* The report for people: findings or anomalies, then the counts, and what limits them. */
#include "lib/report/text/text.h"
#include "lib/report/follows.h"
#include "lib/report/formats.h"
#include "lib/report/limits.h"
#include "lib/report/merge.h"
#include "lib/report/modules.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The end */

static void put_summary_line(const struct printer *p, enum anomaly_kind kind, const uint64_t verdicts[VERDICTS])
{
	static const char *const plurals[ANOMALY_KINDS] = {
	    "data races", "atomicity violations", "atomic-set serializability violations", "deadlocks",
	    "hangs",      "matches of patterns"};
	uint64_t total = 0;
	for (int v = 0; v < VERDICTS; v++)
		total += verdicts[v];
	if (!total) {
		if (kind != ANOMALY_HANG)
			fprintf(p->out, "no %s\n", plurals[kind]);
		return;
	}
	fprintf(p->out, "%s: ", plurals[kind]);
	const char *between = "";
	for (int v = VERDICTS; v-- > 0;) {
		if (!verdicts[v])
			continue;
		fprintf(p->out, "%s%" PRIu64 " %s", between, verdicts[v], verdict_name((enum verdict)v));
		between = ", ";
	}
	fputc('\n', p->out);
}

/* The bounds that were reached: with higher ones, more might be found or decided. */
static void put_limits(const struct printer *p)
{
	struct report_limit limits[LIMITS];
	size_t n = report_limits(p->r, limits);
	const char *between = "limits hit: ";
	for (size_t i = 0; i < n; i++) {
		if (!limits[i].hit)
			continue;
		fprintf(p->out, "%s%" PRIu64 " %s", between, limits[i].bound, limits[i].what);
		between = ", ";
	}
	if (*between == ',')
		fputc('\n', p->out);
}

/* Counted above, but not listed. */
static void put_hidden(const struct printer *p)
{
	uint64_t counted = 0, listed = 0;
	for (int kind = 0; kind < ANOMALY_KINDS; kind++)
		for (int v = 0; v < VERDICT_PREDICTED; v++)
			counted += p->r->summary[kind][v];
	for (size_t i = 0; i < p->r->count; i++)
		listed += p->r->entries[i].anomaly->verdict < VERDICT_PREDICTED;
	if (counted && !listed)
		fprintf(p->out, "not listed: conditional and refuted anomalies%s\n",
		        p->r->unkept ? "" : "; --all lists them");
}

static void put_trace(const struct printer *p)
{
	text_put(p, p->r->unkept ? "the trace, which is not kept" : p->info->path);
	fprintf(p->out, ": %" PRIu64 " event%s of %" PRIu32 " thread%s", p->info->events, text_plural(p->info->events),
	        p->info->thread_count, text_plural(p->info->thread_count));
	if (p->info->left_out)
		fprintf(p->out, ", %" PRIu64 " repeat%s left out", p->info->left_out, text_plural(p->info->left_out));
	fputc('\n', p->out);
	if (p->info->lost) {
		text_put_styled(p, YELLOW, "warning: ");
		fprintf(p->out, "%" PRIu64 " event%s could not be recorded: what they did is not in this report\n",
		        p->info->lost, text_plural(p->info->lost));
	}
}

/* The first line: an empty report of an incomplete trace means little. */
static void put_incomplete(const struct printer *p, const char *what, const char *why)
{
	text_put_styled(p, YELLOW, "warning: ");
	fputs(what, p->out);
	text_put(p, why);
	fputs("; this report is about what is there\n", p->out);
}

/* With --exhaustive: whether every state was visited. */
static void put_states(const struct printer *p)
{
	const struct prove_counts *proofs = &p->r->analysis->proofs;
	if (!proofs->visited)
		return;
	if (proofs->all) {
		fprintf(p->out, "every state that matters was visited: %" PRIu64 "\n", proofs->states);
		return;
	}
	text_put_styled(p, YELLOW, "warning: ");
	if (proofs->states)
		fprintf(p->out, "gave up visiting states after %" PRIu64, proofs->states);
	else
		fputs("too many pairs of events to visit every state", p->out);
	fputs(": what was not met is left to the other provers\n", p->out);
}

/* What the trace lacks because code was not instrumented. */
static void put_modules(const struct printer *p)
{
	enum { SHOWN = 8 };
	struct plain_modules plain;
	if (p->info->binary || !plain_modules_find(p->r->analysis->trace, &plain))
		return;
	if (p->info->sync_only)
		fputs(
		    "only what the program synchronises with was recorded: no races are looked for, and deadlocks are "
		    "predicted, not proved\n",
		    p->out);
	for (size_t i = 0; i < plain.count && i < SHOWN; i++) {
		fputs(i ? ", " : "not instrumented: ", p->out);
		text_put(p, plain.paths[i]);
	}
	if (plain.count > SHOWN)
		fprintf(p->out, " and %zu more", plain.count - SHOWN);
	if (plain.count)
		fputc('\n', p->out);
	plain_modules_release(&plain);
}

/*
 * The anomalies. There can be very many that are only predicted, if the provers' budget ran out: the first of each kind
 * (they are ranked) are printed, and the number of the others.
 */
enum { PREDICTED_SHOWN = 20 };

static void put_anomalies(const struct printer *p)
{
	uint64_t predicted = 0, kept = 0;
	for (size_t i = 0; i < p->r->count && !ferror(p->out); i++) {
		const struct anomaly *anomaly = p->r->entries[i].anomaly;
		if (i && anomaly->kind != p->r->entries[i - 1].anomaly->kind)
			predicted = 0;
		/* A race that follows another is listed under it. */
		if (*follows_under(p->r, anomaly) && p->r->count > 1)
			continue;
		predicted += anomaly->verdict == VERDICT_PREDICTED;
		if (anomaly->verdict == VERDICT_PREDICTED && predicted > PREDICTED_SHOWN)
			kept++;
		else
			text_put_anomaly(p, &p->r->entries[i]);
	}
	if (kept)
		fprintf(p->out,
		        "%" PRIu64 " more that are only predicted are not shown here: --format json lists them\n\n",
		        kept);
}

/* Findings that are errors or warnings. Notes are counted. */
static void put_levels(const struct printer *p, const size_t levels[LEVELS], size_t under, size_t known,
                       size_t suppressed, const char *notes)
{
	fprintf(p->out, "findings: %zu error%s, %zu warning%s, %zu note%s%s", levels[LEVEL_ERROR],
	        text_plural(levels[LEVEL_ERROR]), levels[LEVEL_WARNING], text_plural(levels[LEVEL_WARNING]),
	        levels[LEVEL_NOTE], text_plural(levels[LEVEL_NOTE]), levels[LEVEL_NOTE] ? notes : "");
	if (known)
		fprintf(p->out, ", %zu known", known);
	if (suppressed)
		fprintf(p->out, ", %zu suppressed", suppressed);
	if (under)
		fprintf(p->out, ", %zu that follow%s", under, under == 1 ? "s from another" : " from others");
	fputc('\n', p->out);
}

static void put_findings(const struct printer *p)
{
	const struct findings *f = p->r->findings;
	size_t levels[LEVELS], under = findings_count(f, levels);
	for (size_t i = 0; i < f->count && !ferror(p->out); i++)
		if (f->items[i].level > LEVEL_NOTE && !f->items[i].known && !finding_is_under(&f->items[i]))
			text_put_finding(p, &f->items[i]);
	put_levels(p, levels, under, f->known, f->suppressed, p->r->unkept ? "" : " (--anomalies lists all)");
}

/* Has the printer print to `out`, with lines that a terminal has the width for. */
static void begin(struct printer *p, struct wrap *wrap, FILE *out)
{
	p->out = out;
	p->width = text_width(out);
	*wrap = (struct wrap){.to = out, .width = p->width};
	p->wrap = wrap;
	if (p->width && !(p->out = wrap_open(wrap))) {
		p->out = out;
		*p->no_memory = true;
	}
}

static enum rt_status end(const struct printer *p, FILE *out, struct rt_error *err)
{
	if (p->out != out && fclose(p->out))
		*p->no_memory = true;
	return *p->no_memory || p->r->sources->no_memory ? rt_error_set(err, RT_EMEMORY, "no memory for the report")
	                                                 : RT_OK;
}

enum rt_status report_text(const struct report *r, bool color, FILE *out, struct rt_error *err)
{
	bool no_memory = false;
	struct wrap wrap;
	struct printer p = {.no_memory = &no_memory, .r = r, .info = rt_trace_info(r->analysis->trace), .color = color};
	begin(&p, &wrap, out);
	if (r->incomplete)
		put_incomplete(&p, "the trace is incomplete: ", r->incomplete);
	if (r->by_anomaly)
		put_anomalies(&p);
	else
		put_findings(&p);
	for (int kind = 0; kind < ANOMALY_KINDS; kind++)
		if (r->analysis->kinds >> kind & 1)
			put_summary_line(&p, (enum anomaly_kind)kind, r->summary[kind]);
	put_hidden(&p);
	put_limits(&p);
	put_states(&p);
	put_trace(&p);
	put_modules(&p);
	return end(&p, out, err);
}

/* Several runs */

static void put_incident(const struct printer *p, const struct merged_finding *f)
{
	text_style(p, BOLD);
	fprintf(p->out, "%s ", f->id);
	text_put_styled(p, RED, finding_level_name(f->level));
	fprintf(p->out, ", %s: ", verdict_name(f->verdict));
	text_put_styled(p, BOLD, f->incident->title);
	fputs("\n  ", p->out);
	text_put(p, p->seen);
	fputs("\n\n", p->out);
}

/* What belongs to the report that the next finding is of. */
static void turn_to(struct printer *p, const struct report *r)
{
	if (r == p->r)
		return;
	*p->no_memory |= p->r->sources->no_memory;
	p->r = r;
	p->info = rt_trace_info(r->analysis->trace);
}

static void put_merged(struct printer *p, const struct merge *m, const struct merged_finding *f)
{
	char seen[4096];
	merge_repeat_text(m, f, seen, sizeof seen);
	p->seen = seen;
	p->merged = f;
	if (f->finding) {
		turn_to(p, f->report);
		text_put_finding(p, f->finding);
	} else {
		put_incident(p, f);
	}
	p->seen = NULL;
	p->merged = NULL;
}

static void put_runs(const struct printer *p, const struct merge *m)
{
	char text[256];
	size_t unlisted = merge_runs_text(m, text, sizeof text);
	fprintf(p->out, "%s\n", text);
	if (unlisted)
		fprintf(p->out, "not listed: further anomalies of these findings in %zu %s\n", unlisted,
		        merge_units(m, unlisted));
}

/* RaceFuzzer's table: which patterns are real, how often they could be created, and what came of it. */
static void put_trials(const struct printer *p, const struct merge *m)
{
	char text[2048];
	if (!m->trial_count)
		return;
	fputs("patterns, and in how many of the runs that aimed at them they were created:\n", p->out);
	for (size_t i = 0; i < m->trial_count; i++) {
		merge_trial_text(&m->trials[i], text, sizeof text);
		fputs("  ", p->out);
		text_put(p, text);
		fputc('\n', p->out);
	}
	merge_plain_text(m, text, sizeof text);
	fprintf(p->out, "  %s\n", text);
}

static void put_search(const struct printer *p, const struct merge *m)
{
	char text[512];
	if (merge_search_text(m, text, sizeof text))
		fprintf(p->out, "%s\n", text);
}

enum rt_status report_text_merged(const struct merge *m, bool color, FILE *out, struct rt_error *err)
{
	const struct report *any = merge_any_report(m);
	bool no_memory = false;
	struct wrap wrap;
	struct printer p = {
	    .no_memory = &no_memory, .r = any, .info = rt_trace_info(any->analysis->trace), .color = color};
	char lacking[4096];
	size_t levels[LEVELS], under = merge_count(m, levels);
	begin(&p, &wrap, out);
	if (merge_incomplete_text(m, lacking, sizeof lacking))
		put_incomplete(&p, "", lacking);
	for (size_t i = 0; i < m->count && !ferror(out); i++)
		if (m->items[i].level > LEVEL_NOTE && !m->items[i].known && !merge_is_under(m, &m->items[i]))
			put_merged(&p, m, &m->items[i]);
	put_trials(&p, m);
	put_search(&p, m);
	put_levels(&p, levels, under, m->known, m->suppressed, " (--format json lists all)");
	for (int kind = 0; kind < ANOMALY_KINDS; kind++)
		if (any->analysis->kinds >> kind & 1)
			put_summary_line(&p, (enum anomaly_kind)kind, m->summary[kind]);
	put_runs(&p, m);
	turn_to(&p, any);
	put_modules(&p);
	return end(&p, out, err);
}
