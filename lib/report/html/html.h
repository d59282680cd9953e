/* What the parts of the HTML report share. All text from the trace is escaped. */
#ifndef LIB_REPORT_HTML_HTML_H
#define LIB_REPORT_HTML_HTML_H

#include "lib/report/findings.h"
#include "lib/trace/snippet.h"

struct html_stack;
struct merge;
struct merged_finding;
/* The stacks that are on the page. */
struct html_stacks {
	struct html_stack *all; /* of this trace */
	unsigned count;         /* of all traces */
};

struct page {
	const struct report *r;
	const struct rt_trace_info *info;
	struct html_stacks *stacks;
	bool *no_memory;
	FILE *out;
	const struct merge *merged;      /* several runs: ids are those of the page, not of one trace; NULL: one */
	const struct merged_finding *of; /* the finding, of all runs; NULL as above */
	int heading;                     /* level of an anomaly's heading: 2, or 3 below a finding */
};

/* The head of the page, up to the body's begin; and its end, with the script. */
void html_put_head(const struct page *p);
void html_put_end(const struct page *p);

/* Text from the trace, as text and inside of quotes. */
void html_put(const struct page *p, const char *text);
/* The same; names between backquotes are code. Shorter than FINDING_TEXT_MAX. */
void html_put_marked(const struct page *p, const char *text);
const char *html_thread_name(const struct page *p, uint32_t thread);
void html_put_thread(const struct page *p, uint32_t thread);
void html_put_position(const struct page *p, const struct rt_frame *f);
/* The frame's source line, if it may be shown, with the lines around it. */
void html_put_source(const struct page *p, const struct rt_frame *f);
/* The stack; the first time that it is on the page. Later a link to it. */
void html_put_stack(const struct page *p, const struct description *d, bool source);
void html_put_lock(const struct page *p, uint64_t addr, const struct memory_block *block,
                   const struct description *acquire);
/* The name of the anomaly's variable, or its address. */
void html_put_subject_name(const struct page *p, const struct anomaly *anomaly);

/* A schedule as a picture: a lane for each thread, its turns from top to bottom. False without memory. */
bool html_put_schedule(const struct page *p, const struct report_entry *entry);
/* The same alone, as an SVG file below its title. Without a schedule it has the anomaly's own events. */
bool html_put_picture(const struct page *p, const struct report_entry *entry, const char *title);
/* Style and arrow of such a file; the page has the same. */
extern const char html_picture_style[], html_picture_arrow[];
/* An anomaly in full, as a section. False without memory. */
bool html_put_anomaly(const struct page *p, const struct report_entry *entry);
/* The list of findings, and errors and warnings one by one. False without memory. */
bool html_put_findings(const struct page *p);
/* Parts of that: the columns of the list, a row of it (open: its end is missing), the section of a finding. */
void html_put_columns(const struct page *p, const char *label, const char *more);
void html_put_cells(const struct page *p, const struct finding *f);
bool html_put_finding(const struct page *p, const struct finding *f);
/* True if a finding has a section of its own. */
bool html_is_shown(const struct finding *f);
/* "3 errors" and so on, in the summary. under: number of findings beside them that follow from others. */
void html_put_counts(const struct page *p, const size_t levels[LEVELS], size_t under, size_t known, size_t suppressed);

/* Frees what is remembered of the trace. */
void html_forget(const struct page *p);
/* The findings of several runs, as html_put_findings; and what these runs were. */
bool html_put_merged(struct page *p, const struct merge *m);
void html_put_runs(const struct page *p, const struct merge *m);

/* What the page's filter chooses by: an element with data-a (level or verdict) and data-k (kinds) attributes. */
void html_put_choice(const struct page *p, const char *a, uint32_t kinds);
/* The filter, by level or, if verdicts is not 0, by these verdicts; and by kind. incidents: some have no kind. */
void html_put_filter(const struct page *p, uint32_t verdicts, uint32_t kinds, bool incidents);

#endif
