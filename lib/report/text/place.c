/* Places of a finding in the text report: two side by side where the terminal is wide enough, else one below the other.
 */
#include "lib/report/declaration.h"
#include "lib/report/deed.h"
#include "lib/report/text/text.h"
#include "lib/report/utf8.h"
#include "lib/report/waiting.h"
#include "lib/trace/own_code.h"

#include "lib/base/memory_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { CALLERS_SHOWN = 3 };
enum { SIDES_WIDTH = 100, SIDES_INDENT = 2, SIDES_GAP = 3, WRAP_INDENT = 2 }; /* columns */

/* Parts of a place, each on lines of its own. */
enum side_part { POSITION, DEED, SOURCE, CALLERS, PARTS };

void text_put_position(const struct printer *p, const struct place *place)
{
	const struct rt_frame *f = place->frame;
	char function[PLACE_FUNCTION_MAX], address[SUBJECT_NAME_MAX];
	if (f && f->file) {
		text_put(p, report_path(p->r, f->file));
		fprintf(p->out, ":%" PRIu32, f->line);
	} else if (f && f->text) {
		fputs("location ", p->out);
		text_put(p, f->text);
	} else if (!f || !f->function) {
		subject_address(p->r, place->pc, address);
		text_put(p, address);
	}
	if (f && f->function) {
		place_function(place, function);
		fputs(f->file ? " in " : "", p->out);
		text_put_styled(p, BOLD, function);
	}
}

/* waits: which one of its kind it is matters, too. */
static void put_locks(const struct printer *p, const struct description *d, bool waits)
{
	char name[SUBJECT_NAME_MAX];
	fputs(d->lock_count ? ", holding " : ", holding no lock", p->out);
	for (size_t i = 0; i < d->lock_count; i++) {
		fputs(i ? ", " : "", p->out);
		if (!waits && declaration_at_place(p->r, &d->locks[i], name))
			text_put_styled(p, BOLD, name);
		else
			text_put_lock_name(p, d->locks[i].addr, &d->locks[i].block, place_taken(p->r, &d->locks[i]));
		fputs(d->locks[i].shared ? " as a reader" : "", p->out);
	}
}

/* What its thread does there: "reads by std::map::find, holding m". */
static void put_deed(const struct printer *p, const struct finding_place *place, const struct description *d)
{
	struct place callee = {.frame = place->place.callee};
	char text[WAITING_TEXT_MAX], function[PLACE_FUNCTION_MAX];
	text_put_thread(p, d->event.thread);
	description_signal(d, text);
	if (text[0])
		fprintf(p->out, ", in a handler of %s,", text);
	fputc(' ', p->out);
	if (waiting_op(d)) {
		waiting_text(p->r, d, text);
		text_put(p, text);
	} else if (rt_op_is_access(place->op) || place->op == RT_OP_ALLOC) {
		fputs(finding_does(p->r, place), p->out);
	} else {
		bool again = d->event.op == RT_OP_WAIT_END; /* its mutex is the second operand */
		fputs("acquires ", p->out);
		text_put_lock_name(p, again ? d->event.arg : d->event.addr, again ? NULL : subject_lock_block(d), d);
	}
	if (callee.frame && rt_op_is_access(place->op)) {
		place_function(&callee, function);
		fputs(" in ", p->out);
		text_put(p, function);
	}
	/* What the system knows of a thread's file locks is not told there. */
	if (place->op != RT_OP_ALLOC && (place->op != RT_OP_BLOCK || d->lock_count))
		put_locks(p, d, !rt_op_is_access(place->op));
}

/* The user's calls around the place, the innermost first, behind `indent` blanks. False if there are none. */
static bool put_callers(const struct printer *p, const struct finding_place *place, const struct description *d,
                        int indent)
{
	bool past = false;
	int shown = 0;
	for (size_t i = 0; i < d->stack_count && shown < CALLERS_SHOWN; i++) {
		size_t n = 0;
		const struct rt_frame *frames = rt_trace_frames(p->r->analysis->trace, d->stack[i], &n);
		for (size_t k = 0; k < n && shown < CALLERS_SHOWN; k++) {
			if (past && frames[k].function && !frame_is_library(&frames[k])) {
				struct place caller = {.frame = &frames[k]};
				fprintf(p->out, "%*s%s", shown ? 0 : indent, "", shown ? ", " : "called from ");
				shown++;
				text_put_position(p, &caller);
			}
			past |= &frames[k] == place->place.frame;
		}
	}
	return shown > 0;
}

/* The place's own source line with its number. */
static void put_source(const struct printer *p, const struct finding_place *place)
{
	const struct rt_frame *f = place->place.frame;
	char *line = f ? snippet_around(p->r->sources, f->file, f->line, f->column) : NULL;
	if (!line)
		return;
	fprintf(p->out, "%*s%" PRIu32 " | ", 3, "", f->line);
	text_put(p, line);
	free(line);
}

/* --- one below the other --- */

