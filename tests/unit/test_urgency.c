/* The order in which anomalies are decided. */
#include "lib/prove/urgency.h"
#include "tests/unit/suite.h"

#include <check.h>
#include <stdlib.h>

enum { ANOMALIES = 6 };

START_TEST(races_come_first_and_each_finding_once_before_any_comes_again)
{
	/* Six source positions; an event at each. */
	struct model_site sites[6] = {{.pc = 1}, {.pc = 2}, {.pc = 3}, {.pc = 4}, {.pc = 5}, {.pc = 6}};
	struct model_event events[6];
	for (uint32_t i = 0; i < 6; i++)
		events[i] = (struct model_event){.site = i};
	struct model m = {.sites = sites, .events = events, .event_count = 6, .site_count = 6};
	struct anomaly items[ANOMALIES] = {
	    {.kind = ANOMALY_ASV, .event_count = 4, .events = {0, 1, 2, 3}},
	    {.kind = ANOMALY_ASV, .event_count = 4, .events = {3, 2, 1, 0}}, /* the same positions */
	    {.kind = ANOMALY_ASV, .event_count = 4, .events = {0, 1, 2, 4}},
	    {.kind = ANOMALY_ATOMICITY, .event_count = 3, .events = {0, 1, 2}},
	    {.kind = ANOMALY_DEADLOCK, .event_count = 2, .events = {4, 5}},
	    {.kind = ANOMALY_RACE, .event_count = 2, .events = {0, 1}},
	};
	static const uint32_t expected[ANOMALIES] = {5, 4, 3, 0, 2, 1};
	struct anomaly_list list = {items, ANOMALIES, ANOMALIES};
	uint32_t *order = urgency_order(&m, &list);
	ck_assert_ptr_nonnull(order);
	for (uint32_t i = 0; i < ANOMALIES; i++)
		ck_assert_uint_eq(order[i], expected[i]);
	ck_assert_uint_eq(items[1].turn, 1);
	ck_assert_uint_eq(items[2].turn, 0);
	free(order);
}
END_TEST

SUITE(urgency)
{
	Suite *s = suite_create("urgency");
	TCase *c = tcase_create("order");
	tcase_add_test(c, races_come_first_and_each_finding_once_before_any_comes_again);
	suite_add_tcase(s, c);
	return s;
}
