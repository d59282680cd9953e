/*
 * What the targets for the text formats share: the bytes are opened as a trace; what was read is written as JSON lines
 * and as STD; the JSON lines must read back with the same events.
 */
#ifndef TESTS_FUZZ_TEXT_H
#define TESTS_FUZZ_TEXT_H

#include "tracefmt/export.h"
#include "tracefmt/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FUZZ_EVENTS = 4096, FUZZ_OUTPUT = 1 << 20 };

/* Opens the bytes by way of a file in memory; NULL: they are refused, with a message. */
static inline struct rt_trace *fuzz_open(const void *data, size_t size)
{
	static int file = -1;
	static char path[64];
	struct rt_trace *trace;
	struct rt_error err = {0};
	if (file < 0) {
		file = memfd_create("fuzz", 0);
		snprintf(path, sizeof path, "/proc/self/fd/%d", file);
	}
	if (ftruncate(file, 0) || pwrite(file, data, size, 0) != (ssize_t)size)
		abort();
	if (!rt_trace_open(path, &trace, &err))
		return trace;
	if (!err.message[0])
		abort();
	return NULL;
}

/* Reads the events, at most FUZZ_EVENTS, and asks for all that a trace knows of each. */
static inline size_t fuzz_read(struct rt_trace *trace, struct rt_event *events)
{
	const struct rt_trace_info *info = rt_trace_info(trace);
	struct rt_variable variable;
	struct rt_error err = {0};
	size_t total = 0, got, n;
	if (rt_trace_rewind(trace, &err))
		abort();
	do {
		if (rt_trace_read(trace, events + total, FUZZ_EVENTS - total, &got, &err))
			abort();
		total += got;
	} while (got && total < FUZZ_EVENTS);
	for (size_t i = 0; i < total; i++) {
		const struct rt_event *e = &events[i];
		if (e->thread >= info->thread_count || e->op >= RT_OP_COUNT || e->addr > RT_OPERAND_MAX ||
		    e->arg > RT_OPERAND_MAX || (i && e->number <= events[i - 1].number))
			abort();
		rt_trace_frames(trace, e->pc, &n);
		rt_trace_variable(trace, e->addr, &variable);
		rt_trace_object_name(trace, e->addr);
	}
	for (uint32_t i = 0; i < info->thread_count; i++)
		if (!info->threads[i].name || info->threads[i].parent >= info->thread_count)
			abort();
	return total;
}

static inline void fuzz_jsonl(struct rt_trace *trace, const struct rt_event *events, size_t n)
{
	static struct rt_event again[FUZZ_EVENTS];
	struct rt_jsonl_writer *writer;
	struct rt_error err = {0};
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	if (rt_jsonl_create(trace, out, false, &writer, &err))
		abort();
	for (size_t i = 0; i < n; i++)
		if (rt_jsonl_event(writer, &events[i], &err))
			abort();
	rt_jsonl_free(writer);
	fclose(out);
	struct rt_trace *back = fuzz_open(text, size);
	if (!back || fuzz_read(back, again) != n || memcmp(events, again, n * sizeof *events) != 0)
		abort();
	rt_trace_free(back);
	free(text);
}

/* The output is bounded: a range that covers many cells many times is long in STD. */
static inline void fuzz_std(struct rt_trace *trace)
{
	static char buffer[FUZZ_OUTPUT];
	struct rt_std_losses losses;
	struct rt_error err = {0};
	FILE *out = fmemopen(buffer, sizeof buffer, "w");
	rt_export_std(trace, NULL, out, &losses, &err);
	fclose(out);
}

static inline void fuzz_text(const uint8_t *data, size_t size)
{
	static struct rt_event events[FUZZ_EVENTS];
	struct rt_trace *trace = fuzz_open(data, size);
	if (!trace)
		return;
	size_t n = fuzz_read(trace, events);
	fuzz_jsonl(trace, events, n);
	fuzz_std(trace);
	rt_trace_free(trace);
}

#endif
