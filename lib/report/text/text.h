/* What the parts of the text report share. Nothing from the trace reaches the terminal unescaped. */
#ifndef LIB_REPORT_TEXT_TEXT_H
#define LIB_REPORT_TEXT_TEXT_H

#include "lib/report/findings.h"
#include "lib/report/text/wrap.h"
#include "lib/trace/snippet.h"

struct merged_finding;
struct printer {
	const struct report *r;
	const struct rt_trace_info *info;
	bool *no_memory;
	FILE *out;
	bool color;
	uint32_t width;                      /* of the terminal, in columns; 0: lines are not broken */
	struct wrap *wrap;                   /* breaks the lines of `out` */
	const char *seen;                    /* in which of several runs the finding is; NULL: there is but one */
	const struct merged_finding *merged; /* it, of all runs; NULL as above */
};

enum style { PLAIN, BOLD, RED, YELLOW, DIM };

void text_style(const struct printer *p, enum style s);
/* Prints text from the trace. */
void text_put(const struct printer *p, const char *text);
void text_put_styled(const struct printer *p, enum style s, const char *text);
/* Width of the terminal behind the stream; 0: it is none. */
uint32_t text_width(FILE *out);
void text_put_thread(const struct printer *p, uint32_t thread);
const char *text_plural(uint64_t n); /* "s", or nothing for 1 */
void text_put_frame(const struct printer *p, size_t index, int indent, const struct rt_frame *f, bool inlined);
/* The frame's source line, if it may be shown. */
void text_put_snippet(const struct printer *p, int indent, const struct rt_frame *f);
/* The stack, without the outermost calls of unknown position (the C library's start of a thread). */
void text_put_stack(const struct printer *p, const struct description *d, int indent, bool source);

/* An anomaly in full (anomaly.c), and parts of it. */
void text_put_anomaly(const struct printer *p, const struct report_entry *entry);
/* acquire: the event that acquires it, by whose line a lock without a name is known; NULL: not described. */
void text_put_lock_name(const struct printer *p, uint64_t addr, const struct memory_block *block,
                        const struct description *acquire);
/* The turns of threads that lead to it, if they are few enough to be read. */
void text_put_schedule(const struct printer *p, const struct report_entry *entry);
/* Why it is only predicted. */
void text_put_reasons(const struct printer *p, const struct anomaly *anomaly);
/* What its replay came to, if it was replayed; alone: its finding has no other anomaly. */
void text_put_outcome(const struct printer *p, const struct report_entry *entry, bool alone);

/* "queue.c:12 in pop", of a user place (place.c). */
void text_put_position(const struct printer *p, const struct place *place);
/* What a thread does at a place: "main.1 reads, holding m". */
void text_put_deed(const struct printer *p, const struct finding_place *place);
/* Places with what is done there, their source lines and callers: the first two side by side if the terminal is wide.
 */
void text_put_places(const struct printer *p, const struct finding_place *places, size_t count);
/* A finding in a screen (finding.c), with those that follow it. */
void text_put_finding(const struct printer *p, const struct finding *f);

#endif
