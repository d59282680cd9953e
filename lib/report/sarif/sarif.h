/* What the parts of the SARIF report share. */
#ifndef LIB_REPORT_SARIF_SARIF_H
#define LIB_REPORT_SARIF_SARIF_H

#include "lib/report/findings.h"
#include "lib/report/json_writer.h"
#include "lib/report/pieces.h"

struct merge;
struct merged_finding;
struct sarif {
	struct json_writer w;
	const struct report *r;
	const struct merge *merged; /* several runs; NULL: there is one trace */
	struct pieces frames;       /* elements of stacks */
};

const char *sarif_thread_name(const struct report *r, uint32_t thread);
/* {"text": ...} */
void sarif_message(struct json_writer *w, const char *key, const char *s);
/* said: its message, or NULL. */
void sarif_location(struct json_writer *w, const struct report *r, const char *key, const struct rt_frame *f,
                    const char *said);
/* A result's own location, as an element. Code hosts want a file and a line: where none of the source is known it is
 * the module or the trace, of STD text the event's line. */
void sarif_result_location(struct sarif *s, const struct rt_frame *f, uint64_t event, const char *said);
void sarif_location_of_pc(struct sarif *s, const char *key, uint64_t pc, const char *said);
void sarif_stack(struct sarif *s, const char *key, const struct description *d, const char *said);
/* The folder that relative paths are relative to, as originalUriBaseIds. */
void sarif_base(struct json_writer *w, const char *root);
/* An event in words: "write of 4 bytes by thread main.1, event 7". */
void sarif_say_event(const struct report *r, const struct description *d, char *out, size_t size);
/* The schedule as a code flow: how far each thread runs, in turns, and the anomaly's own events. Thread flows are in
 * the order in which the threads first run. */
void sarif_code_flow(struct sarif *s, const struct anomaly *anomaly);
/* What a baseline or a suppression says of a result. */
void sarif_known(struct sarif *s, bool known, bool suppressed);
/* A finding as a result; of one trace if `in` is NULL. */
void sarif_finding(struct sarif *s, const struct finding *f, const struct merged_finding *in);

#endif
