/* The golden traces of tests/golden (README.md there), one after the other, with what is expected of each. */
#ifndef TESTS_UNIT_GOLDEN_H
#define TESTS_UNIT_GOLDEN_H

#include "lib/trace/model.h"
#include "tracefmt/trace.h"

#include <check.h>
#include <jansson.h>
#include <stdio.h>

static inline struct rt_trace *golden_open(const char *path)
{
	struct rt_trace *trace;
	struct rt_error err = {0};
	ck_assert_msg(rt_trace_open(path, &trace, &err) == RT_OK, "%s", err.message);
	return trace;
}

/* Hands each trace of a folder to f, with its line of expected.jsonl. Returns how many there were. */
static inline int golden_each(const char *folder,
                              void (*f)(struct rt_trace *trace, const json_t *golden, const char *path, void *data),
                              void *data)
{
	char path[512], line[1 << 17];
	int traces = 0;
	snprintf(path, sizeof path, "tests/golden/%s/expected.jsonl", folder);
	FILE *in = fopen(path, "r");
	ck_assert_msg(in != NULL, "cannot open %s: the tests run from the repository's top", path);
	for (; fgets(line, sizeof line, in); traces++) {
		json_t *golden = json_loads(line, 0, NULL);
		ck_assert_ptr_nonnull(golden);
		snprintf(path, sizeof path, "tests/golden/%s/%s", folder,
		         json_string_value(json_object_get(golden, "trace")));
		struct rt_trace *trace = golden_open(path);
		f(trace, golden, path, data);
		rt_trace_free(trace);
		json_decref(golden);
	}
	fclose(in);
	return traces;
}

/* Hands each trace with an injected race to f, with the numbers of its events, the earlier one first; there are 75. */
static inline void
golden_injected(void (*f)(struct rt_trace *trace, const uint32_t numbers[2], const char *path, void *data), void *data)
{
	FILE *in = fopen("tests/golden/raceinjector/expected.tsv", "r");
	char name[128], path[256];
	unsigned n1, n2;
	int traces = 0;
	ck_assert_ptr_nonnull(in);
	ck_assert_int_eq(fscanf(in, "%*[^\n]"), 0);
	for (; fscanf(in, "%127s %u,%u", name, &n1, &n2) == 3; traces++) {
		snprintf(path, sizeof path, "tests/golden/raceinjector/%s", name);
		struct rt_trace *trace = golden_open(path);
		f(trace, (uint32_t[]){n1 < n2 ? n1 : n2, n1 < n2 ? n2 : n1}, path, data);
		rt_trace_free(trace);
	}
	ck_assert_int_eq(traces, 75);
	fclose(in);
}

/* Is the tuple of these events on the list? */
static inline bool golden_has(const json_t *list, const struct model *m, const uint32_t *events, uint32_t count)
{
	size_t i;
	json_t *tuple;
	json_array_foreach(list, i, tuple)
	{
		bool same = json_array_size(tuple) == count;
		for (uint32_t k = 0; same && k < count; k++)
			same = json_integer_value(json_array_get(tuple, k)) == m->events[events[k]].number;
		if (same)
			return true;
	}
	return false;
}

#endif
