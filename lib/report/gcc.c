/*
 * Findings as lines that editors take for a compiler's: the place to change as an error, a warning or a note, the other
 * places as notes behind it.
 */
#include "lib/report/deed.h"
#include "lib/report/findings.h"
#include "lib/report/formats.h"
#include "lib/report/merge.h"
#include "lib/report/utf8.h"

#include <inttypes.h>

static void put_line(const struct report *r, const struct place *place, const char *level, const char *text, FILE *out)
{
	const struct rt_frame *f = place->frame;
	const char *path = rt_trace_info(r->analysis->trace)->path;
	utf8_write(f && f->file ? f->file : path, out);
	if (f && f->file)
		subject_put_line(f, out);
	fprintf(out, ": %s: ", level);
	utf8_write(text, out);
}

static const struct place *main_place(const struct report *r, const struct finding *f)
{
	static const struct place none;
	return f->place_count ? &f->places[finding_main_place(r, f)].place : &none;
}

static void put_finding(const struct report *r, const struct finding *f, FILE *out)
{
	char text[FINDING_TEXT_MAX];
	size_t first = finding_main_place(r, f);
	finding_title(r, f, text);
	put_line(r, main_place(r, f), finding_level_name(f->level), text, out);
	fprintf(out, " [%s, %s]\n", f->id, verdict_name(f->verdict));
	for (size_t i = 0; i < f->place_count; i++) {
		char function[PLACE_FUNCTION_MAX], other[PLACE_FUNCTION_MAX + 32];
		if (i == first)
			continue;
		place_function(&f->places[i].place, function);
		snprintf(other, sizeof other, "%s %s here", function, finding_does(r, &f->places[i]));
		put_line(r, &f->places[i].place, "note", other, out);
		putc('\n', out);
	}
	if (finding_guard_text(f, text)) {
		put_line(r, main_place(r, f), "note", "guard: ", out);
		utf8_write(text, out);
		putc('\n', out);
	}
}

/* The first line: no lines for a trace that was cut short mean little. */
static void put_incomplete(const struct report *r, const char *what, const char *why, FILE *out)
{
	put_line(r, &(struct place){0}, "warning", what, out);
	utf8_write(why, out);
	putc('\n', out);
}

enum rt_status report_gcc(const struct report *r, bool color, FILE *out, struct rt_error *err)
{
	(void)color;
	(void)err;
	if (r->incomplete)
		put_incomplete(r, "the trace is incomplete: ", r->incomplete, out);
	for (size_t i = 0; i < r->findings->count && !ferror(out); i++)
		if (!r->findings->items[i].known)
			put_finding(r, &r->findings->items[i], out);
	return RT_OK;
}

/* How a run ended has no place in the source: the program is what it is about. */
static void put_incident(const struct report *r, const struct merged_finding *f, FILE *out)
{
	const char *const *command = rt_trace_info(r->analysis->trace)->command;
	const struct rt_frame program = {.file = command ? command[0] : NULL};
	put_line(r, &(struct place){.frame = &program}, finding_level_name(f->level), f->incident->title, out);
	fprintf(out, " [%s, %s]\n", f->id, verdict_name(f->verdict));
	put_line(r, &(struct place){.frame = &program}, "note", "", out);
}

static void put_merged(const struct merge *m, const struct merged_finding *f, FILE *out)
{
	char seen[4096];
	if (f->finding) {
		put_finding(f->report, f->finding, out);
		put_line(f->report, main_place(f->report, f->finding), "note", "", out);
	} else {
		put_incident(merge_any_report(m), f, out);
	}
	merge_repeat_text(m, f, seen, sizeof seen);
	utf8_write(seen, out);
	putc('\n', out);
}

enum rt_status report_gcc_merged(const struct merge *m, bool color, FILE *out, struct rt_error *err)
{
	(void)color;
	(void)err;
	char lacking[4096];
	if (merge_incomplete_text(m, lacking, sizeof lacking))
		put_incomplete(merge_any_report(m), "", lacking, out);
	for (size_t i = 0; i < m->count && !ferror(out); i++)
		if (!m->items[i].known)
			put_merged(m, &m->items[i], out);
	return RT_OK;
}
