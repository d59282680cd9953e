/* A trace in memory, for tests: a source over an array of events. */
#ifndef TESTS_UNIT_MEMORY_TRACE_H
#define TESTS_UNIT_MEMORY_TRACE_H

#include "tracefmt/source.h"

#include <string.h>

enum { MEMORY_THREADS = 128 };

struct memory_trace {
	struct rt_trace base;
	struct rt_thread threads[MEMORY_THREADS];
	const struct rt_event *events;
	size_t count, next;
	const struct rt_update *updates;
	size_t update_count;
	const struct rt_hidden_atomic *hidden;
	size_t hidden_count;
};

static inline enum rt_status memory_rewind(struct rt_trace *trace, struct rt_error *err)
{
	(void)err;
	((struct memory_trace *)trace)->next = 0;
	return RT_OK;
}

static inline enum rt_status memory_read(struct rt_trace *trace, struct rt_event *events, size_t n, size_t *got,
                                         struct rt_error *err)
{
	struct memory_trace *t = (struct memory_trace *)trace;
	(void)err;
	for (*got = 0; *got < n && t->next < t->count; t->next++)
		if (trace->mask >> t->events[t->next].op & 1)
			events[(*got)++] = t->events[t->next];
	return RT_OK;
}

static inline const struct rt_frame *memory_frames(const struct rt_trace *trace, uint64_t pc, size_t *count)
{
	(void)trace;
	(void)pc;
	*count = 0;
	return NULL;
}

static inline bool memory_variable(const struct rt_trace *trace, uint64_t addr, struct rt_variable *out)
{
	(void)trace;
	(void)addr;
	(void)out;
	return false;
}

static inline const char *memory_object_name(const struct rt_trace *trace, uint64_t addr)
{
	(void)trace;
	(void)addr;
	return NULL;
}

static inline const struct rt_update *memory_updates(const struct rt_trace *trace, size_t *count)
{
	*count = ((const struct memory_trace *)trace)->update_count;
	return ((const struct memory_trace *)trace)->updates;
}

static inline const struct rt_hidden_atomic *memory_hidden(const struct rt_trace *trace, size_t *count)
{
	*count = ((const struct memory_trace *)trace)->hidden_count;
	return ((const struct memory_trace *)trace)->hidden;
}

/* Makes *t a trace of these events, of `threads` threads; number them from 1 beforehand. Nothing to free. */
static inline struct rt_trace *memory_trace(struct memory_trace *t, const struct rt_event *events, size_t count,
                                            uint32_t threads)
{
	static const struct rt_source source = {.name = "memory",
	                                        .rewind = memory_rewind,
	                                        .read = memory_read,
	                                        .frames = memory_frames,
	                                        .variable = memory_variable,
	                                        .object_name = memory_object_name,
	                                        .updates = memory_updates,
	                                        .hidden_atomics = memory_hidden};
	memset(t, 0, sizeof *t);
	for (uint32_t i = 0; i < threads && i < MEMORY_THREADS; i++)
		t->threads[i] = (struct rt_thread){.name = "thread", .parent = i};
	t->base.source = &source;
	t->base.mask = RT_SELECT_ALL;
	t->base.info = (struct rt_trace_info){.path = "memory",
	                                      .format = "memory",
	                                      .events = count,
	                                      .thread_count = threads,
	                                      .threads = t->threads,
	                                      .exact = true,
	                                      .model = RT_MODEL_SC,
	                                      .complete = true};
	t->events = events;
	t->count = count;
	return &t->base;
}

#endif
