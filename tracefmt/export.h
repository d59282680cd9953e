/* Writing a trace in the other formats: JSON lines, RAPID's STD. racetrace's own (native/writer.h). */
#ifndef TRACEFMT_EXPORT_H
#define TRACEFMT_EXPORT_H

#include "tracefmt/trace.h"

#include <stdio.h>

/* JSON lines (docs/jsonl-format.md): create writes the header; before each event come the lines that it is the first to
 * need. */
struct rt_jsonl_writer;

/*
 * whole: all events of the trace follow, so the header may have their number. trace and out are borrowed. On RT_OK the
 * caller owns *writer, and checks out for write errors (ferror).
 */
enum rt_status rt_jsonl_create(struct rt_trace *trace, FILE *out, bool whole, struct rt_jsonl_writer **writer,
                               struct rt_error *err);
enum rt_status rt_jsonl_event(struct rt_jsonl_writer *writer, const struct rt_event *event, struct rt_error *err);
void rt_jsonl_free(struct rt_jsonl_writer *writer);

/* Events that STD cannot express. */
struct rt_std_losses {
	uint64_t as_locks;         /* written as critical sections that order at least what the event orders */
	uint64_t left_out;         /* left out */
	uint64_t values;           /* written without their value */
	uint64_t ops[RT_OP_COUNT]; /* as_locks + left_out, by operation */
};

/*
 * Writes the whole trace as STD (docs/std-format.md says what each event becomes). Reads the trace from the start,
 * twice. The caller checks out for write errors (ferror). uncertain: in a trace whose order is stamped, the
 * accesses with an uncertain value, which STD cannot express; NULL: no value is written.
 */
enum rt_status rt_export_std(struct rt_trace *trace, const struct rt_numbers *uncertain, FILE *out,
                             struct rt_std_losses *losses, struct rt_error *err);

/*
 * Writes the whole trace as racetrace's own file. Events keep thread, order and ordinal; they are renumbered from 1
 * without gaps. The result is complete even if the trace was cut short.
 */
enum rt_status rt_export_file(struct rt_trace *trace, const char *path, struct rt_error *err);

#endif
