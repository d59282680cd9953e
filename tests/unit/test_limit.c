/* The table of limits. */
#include "lib/anomaly/limit.h"
#include "tests/unit/suite.h"

#include <string.h>

START_TEST(each_limit_has_all_that_is_said_of_it)
{
	for (enum limit i = 0; i < LIMITS; i++) {
		const struct limit_info *l = &limit_infos[i];
		ck_assert(l->name && l->value && l->unit && l->what && l->hit);
		for (enum limit k = 0; k < i; k++)
			ck_assert_str_ne(l->name, limit_infos[k].name);
		ck_assert_int_eq(limit_find(l->name, strlen(l->name)), l->option ? i : LIMITS);
	}
}
END_TEST

START_TEST(what_is_not_asked_for_has_its_default)
{
	struct limits l = limits_complete(&(struct limits){.of = {[LIMIT_FOLLOWS] = 3}});
	for (enum limit i = 0; i < LIMITS; i++)
		ck_assert_uint_eq(l.of[i], i == LIMIT_FOLLOWS ? 3 : limit_infos[i].value);
}
END_TEST

START_TEST(some_defaults_scale_with_the_total)
{
	struct limits l = limits_complete(&(struct limits){.of = {[LIMIT_SEARCH_EVENTS_TOTAL] = 160}});
	ck_assert_uint_eq(l.of[LIMIT_SEARCH_EVENTS], 160);
	ck_assert_uint_eq(l.of[LIMIT_BUILT_EVENTS_TOTAL], 320);
	ck_assert_uint_eq(l.of[LIMIT_FREE_EVENTS_TOTAL], 10);
	ck_assert_uint_eq(l.of[LIMIT_FOLLOWS], limit_infos[LIMIT_FOLLOWS].value);
	l = limits_complete(&(struct limits){.of = {[LIMIT_SEARCH_EVENTS_TOTAL] = UINT64_MAX}});
	ck_assert_uint_eq(l.of[LIMIT_BUILT_EVENTS_TOTAL], UINT64_MAX);
	l = limits_complete(&(struct limits){
	    .of = {
	        [LIMIT_SEARCH_EVENTS_TOTAL] = 160, [LIMIT_FREE_EVENTS_TOTAL] = 7, [LIMIT_SEARCH_STATES] = UINT64_MAX}});
	ck_assert_uint_eq(l.of[LIMIT_FREE_EVENTS_TOTAL], 7);
	ck_assert_uint_eq(l.of[LIMIT_SEARCH_STATES], LIMIT_SEARCH_STATES_MAX);
}
END_TEST

SUITE(limit)
{
	Suite *s = suite_create("limit");
	TCase *t = tcase_create("table");
	tcase_add_test(t, each_limit_has_all_that_is_said_of_it);
	tcase_add_test(t, what_is_not_asked_for_has_its_default);
	tcase_add_test(t, some_defaults_scale_with_the_total);
	suite_add_tcase(s, t);
	return s;
}
