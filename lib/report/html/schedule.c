/*
 * A schedule as a picture (SVG, within the page or alone): a lane for each thread, from top to bottom the turns of the
 * threads, an arrow where the next thread goes on. The anomaly's own events stand out, with their lines.
 */
#include "lib/anomaly/goal.h"
#include "lib/report/deed.h"
#include "lib/report/html/html.h"
#include "lib/report/place.h"
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
	NAME_MAX_SHOWN = 24,
	TITLE_WIDTH = 570, /* of a picture that stands alone, at least */
	CHARACTER = 8      /* width */
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
	size_t first; /* the first turn that is drawn */
	int width, height;
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
	const struct rt_frame *f = place_of_stack(p->r, event->stack, event->stack_count).frame;
	fprintf(p->out, "<text class=\"own\" x=\"%d\" y=\"%d\">%" PRIu64 ": ", x, y, event->event.ordinal);
	put_short(p, deed_operation(event->event.op));
	fprintf(p->out, "</text><text x=\"%d\" y=\"%d\">", x, y + LINE);
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

/* True if the anomaly's events come one after the other, not all next at once. */
static bool is_sequence(const struct drawing *d)
{
	return goal_of(d->anomaly).kind == GOAL_SEQUENCE;
}

/* True if a turn executes the event. */
static bool is_run(const struct drawing *d, const struct description *event)
{
	bool run = false;
	for (size_t k = 0; k < d->steps.count && !run; k++)
		run = runs(&d->steps.items[k], event);
	return run;
}

/* The anomaly's events that no step runs: those of a sequence in their order, others side by side. */
static void put_goal(struct drawing *d)
{
	int row = 2 * LINE + MARGIN + GAP, used = 0;
	for (uint32_t i = 0; i < d->anomaly->event_count; i++) {
		const struct description *event = report_event(d->p->r, d->anomaly->events[i]);
		if (!event || lane_of(&d->columns, event->event.thread) < 0 || is_run(d, event))
			continue;
		if (used && is_sequence(d))
			d->y += row;
		else
			d->from = -1;
		put_event(d, event, put_box(d, event->event.thread, 2, true), d->y + LINE - 4);
		used = row;
	}
	d->y += used;
}

/* What the schedule of a later window begins with. */
static uint64_t recorded(const struct drawing *d)
{
	return d->anomaly->schedule ? d->p->r->analysis->model->recorded : 0;
}

/* In words, for readers that do not see it. */
static void put_label(const struct drawing *d, const struct report_entry *entry)
{
	const char *between = ": ";
	fprintf(d->p->out, "role=\"img\" aria-label=\"Schedule of %s", entry->id);
	if (recorded(d)) {
		fprintf(d->p->out, "%sevents 1-%" PRIu64 " as recorded", between, recorded(d));
		between = ", ";
	}
	for (size_t i = d->first; i < d->steps.count; i++) {
		fputs(between, d->p->out);
		html_put_thread(d->p, d->steps.items[i].thread);
		fprintf(d->p->out, " %" PRIu64 "-%" PRIu64, d->steps.items[i].from, d->steps.items[i].to);
		between = ", ";
	}
	putc('"', d->p->out);
}

static int height_of(const struct drawing *d)
{
	int height = HEAD + MARGIN, inside = 0, row = 2 * LINE + MARGIN + GAP;
	for (size_t i = 0; i < d->steps.count; i++) {
		int n = own_events(d, &d->steps.items[i]);
		inside += n;
		if (i >= d->first)
			height += LINE * (1 + 2 * n) + MARGIN + GAP;
	}
	int rest = (int)d->anomaly->event_count - inside;
	if (recorded(d))
		height += LINE + MARGIN + GAP;
	return height + row * (rest > 1 && !is_sequence(d) ? 1 : rest > 0 ? rest : 0);
}

/* A box over all lanes: what happened before the window is as in the recorded run. */
static void put_recorded(struct drawing *d)
{
	if (!recorded(d))
		return;
	fprintf(d->p->out,
	        "<rect class=\"turn\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"4\"/><text x=\"%d\" "
	        "y=\"%d\">1\xe2\x80\x93%" PRIu64 " as recorded</text>\n",
	        MARGIN, d->y, d->width - 2 * MARGIN, LINE + MARGIN, 2 * MARGIN, d->y + LINE - 4, recorded(d));
	d->y += LINE + MARGIN + GAP;
}

