/* What the parts of the text report share. Nothing from the trace reaches the terminal unescaped. */
#ifndef LIB_REPORT_TEXT_H
#define LIB_REPORT_TEXT_H

#include "lib/report/findings.h"
#include "lib/report/snippet.h"

struct printer {
	const struct report *r;
	const struct rt_trace_info *info;
	struct snippets *snippets;
	bool *no_memory;
	FILE *out;
	bool color;
	const char *seen; /* in which of several runs the finding is; NULL: there is but one */
};

enum style { PLAIN, BOLD, RED, YELLOW, DIM };

void text_style(const struct printer *p, enum style s);
/* Prints text from the trace. */
void text_put(const struct printer *p, const char *text);
void text_put_styled(const struct printer *p, enum style s, const char *text);
void text_put_thread(const struct printer *p, uint32_t thread);
const char *text_plural(uint64_t n); /* "s", or nothing for 1 */
void text_put_frame(const struct printer *p, size_t index, int indent, const struct rt_frame *f, bool inlined);
/* The frame's source line, if it may be shown. */
void text_put_snippet(const struct printer *p, int indent, const struct rt_frame *f);
/* The stack, without the outermost calls of unknown position (the C library's start of a thread). */
void text_put_stack(const struct printer *p, const struct description *d, int indent, bool source);

/* An anomaly in full (text_anomaly.c), and parts of it. */
void text_put_anomaly(const struct printer *p, const struct report_entry *entry);
void text_put_lock_name(const struct printer *p, uint64_t addr, const struct memory_block *block);
/* told: how the block was allocated is printed elsewhere. */
void text_put_subject(const struct printer *p, const struct subject *s, bool told);
/* The turns of threads that lead to it, if they are few enough to be read. */
void text_put_schedule(const struct printer *p, const struct report_entry *entry);
/* Why it is only predicted. */
void text_put_reasons(const struct printer *p, const struct anomaly *anomaly);
void text_put_outcome(const struct printer *p, const struct anomaly *anomaly);

/* A finding in a screen (text_finding.c). */
void text_put_finding(const struct printer *p, const struct finding *f);

#endif
