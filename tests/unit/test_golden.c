/*
 * Golden traces: on each, the sets of pairs that hybrid, hb, shb, cp, wcp and syncp leave unordered equal the expected
 * ones, pair by pair; see tests/golden/README.md.
 */
#include "lib/analysis/analysis.h"
#include "tests/unit/golden.h"
#include "tests/unit/suite.h"

static struct analysis *analyze(struct rt_trace *trace)
{
	struct rt_error err = {0};
	struct analysis *a = NULL;
	struct analysis_options options = {.every = true, .unproved = true};
	ck_assert_msg(analysis_run(trace, &options, &a, &err) == RT_OK, "%s", err.message);
	return a;
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
		ck_assert_msg(golden_has(pairs, a->model, r->events, 2), "%s: %s has (%u, %u)", path, name,
		              a->model->events[r->events[0]].number, a->model->events[r->events[1]].number);
		found++;
	}
	ck_assert_msg(found == json_array_size(pairs), "%s: %s has %zu of %zu pairs", path, name, found,
	              json_array_size(pairs));
}

static void check_trace(struct rt_trace *trace, const json_t *golden, const char *path, void *data)
{
	static const char *const names[] = {"hybrid", "hb", "shb", "cp", "wcp", "syncp"};
	struct analysis *a = analyze(trace);
	(void)data;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		check_order(a, names[i], json_object_get(golden, names[i]), path);
	analysis_free(a);
}

START_TEST(orders_leave_unordered_what_is_expected_on_the_traces_made_by_hand)
{
	ck_assert_int_ge(golden_each("hand", check_trace, NULL), 54);
}
END_TEST

START_TEST(orders_leave_unordered_what_is_expected_on_the_random_traces)
{
	ck_assert_int_ge(golden_each("random", check_trace, NULL), 200);
}
END_TEST

static void check_injected(struct rt_trace *trace, const uint32_t numbers[2], const char *path, void *data)
{
	struct analysis *a = analyze(trace);
	bool found = false;
	(void)data;
	for (size_t i = 0; i < a->anomalies.count && !found; i++) {
		const struct anomaly *r = &a->anomalies.items[i];
		found = a->model->events[r->events[0]].number == numbers[0] &&
		        a->model->events[r->events[1]].number == numbers[1];
	}
	ck_assert_msg(found, "%s: (%u, %u) is not found", path, numbers[0], numbers[1]);
	analysis_free(a);
}

START_TEST(hybrid_finds_every_injected_race)
{
	golden_injected(check_injected, NULL);
}
END_TEST

SUITE(golden)
{
	Suite *s = suite_create("golden");
	TCase *c = tcase_create("orders");
	tcase_add_test(c, orders_leave_unordered_what_is_expected_on_the_traces_made_by_hand);
	tcase_add_test(c, orders_leave_unordered_what_is_expected_on_the_random_traces);
	tcase_add_test(c, hybrid_finds_every_injected_race);
	suite_add_tcase(s, c);
	return s;
}
