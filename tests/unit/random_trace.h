/* The oracle's random traces as traces to analyze, for tests. */
#ifndef TESTS_UNIT_RANDOM_TRACE_H
#define TESTS_UNIT_RANDOM_TRACE_H

#include "tests/oracle/oracle.h"
#include "tests/unit/memory_trace.h"

#include <check.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Makes *memory the trace of t's events. Nothing to free. */
static inline struct rt_trace *random_trace(struct memory_trace *memory, const struct oracle_trace *t)
{
	struct rt_trace *trace = memory_trace(memory, t->events, (size_t)t->count, (uint32_t)t->threads);
	trace->info.zeroed = t->zeroed;
	trace->info.model = t->program ? RT_MODEL_C11 : RT_MODEL_SC;
	return trace;
}

/* The number of random traces to test with: RT_RANDOM_TRACES; "all" of them; without it so small a part that the unit
 * tests take less than a minute. */
static inline uint64_t random_wanted(uint64_t traces)
{
	enum { PART = 10 };
	const char *wanted = getenv("RT_RANDOM_TRACES");
	if (!wanted)
		return traces / PART;
	return strcmp(wanted, "all") ? strtoull(wanted, NULL, 10) : traces;
}

/* The number of seeds for each of the mixes of features. */
static inline uint64_t random_seeds(uint64_t traces, uint64_t mixes)
{
	return random_wanted(traces) / mixes + 1;
}

/* Fails unless count is at least `least`, which is for all the traces. Of fewer traces half their share
 * is enough, rounded down, since counts of few traces vary. */
static inline void random_enough(intmax_t count, uint64_t least, uint64_t traces, const char *what)
{
	uint64_t wanted = random_wanted(traces), share = wanted < traces ? least * wanted / traces / 2 : least;
	ck_assert_msg(count >= (intmax_t)share, "%s: %jd, not the %ju to expect of %ju traces", what, count,
	              (uintmax_t)share, (uintmax_t)wanted);
}
#define assert_enough(count, least, traces) random_enough((intmax_t)(count), least, traces, #count)

/* The trace, an event a line, for messages; the caller's to free. */
static inline char *random_text(const struct oracle_trace *t)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	if (!out)
		abort();
	fprintf(out, "memory is %sknown to begin as 0%s\n", t->zeroed ? "" : "not ",
	        t->program ? ", of a program" : "");
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
