/* Writing a trace in the other formats: JSON lines, RAPID's STD. racetrace's own (native/writer.h). */
#ifndef TRACEFMT_EXPORT_H
#define TRACEFMT_EXPORT_H

#include "tracefmt/trace.h"

#include <stdio.h>

/* JSON lines (docs/jsonl-format.md): create writes the header, each event is preceded by what it is the first to need.
 */
struct rt_jsonl_writer;

/*
 * whole: all events of the trace will follow, so the header may say how many. trace and out are borrowed. On RT_OK
 * *writer is owned by the caller. Write errors are left to the caller to find in out (ferror).
 */
enum rt_status rt_jsonl_create(struct rt_trace *trace, FILE *out, bool whole, struct rt_jsonl_writer **writer,
                               struct rt_error *err);
enum rt_status rt_jsonl_event(struct rt_jsonl_writer *writer, const struct rt_event *event, struct rt_error *err);
void rt_jsonl_free(struct rt_jsonl_writer *writer);

/* What STD could not say, as numbers of events. */
struct rt_std_losses {
	uint64_t as_locks;         /* written as critical sections that order at least what the event orders */
	uint64_t left_out;         /* not written at all */
	uint64_t values;           /* written without their value */
	uint64_t ops[RT_OP_COUNT]; /* as_locks + left_out, by operation */
};

/*
 * Writes the whole trace as STD (docs/std-format.md says what becomes of each event). Reads the trace from the start,
 * twice. Write errors are left to the caller to find in out (ferror).
 */
enum rt_status rt_export_std(struct rt_trace *trace, FILE *out, struct rt_std_losses *losses, struct rt_error *err);

/*
 * Writes the whole trace as racetrace's own file. Events keep thread, order and ordinal; numbers are given anew, from 1
 * without gaps. That the trace was cut short is not kept: what there is, is whole.
 */
enum rt_status rt_export_file(struct rt_trace *trace, const char *path, struct rt_error *err);

#endif