static void put_lanes(const struct drawing *d)
{
	for (uint32_t i = 0; i < d->columns.count; i++) {
		int middle = (int)i * LANE + LANE / 2;
		fprintf(d->p->out, "<path class=\"lane\" d=\"M%d %dV%d\"/><text class=\"name\" x=\"%d\" y=\"%d\">",
		        middle, HEAD, d->height, (int)i * LANE + MARGIN, LINE - 2);
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

/* False without memory. */
static bool drawing_init(struct drawing *d, const struct page *p, const struct report_entry *entry)
{
	*d = (struct drawing){.p = p, .anomaly = entry->anomaly, .y = HEAD + MARGIN, .from = -1};
	if (d->anomaly->schedule && !steps_init(&d->steps, p->r->analysis->model, p->r->descriptions, d->anomaly))
		return false;
	d->first = d->steps.count > TURNS_MAX ? d->steps.count - TURNS_MAX : 0;
	for (uint32_t i = 0; i < d->anomaly->event_count; i++)
		column_add(&d->columns, model_thread_of(p->r->analysis->model, d->anomaly->events[i]));
	for (size_t i = d->first; i < d->steps.count; i++)
		column_add(&d->columns, d->steps.items[i].thread);
	d->width = (int)d->columns.count * LANE;
	d->height = height_of(d);
	return true;
}

static void draw(struct drawing *d)
{
	put_lanes(d);
	put_recorded(d);
	for (size_t i = d->first; i < d->steps.count; i++)
		put_turn(d, &d->steps.items[i]);
	put_goal(d);
}

static void put_introduction(const struct drawing *d)
{
	const struct page *p = d->p;
	fprintf(
	    p->out,
	    "<h%d>A schedule that shows it</h%d>\n<p>From top to bottom, which of its own events each thread executes "
	    "in its turn.",
	    p->heading + 1, p->heading + 1);
	if (recorded(d))
		fprintf(p->out, " Before that the trace's events 1\xe2\x80\x93%" PRIu64 " happen as recorded.",
		        recorded(d));
	if (d->first)
		fprintf(p->out, " The first %zu turns%s are left out%s.", d->first, recorded(d) ? " behind these" : "",
		        p->merged || p->r->unkept ? "" : "; <code>racetrace schedule</code> prints them");
	put_notes(p, d->anomaly);
	fputs("</p>\n", p->out);
}

bool html_put_schedule(const struct page *p, const struct report_entry *entry)
{
	struct drawing d;
	if (!entry->anomaly->schedule)
		return true;
	if (!drawing_init(&d, p, entry))
		return false;
	put_introduction(&d);
	fprintf(p->out,
	        "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"schedule of %s\">\n<svg "
	        "class=\"schedule\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" ",
	        entry->id, d.width, d.height, d.width, d.height);
	put_label(&d, entry);
	fputs(">\n", p->out);
	draw(&d);
	fputs("</svg>\n</div>\n", p->out);
	steps_release(&d.steps);
	return true;
}

/* Where the first line of the text ends that is not wider than this, broken at a space if it has one. */
static const char *line_end(const char *text, int width)
{
	const char *at = text, *end = text;
	uint32_t character;
	for (int n = 0; *at && n < width / CHARACTER; n++) {
		at += utf8_decode(at, &character);
		if (!*at || *at == ' ')
			end = at;
	}
	return end == text ? at : end;
}

/* The title in lines of the picture's width. Returns the height that they take. */
static int put_title(const struct page *p, const char *title, int width, bool measured)
{
	int y = LINE;
	for (const char *end; *title; title = end + strspn(end, " "), y += LINE) {
		char line[FINDING_TEXT_MAX];
		end = line_end(title, width);
		snprintf(line, sizeof line, "%.*s", (int)(end - title), title);
		if (measured)
			continue;
		fprintf(p->out, "<text class=\"name\" x=\"%d\" y=\"%d\">", MARGIN, y);
		html_put(p, line);
		fputs("</text>\n", p->out);
	}
	return y;
}

bool html_put_picture(const struct page *p, const struct report_entry *entry, const char *title)
{
	struct drawing d;
	if (!drawing_init(&d, p, entry))
		return false;
	int width = d.width > TITLE_WIDTH ? d.width : TITLE_WIDTH, top = put_title(p, title, width, true);
	fprintf(p->out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" ",
	        width, d.height + top, width, d.height + top);
	put_label(&d, entry);
	fputs(">\n<title>", p->out);
	html_put(p, title);
	fprintf(p->out, "</title>\n<style>%s</style>\n%s\n", html_picture_style, html_picture_arrow);
	put_title(p, title, width, false);
	fprintf(p->out, "<g transform=\"translate(0 %d)\">\n", top);
	draw(&d);
	fputs("</g>\n</svg>\n", p->out);
	steps_release(&d.steps);
	return true;
}
