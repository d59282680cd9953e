/*
 * Golden traces: on each, the sets of pairs that hybrid, hb, shb, cp, wcp and syncp leave unordered equal the expected
 * ones, pair by pair; see tests/golden/README.md.
 */
#include "lib/search/analysis.h"

#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct analysis *analyze(const char *path, struct rt_trace **trace)
{
	struct rt_error err = {0};
	struct analysis *a = NULL;
	struct analysis_options options = {.every = true, .unproved = true};
	if (rt_trace_open(path, trace, &err) || analysis_run(*trace, &options, &a, &err))
		ck_abort_msg("%s", err.message);
	return a;
}

static bool expected_has(const json_t *pairs, uint32_t n1, uint32_t n2)
{
	size_t i;
	json_t *pair;
	json_array_foreach(pairs, i, pair) if (json_integer_value(json_array_get(pair, 0)) == n1 &&
	                                       json_integer_value(json_array_get(pair, 1)) == n2) return true;
	return false;
}

static void check_order(const struct analysis *a, const char *name, const json_t *pairs, const char *path)
{
	int order = order_find(name);
	size_t found = 0;
	ck_assert_msg(json_is_array(pairs), "%s: nothing expected of %s", path, name);
	for (size_t i = 0; i < a->anomalies.count; i++) {
		const struct anomaly *r = &a->anomalies.items[i];
		if (r->kind != ANOMALY_RACE || !(r->orders_unordered >> order & 1))
			continue;
		uint32_t n1 = a->model->events[r->events[0]].number, n2 = a->model->events[r->events[1]].number;
		ck_assert_msg(expected_has(pairs, n1, n2), "%s: %s has (%u, %u)", path, name, n1, n2);
		found++;
	}
	ck_assert_msg(found == json_array_size(pairs), "%s: %s has %zu of %zu pairs", path, name, found,
	              json_array_size(pairs));
}

static void check_folder(const char *folder, int least)
{
	static const char *const names[] = {"hybrid", "hb", "shb", "cp", "wcp", "syncp"};
	char path[256], line[1 << 16];
	snprintf(path, sizeof path, "tests/golden/%s/expected.jsonl", folder);
	FILE *f = fopen(path, "r");
	ck_assert_msg(f != NULL, "cannot open %s: the tests run from the repository's top", path);
	int traces = 0;
	while (fgets(line, sizeof line, f)) {
		json_t *expected = json_loads(line, 0, NULL);
		ck_assert_ptr_nonnull(expected);
		snprintf(path, sizeof path, "tests/golden/%s/%s", folder,
		         json_string_value(json_object_get(expected, "trace")));
		struct rt_trace *trace = NULL;
		struct analysis *a = analyze(path, &trace);
		for (size_t i = 0; i < sizeof names / sizeof *names; i++)
			check_order(a, names[i], json_object_get(expected, names[i]), path);
		analysis_free(a);
		rt_trace_free(trace);
		json_decref(expected);
		traces++;
	}
	fclose(f);
	ck_assert_int_ge(traces, least);
}

START_TEST(orders_leave_unordered_what_is_expected_on_the_traces_made_by_hand)
{
	check_folder("hand", 54);
}
END_TEST

START_TEST(orders_leave_unordered_what_is_expected_on_the_random_traces)
{
	check_folder("random", 200);
}
END_TEST

START_TEST(hybrid_finds_every_injected_race)
{
	FILE *f = fopen("tests/golden/raceinjector/expected.tsv", "r");
	char name[128], path[256];
	unsigned n1, n2;
	int traces = 0;
	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(fscanf(f, "%*[^\n]"), 0);
	for (; fscanf(f, "%127s %u,%u", name, &n1, &n2) == 3; traces++) {
		snprintf(path, sizeof path, "tests/golden/raceinjector/%s", name);
		struct rt_trace *trace = NULL;
		struct analysis *a = analyze(path, &trace);
		bool found = false;
		for (size_t i = 0; i < a->anomalies.count && !found; i++) {
			const struct anomaly *r = &a->anomalies.items[i];
			found = a->model->events[r->events[0]].number == (n1 < n2 ? n1 : n2) &&
			        a->model->events[r->events[1]].number == (n1 < n2 ? n2 : n1);
		}
		ck_assert_msg(found, "%s: (%u, %u) is not found", path, n1, n2);
		analysis_free(a);
		rt_trace_free(trace);
	}
	ck_assert_int_eq(traces, 75);
	fclose(f);
}
END_TEST

Suite *golden_suite(void)
{
	Suite *s = suite_create("golden");
	TCase *c = tcase_create("orders");
	tcase_set_timeout(c, 60);
	tcase_add_test(c, orders_leave_unordered_what_is_expected_on_the_traces_made_by_hand);
	tcase_add_test(c, orders_leave_unordered_what_is_expected_on_the_random_traces);
	tcase_add_test(c, hybrid_finds_every_injected_race);
	suite_add_tcase(s, c);
	return s;
}
