#include "tests/unit/suite.h"
#include "tracefmt/event.h"

#include <check.h>
#include <string.h>

START_TEST(every_operation_has_a_name_that_parses_back)
{
	for (unsigned op = RT_OP_READ; op < RT_OP_COUNT; op++)
		ck_assert_uint_eq(rt_op_parse(rt_op_name(op)), op);
	ck_assert_str_eq(rt_op_name(RT_OP_COUNT), "unknown");
	ck_assert_uint_eq(rt_op_parse("no such"), RT_OP_NONE);
}
END_TEST

START_TEST(a_failed_compare_exchange_only_reads)
{
	ck_assert(rt_op_reads(RT_OP_ATOMIC_CAS_FAIL));
	ck_assert(!rt_op_writes(RT_OP_ATOMIC_CAS_FAIL));
	ck_assert(rt_op_is_access(RT_OP_ATOMIC_CAS_FAIL));
	ck_assert(!rt_op_is_access(RT_OP_FENCE));
}
END_TEST

SUITE(event)
{
	Suite *s = suite_create("event");
	TCase *c = tcase_create("vocabulary");
	tcase_add_test(c, every_operation_has_a_name_that_parses_back);
	tcase_add_test(c, a_failed_compare_exchange_only_reads);
	suite_add_tcase(s, c);
	return s;
}
