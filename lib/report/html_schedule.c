/*
 * A schedule as a picture (SVG within the page): a lane for each thread, from top to bottom the turns of the threads,
 * an arrow where the next thread goes on. The anomaly's own events stand out, with their lines.
 */
#include "lib/report/html.h"
#include "lib/report/steps.h"
#include "lib/report/utf8.h"

#include <inttypes.h>
#include <string.h>

enum {
	TURNS_MAX = 16,   /* the last ones are drawn; `racetrace schedule` prints all */
	COLUMNS_MAX = 32, /* threads that have a lane */
	LANE = 190,       /* pixels */
	MARGIN = 6,
	LINE = 18,
	GAP = 14,
	HEAD = 26,
	NAME_MAX_SHOWN = 24
};

struct columns {
	uint32_t threads[COLUMNS_MAX]; /* sorted */
	uint32_t count;
};

struct drawing {
	const struct page *p;
	const struct anomaly *anomaly;
	struct columns columns;
	struct steps steps;
	int y;    /* where the next turn begins */
	int from; /* middle of the lane of the turn before; -1: none */
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

static int lane_of(const struct columns *c, uint32_t thread)
{
	for (uint32_t i = 0; i < c->count; i++)
		if (c->threads[i] == thread)
			return (int)i;
	return -1;
}

static bool runs(const struct step *step, const struct description *d)
{
	return d && step->thread == d->event.thread && step->from <= d->event.ordinal && d->event.ordinal <= step->to;
}

/* As much of a name as fits into a lane. */
static void put_short(const struct page *p, const char *text)
{
	char shown[4 * NAME_MAX_SHOWN + 1];
	const char *at = text;
	uint32_t character;
	for (int n = 0; *at && n < NAME_MAX_SHOWN; n++)
		at += utf8_decode(at, &character);
	snprintf(shown, sizeof shown, "%.*s", (int)(at - text), text);
	html_put(p, shown);
	if (*at)
		fputs("\xe2\x80\xa6", p->out);
}

/* An arrow from the turn before, and the box of this one. Returns the x of its text. */
static int put_box(struct drawing *d, uint32_t thread, int lines, bool goal)
{
	int lane = lane_of(&d->columns, thread), x = lane * LANE + MARGIN, middle = lane * LANE + LANE / 2;
	if (d->from >= 0 && d->from != middle)
		fprintf(d->p->out, "<path class=\"next\" d=\"M%d %dL%d %d\"/>", d->from, d->y - GAP, middle, d->y - 1);
	fprintf(d->p->out, "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"4\"/>",
	        goal ? "goal" : "turn", x, d->y, LANE - 2 * MARGIN, LINE * lines + MARGIN);
	d->from = middle;
	return x + MARGIN;
}

static void put_event(struct drawing *d, const struct description *event, int x, int y)
{
	const struct page *p = d->p;
	const struct rt_frame *f = subject_frame(p->r, event->event.pc);
	fprintf(p->out, "<text class=\"own\" x=\"%d\" y=\"%d\">%" PRIu64 ": %s</text><text x=\"%d\" y=\"%d\">", x, y,
	        event->event.ordinal, rt_op_name(event->event.op), x, y + LINE);
	if (f && f->file) {
		put_short(p, subject_basename(f->file));
		fprintf(p->out, ":%" PRIu32, f->line);
	} else if (f && (f->text || f->function)) {
		put_short(p, f->text ? f->text : f->function);
	} else {
		fprintf(p->out, "0x%" PRIx64, event->event.pc);
	}
	fputs("</text>\n", p->out);
}

/* Number of the anomaly's events that a turn executes. */
static int own_events(const struct drawing *d, const struct step *step)
{
	int n = 0;
	for (uint32_t i = 0; i < d->anomaly->event_count; i++)
		n += runs(step, report_event(d->p->r, d->anomaly->events[i]));
	return n;
}

/* The events that one thread executes in its turn, with the anomaly's among them. */
static void put_turn(struct drawing *d, const struct step *step)
{
	int lines = 1 + 2 * own_events(d, step), y = d->y + LINE - 4;
	if (lane_of(&d->columns, step->thread) < 0)
		return;
	int x = put_box(d, step->thread, lines, lines > 1);
	fprintf(d->p->out, "<text x=\"%d\" y=\"%d\">events %" PRIu64 "\xe2\x80\x93%" PRIu64 "</text>\n", x, y,
	        step->from, step->to);
	for (uint32_t i = 0; i < d->anomaly->event_count; i++) {
		const struct description *event = report_event(d->p->r, d->anomaly->events[i]);
		if (!runs(step, event))
			continue;
		put_event(d, event, x, y += LINE);
		y += LINE;
	}
	d->y += LINE * lines + MARGIN + GAP;
}

/* The anomaly's events that no step runs: all of them come next, side by side. */
static void put_goal(struct drawing *d)
{
	int used = 0;
	for (uint32_t i = 0; i < d->anomaly->event_count; i++) {
		const struct description *event = report_event(d->p->r, d->anomaly->events[i]);
		bool run = !event || lane_of(&d->columns, event->event.thread) < 0;
		for (size_t k = 0; k < d->steps.count && !run; k++)
			run = runs(&d->steps.items[k], event);
		if (run)
			continue;
		d->from = -1;
		put_event(d, event, put_box(d, event->event.thread, 2, true), d->y + LINE - 4);
		used = 2 * LINE + MARGIN + GAP;
	}
	d->y += used;
}

/* In words, for readers that do not see it. */
static void put_label(const struct drawing *d, const struct report_entry *entry, size_t first)
{
	const char *between = ": ";
	fprintf(d->p->out, "role=\"img\" aria-label=\"Schedule of %s", entry->id);
	for (size_t i = first; i < d->steps.count; i++) {
		fputs(between, d->p->out);
		html_put_thread(d->p, d->steps.items[i].thread);
		fprintf(d->p->out, " %" PRIu64 "-%" PRIu64, d->steps.items[i].from, d->steps.items[i].to);
		between = ", ";
	}
	putc('"', d->p->out);
}

static int height_of(const struct drawing *d, size_t first)
{
	int height = HEAD + MARGIN, inside = 0;
	for (size_t i = 0; i < d->steps.count; i++) {
		int n = own_events(d, &d->steps.items[i]);
		inside += n;
		if (i >= first)
			height += LINE * (1 + 2 * n) + MARGIN + GAP;
	}
	return height + (inside < (int)d->anomaly->event_count ? 2 * LINE + MARGIN + GAP : 0);
}

static void put_lanes(const struct drawing *d, int height)
{
	for (uint32_t i = 0; i < d->columns.count; i++) {
		int middle = (int)i * LANE + LANE / 2;
		fprintf(d->p->out, "<path class=\"lane\" d=\"M%d %dV%d\"/><text class=\"name\" x=\"%d\" y=\"%d\">",
		        middle, HEAD, height, (int)i * LANE + MARGIN, LINE - 2);
		put_short(d->p, html_thread_name(d->p, d->columns.threads[i]));
		fputs("</text>\n", d->p->out);
	}
}

static void put_notes(const struct page *p, const struct anomaly *anomaly)
{
	if (anomaly->guess)
		fprintf(p->out, " It is a guess (PECAN's) and no proof: %s.", anomaly->guess);
	if (anomaly->uncertain)
		fprintf(p->out, " It is no proof: of %" PRIu32 " reads only time stamps tell which write they saw.",
		        anomaly->uncertain);
	if (anomaly->substitutes)
		fprintf(p->out, " In it %" PRIu32 " %s another write of the value that was seen.", anomaly->substitutes,
		        anomaly->substitutes == 1 ? "read sees" : "reads see");
}

static void draw(struct drawing *d, const struct report_entry *entry)
{
	const struct page *p = d->p;
	size_t first = d->steps.count > TURNS_MAX ? d->steps.count - TURNS_MAX : 0;
	for (uint32_t i = 0; i < d->anomaly->event_count; i++)
		column_add(&d->columns, model_thread_of(p->r->analysis->model, d->anomaly->events[i]));
	for (size_t i = first; i < d->steps.count; i++)
		column_add(&d->columns, d->steps.items[i].thread);
	int width = (int)d->columns.count * LANE, height = height_of(d, first);
	fprintf(
	    p->out,
	    "<h%d>A schedule that shows it</h%d>\n<p>From top to bottom, which of its own events each thread executes "
	    "in its turn.",
	    p->heading + 1, p->heading + 1);
	if (first)
		fprintf(p->out, " The first %zu turns are left out%s.", first,
		        p->merged || p->r->unkept ? "" : "; <code>racetrace schedule</code> prints them");
	put_notes(p, d->anomaly);
	fprintf(p->out,
	        "</p>\n<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"schedule of %s\">\n<svg "
	        "class=\"schedule\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" ",
	        entry->id, width, height, width, height);
	put_label(d, entry, first);
	fputs(">\n", p->out);
	put_lanes(d, height);
	for (size_t i = first; i < d->steps.count; i++)
		put_turn(d, &d->steps.items[i]);
	put_goal(d);
	fputs("</svg>\n</div>\n", p->out);
}

bool html_put_schedule(const struct page *p, const struct report_entry *entry)
{
	struct drawing d = {.p = p, .anomaly = entry->anomaly, .y = HEAD + MARGIN, .from = -1};
	if (!entry->anomaly->schedule)
		return true;
	if (!steps_init(&d.steps, p->r->analysis->model, p->r->descriptions, entry->anomaly))
		return false;
	draw(&d, entry);
	steps_release(&d.steps);
	return true;
}
