/* The oracle's random traces as traces to analyze, for tests. */
#ifndef TESTS_UNIT_RANDOM_TRACE_H
#define TESTS_UNIT_RANDOM_TRACE_H

#include "tests/oracle/oracle.h"
#include "tests/unit/memory_trace.h"

#include <stdio.h>
#include <stdlib.h>

/* Makes *memory the trace of t's events. Nothing to free. */
static inline struct rt_trace *random_trace(struct memory_trace *memory, const struct oracle_trace *t)
{
	struct rt_trace *trace = memory_trace(memory, t->events, (size_t)t->count, (uint32_t)t->threads);
	trace->info.zeroed = t->zeroed;
	return trace;
}

/* How many seeds to try for each of so many mixes of features, of so many traces in all; RT_RANDOM_TRACES says
 * otherwise. */
static inline uint64_t random_seeds(uint64_t traces, uint64_t mixes)
{
	const char *wanted = getenv("RT_RANDOM_TRACES");
	return (wanted ? strtoull(wanted, NULL, 10) : traces) / mixes + 1;
}

/* The trace, an event a line, for messages; the caller's to free. */
static inline char *random_text(const struct oracle_trace *t)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	if (!out)
		abort();
	fprintf(out, "memory is %sknown to begin as 0\n", t->zeroed ? "" : "not ");
	for (int i = 0; i < t->count; i++) {
		const struct rt_event *e = &t->events[i];
		fprintf(out, "%d: T%u %s %llx %llu order %u flags %u value %llx\n", i + 1, e->thread, rt_op_name(e->op),
		        (unsigned long long)e->addr, (unsigned long long)e->arg, e->order, e->flags,
		        (unsigned long long)e->value);
	}
	fclose(out);
	return text;
}

#endif