static void put_place(const struct printer *p, const struct finding_place *place)
{
	enum { INDENT = 5 };
	const struct description *d = report_event(p->r, place->e);
	if (!d)
		return;
	fputs("  ", p->out);
	text_put_position(p, &place->place);
	fputs(": ", p->out);
	put_deed(p, place, d);
	fputc('\n', p->out);
	if (place->place.frame)
		text_put_snippet(p, 2, place->place.frame);
	if (p->r->verbose)
		text_put_stack(p, d, INDENT, false);
	else if (put_callers(p, place, d, INDENT))
		fputc('\n', p->out);
}

/* --- side by side --- */

/* Bytes of the text that fit into the columns; it is broken at a blank where there is one. */
static size_t fitting(const char *text, size_t length, uint32_t columns)
{
	size_t bytes = 0, blank = 0;
	for (uint32_t n = 0; bytes < length; n++) {
		uint32_t character;
		if (n == columns)
			return blank ? blank : bytes;
		if (text[bytes] == ' ' && bytes && text[bytes - 1] != ' ')
			blank = bytes;
		bytes += utf8_decode(text + bytes, &character);
	}
	return length;
}

static uint32_t columns_of(const char *text, size_t length)
{
	uint32_t n = 0, character;
	for (size_t bytes = 0; bytes < length; n++)
		bytes += utf8_decode(text + bytes, &character);
	return n;
}

struct side {
	struct rt_bytes parts[PARTS];
	const char *rest; /* of the part that is printed */
	size_t length;
	bool wrapped;
};

/* Writes a part without colors, of which the width of columns knows nothing. */
static void make_part(const struct printer *p, const struct finding_place *place, enum side_part part,
                      struct rt_bytes *to)
{
	const struct description *d = report_event(p->r, place->e);
	struct printer own = *p;
	own.color = false;
	own.out = rt_memory_file(to);
	if (!own.out) {
		*p->no_memory = true;
		return;
	}
	if (part == POSITION)
		text_put_position(&own, &place->place);
	else if (part == DEED && d)
		put_deed(&own, place, d);
	else if (part == SOURCE)
		put_source(&own, place);
	else if (part == CALLERS && d)
		put_callers(&own, place, d, 0);
	bool failed = fclose(own.out) != 0;
	rt_bytes_add(to, "", 1); /* its end */
	if (failed || to->failed) {
		*p->no_memory = true;
		to->len = 0;
	} else {
		to->len--;
	}
}

/* One line of a side, at most `columns` wide. Returns its width. */
static uint32_t put_line(const struct printer *p, struct side *s, uint32_t columns, enum style style)
{
	uint32_t indent = s->wrapped ? WRAP_INDENT : 0;
	if (!s->length)
		return 0;
	size_t n = fitting(s->rest, s->length, columns - indent);
	fprintf(p->out, "%*s", (int)indent, "");
	text_style(p, style);
	fwrite(s->rest, 1, n, p->out);
	text_style(p, PLAIN);
	uint32_t used = indent + columns_of(s->rest, n);
	s->rest += n;
	s->length -= n;
	while (s->length && *s->rest == ' ') {
		s->rest++;
		s->length--;
	}
	s->wrapped = true;
	return used;
}

static void put_sides(const struct printer *p, const struct finding_place places[2])
{
	static const enum style styles[PARTS] = {[POSITION] = BOLD, [SOURCE] = DIM};
	struct side sides[2] = {0};
	uint32_t columns = (p->width - SIDES_INDENT - SIDES_GAP) / 2;
	for (int part = 0; part < PARTS; part++) {
		for (int i = 0; i < 2; i++) {
			struct rt_bytes *text = &sides[i].parts[part];
			make_part(p, &places[i], (enum side_part)part, text);
			sides[i].rest = text->len ? (const char *)text->data : "";
			sides[i].length = text->len;
			sides[i].wrapped = false;
		}
		while (sides[0].length || sides[1].length) {
			fprintf(p->out, "%*s", SIDES_INDENT, "");
			uint32_t used = put_line(p, &sides[0], columns, styles[part]);
			fprintf(p->out, "%*s |%s", (int)(columns - used), "", sides[1].length ? " " : "");
			put_line(p, &sides[1], columns, styles[part]);
			fputc('\n', p->out);
		}
	}
	for (int i = 0; i < 2; i++)
		for (int part = 0; part < PARTS; part++)
			rt_bytes_release(&sides[i].parts[part]);
}

void text_put_places(const struct printer *p, const struct finding_place *places, size_t count)
{
	size_t i = 0;
	if (count >= 2 && p->width >= SIDES_WIDTH && !p->r->verbose && report_event(p->r, places[0].e) &&
	    report_event(p->r, places[1].e)) {
		put_sides(p, places);
		i = 2;
	}
	for (; i < count; i++)
		put_place(p, &places[i]);
}

void text_put_deed(const struct printer *p, const struct finding_place *place)
{
	const struct description *d = report_event(p->r, place->e);
	if (d)
		put_deed(p, place, d);
}
