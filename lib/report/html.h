/* What the parts of the HTML report share. All text from the trace is escaped. */
#ifndef LIB_REPORT_HTML_H
#define LIB_REPORT_HTML_H

#include "lib/report/findings.h"
#include "lib/report/pieces.h"
#include "lib/report/snippet.h"

struct page {
	const struct report *r;
	const struct rt_trace_info *info;
	struct snippets *snippets;
	struct pieces *frames, *sources; /* elements of stacks, without and with their source lines */
	bool *no_memory;
	FILE *out;
};

/* Text from the trace, as text and inside of quotes. */
void html_put(const struct page *p, const char *text);
void html_put_thread(const struct page *p, uint32_t thread);
void html_put_position(const struct page *p, const struct rt_frame *f);
/* The frame's source line, if it may be shown. */
void html_put_snippet(const struct page *p, const struct rt_frame *f);
void html_put_stack(const struct page *p, const struct description *d, bool source);
void html_put_lock(const struct page *p, uint64_t addr, const struct memory_block *block);

/* An anomaly in full, as a section. False without memory. */
bool html_put_anomaly(const struct page *p, const struct report_entry *entry);
/* The list of findings, and errors and warnings one by one. False without memory. */
bool html_put_findings(const struct page *p);
struct merge;
/* The same of several runs. */
bool html_put_merged(struct page *p, const struct merge *m);
/* Frees what is remembered of the trace. */
void html_forget(const struct page *p);

#endif
