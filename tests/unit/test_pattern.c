/* Searches for patterns against the golden traces: what can happen is proved or observed, and nothing else is. */
#include "lib/search/analysis.h"

#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tally {
	uint64_t found, expected, candidates;
};

static bool same(const struct analysis *a, const struct anomaly *x, const json_t *tuple)
{
	bool equal = json_array_size(tuple) == x->event_count;
	for (uint32_t i = 0; equal && i < x->event_count; i++)
		equal = json_integer_value(json_array_get(tuple, i)) == a->model->events[x->events[i]].number;
	return equal;
}

/* Every tuple of the list is found once, as real; every real one that is found is on the list. */
static void compare(const struct analysis *a, enum anomaly_kind kind, const json_t *list, const char *name,
                    struct tally *tally)
{
	uint64_t real = 0;
	for (size_t i = 0; i < a->anomalies.count; i++) {
		const struct anomaly *x = &a->anomalies.items[i];
		if (x->kind != kind)
			continue;
		tally->candidates++;
		size_t k, matches = 0;
		json_t *tuple;
		json_array_foreach(list, k, tuple)
		{
			matches += same(a, x, tuple);
		}
		ck_assert_msg(matches == (x->verdict >= VERDICT_PROVED), "%s: %s of %u %u %u is %s", name, x->pattern,
		              a->model->events[x->events[0]].number, a->model->events[x->events[1]].number,
		              a->model->events[x->events[2]].number, verdict_name(x->verdict));
		real += matches;
	}
	ck_assert_msg(real == json_array_size(list), "%s: %lu of %zu", name, (unsigned long)real,
	              json_array_size(list));
	tally->found += real;
	tally->expected += json_array_size(list);
}

static struct analysis *analyze(const char *path, const struct analysis_options *options, struct rt_trace **trace)
{
	struct rt_error err = {0};
	struct analysis *a = NULL;
	ck_assert_msg(rt_trace_open(path, trace, &err) == RT_OK, "%s", err.message);
	ck_assert_msg(analysis_run(*trace, options, &a, &err) == RT_OK, "%s: %s", path, err.message);
	return a;
}

static struct tally each_trace(const char *folder, enum anomaly_kind kind)
{
	struct tally tally = {0, 0, 0};
	const struct analysis_options options = {.kinds = 1u << kind, .every = true, .all = true};
	char path[512], line[1 << 17];
	snprintf(path, sizeof path, "tests/golden/%s/expected.jsonl", folder);
	FILE *in = fopen(path, "r");
	ck_assert_msg(in != NULL, "%s", path);
	while (fgets(line, sizeof line, in)) {
		json_t *golden = json_loads(line, 0, NULL);
		ck_assert_ptr_nonnull(golden);
		snprintf(path, sizeof path, "tests/golden/%s/%s", folder,
		         json_string_value(json_object_get(golden, "trace")));
		struct rt_trace *trace;
		struct analysis *a = analyze(path, &options, &trace);
		compare(a, kind, json_object_get(golden, anomaly_kind_name(kind)), path, &tally);
		analysis_free(a);
		rt_trace_free(trace);
		json_decref(golden);
	}
	fclose(in);
	return tally;
}

static const enum anomaly_kind kinds[] = {ANOMALY_ATOMICITY, ANOMALY_ASV};

START_TEST(what_can_happen_is_found_and_real_and_nothing_else)
{
	struct tally hand = each_trace("hand", kinds[_i]), random = each_trace("random", kinds[_i]);
	ck_assert_uint_gt(hand.expected + random.expected, 0);
	ck_assert_uint_gt(hand.candidates + random.candidates, hand.found + random.found);
}
END_TEST

Suite *pattern_suite(void)
{
	Suite *s = suite_create("pattern");
	TCase *c = tcase_create("golden");
	tcase_set_timeout(c, 300);
	tcase_add_loop_test(c, what_can_happen_is_found_and_real_and_nothing_else, 0, 2);
	suite_add_tcase(s, c);
	return s;
}
