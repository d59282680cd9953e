/* What became of a replay, in lines of plain text: text and HTML show them. */
#include "lib/report/deed.h"
#include "lib/report/place.h"
#include "lib/report/report.h"
#include "lib/report/utf8.h"

#include <inttypes.h>
#include <string.h>

struct lines {
	const struct report *r;        /* NULL: the replay is of no entry */
	const struct anomaly *anomaly; /* NULL: likewise */
	const char *indent;
	FILE *out;
};

static void put(const struct lines *l, const char *text)
{
	utf8_write(text, l->out);
}

static void put_thread(const struct lines *l, uint32_t thread)
{
	const struct rt_trace_info *info = rt_trace_info(l->r->analysis->trace);
	bool known = thread < info->thread_count;
	put(l, known ? info->threads[thread].name : "unknown");
	if (known && info->threads[thread].label) {
		fputs(" (", l->out);
		put(l, info->threads[thread].label);
		fputs(")", l->out);
	}
}

/* "write of line 12 first", of a race's two events; with the thread where else the other event's text is the same. */
static void put_order(const struct lines *l, enum outcome_order order)
{
	const struct anomaly *anomaly = l->anomaly;
	const char *name = outcome_order_name(order);
	const struct description *d[2] = {0};
	uint32_t at[2] = {0}, which = order == OUTCOME_SECOND && anomaly && anomaly->event_count > 1;
	for (uint32_t i = 0; anomaly && i < anomaly->event_count && i < 2; i++) {
		struct place place = place_of(l->r, anomaly->events[i]);
		d[i] = report_event(l->r, anomaly->events[i]);
		at[i] = place.frame ? place.frame->line : 0;
	}
	if (!d[which] && name)
		fprintf(l->out, "the %s event first: ", name);
	if (!order || !d[which])
		return;
	fputs(deed_operation(d[which]->event.op), l->out);
	if (at[which])
		fprintf(l->out, " of line %" PRIu32, at[which]);
	if (d[!which] && d[0]->event.op == d[1]->event.op && at[0] == at[1]) {
		fputs(" by ", l->out);
		put_thread(l, d[which]->event.thread);
	}
	fputs(" first: ", l->out);
}

static void put_line(const struct lines *l, const char *before, const char *text)
{
	fputs(before, l->out);
	put(l, text ? text : "unknown");
	fputc('\n', l->out);
}

/* A line of what belongs to a run. */
static void put_inner(const struct lines *l, const char *before, const char *text)
{
	fprintf(l->out, "%s  ", l->indent);
	put_line(l, before, text);
}

/* The first lines of what it printed. */
static void put_output(const struct lines *l, const char *output)
{
	enum { LINES = 4, COLUMNS = 150 };
	for (int i = 0; *output && i < LINES; i++) {
		char line[COLUMNS + 1];
		size_t n = strcspn(output, "\n");
		snprintf(line, sizeof line, "%.*s", (int)(n < COLUMNS ? n : COLUMNS), output);
		put_inner(l, "| ", line);
		output += n + (output[n] != 0);
	}
}

static void put_run(const struct lines *l, const struct replay_run *run)
{
	char end[128];
	replay_end_text(run, end, sizeof end);
	fputs(l->indent, l->out);
	put_order(l, run->order);
	if (run->way == OUTCOME_BY_RERUN)
		fputs("by a schedule of that run: ", l->out);
	if (run->way == OUTCOME_BY_SEARCH)
		fputs("by a search: ", l->out);
	fputs(outcome_name(run->kind), l->out);
	if (run->runs > 1)
		fprintf(l->out, " (%" PRIu32 " of %" PRIu32 " runs)", run->same, run->runs);
	if (run->kind == OUTCOME_CONFIRMED && run->end)
		fprintf(l->out, "; then: %s%s", end, run->end_differs ? ", unlike the recorded run" : "");
	if (run->kind == OUTCOME_CONFIRMED && run->output_differs)
		fprintf(l->out, "; it prints %s", run->output ? "something else" : "nothing, unlike other runs");
	if (run->why)
		put_line(l, ": ", run->why);
	else
		fputc('\n', l->out);
	if (run->kind == OUTCOME_DIVERGED && run->expected) {
		put_inner(l, "thread: ", run->thread);
		put_inner(l, "expected: ", run->expected);
		put_inner(l, "actual: ", run->actual);
	}
	for (size_t i = 0; i < run->wait_count; i++) {
		fprintf(l->out, "%s  ", l->indent);
		put(l, run->waits[i].thread);
		put_line(l, ": ", run->waits[i].text);
	}
	if (run->kind == OUTCOME_CONFIRMED && run->output && (run->output_differs || run->end_differs))
		put_output(l, run->output);
}

void report_replay_lines(const struct report *r, const struct anomaly *anomaly, const struct replay_result *o,
                         const char *indent, FILE *out)
{
	struct lines l = {.r = r, .anomaly = anomaly, .indent = indent, .out = out};
	if (o->kind == OUTCOME_CONFIRMED)
		fprintf(out, "confirmed, in %" PRIu32 " of %" PRIu32 " runs", o->confirmed, o->runs);
	else
		fprintf(out, "%s, in %" PRIu32 " run%s", outcome_name(o->kind), o->runs, o->runs == 1 ? "" : "s");
	if (o->was >= 0)
		fprintf(out, " (it was %s)", verdict_name((enum verdict)o->was));
	fputc('\n', out);
	for (size_t i = 0; i < o->count; i++)
		put_run(&l, &o->items[i]);
}
